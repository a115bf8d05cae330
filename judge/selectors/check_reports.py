"""A provider's test as people and programs read it: its state, its findings, and the sentences they make."""

from dataclasses import dataclass

from django.utils import timezone

from judge.check_wording import Finding, failed_sentence, sentences
from judge.domain.findings import ProviderFindings
from judge.models import ProviderCheck
from judge.wording import Text

NEVER = "never"


@dataclass(frozen=True)
class CheckReport:
    """``state``: never, running, done or failed. ``findings`` and ``sentences`` belong to a test that is done,
    ``failure`` to one that failed, ``seconds`` (since it was asked for) to one that runs."""

    state: str
    check: ProviderCheck | None = None
    findings: ProviderFindings | None = None
    sentences: tuple[Finding, ...] = ()
    failure: Text = ""
    seconds: int = 0

    @property
    def model_name(self) -> str:
        """The model that was asked, or is being asked; "" if none could be or that is not known yet."""
        asked = self.findings.model_name if self.findings else ""
        return asked or (self.check.model_name if self.check else "")

    @property
    def problems(self) -> int:
        """How many of the sentences ask for something to be done."""
        return sum(sentence.level == "problem" for sentence in self.sentences)


def check_report(check: ProviderCheck | None) -> CheckReport:
    """What is to be said of a test; None stands for a provider that was never tested. Sentences are in the language
    that is active."""
    if check is None:
        return CheckReport(NEVER)
    if check.state == ProviderCheck.FAILED:
        return CheckReport(check.state, check, failure=failed_sentence(check.reason))
    if check.state == ProviderCheck.DONE:
        findings = ProviderFindings.from_json(check.findings)
        # Its advice was followed since.
        is_marked = check.provider.may_omit_finish_reason
        said = (one for one in sentences(findings) if one.code != "finish_reason" or not is_marked)
        return CheckReport(check.state, check, findings, tuple(said))
    # Shown to a person who waits; nothing is decided by it, so this process's clock will do.
    waited = (timezone.now() - check.requested_at).total_seconds()
    return CheckReport(check.state, check, seconds=max(0, int(waited)))
