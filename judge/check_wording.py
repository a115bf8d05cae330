"""The findings of a provider's test, put into words for the person who set the provider up."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from judge.domain.errors import ErrorCode
from judge.domain.findings import ADDRESS_ALLOWED, OUR_FIELDS, ProviderFindings
from judge.wording import ERROR_WORDS, Text

Level = Literal["good", "note", "problem"]

_E = ErrorCode


@dataclass(frozen=True)
class Finding:
    """One sentence. `code` names it for programs; `level` says whether something is to be done."""

    code: str
    level: Level
    text: Text


_REASONS: Final[Mapping[str, Text]] = {
    "not_sent": _("The test could not be started: Redis cannot be reached. Please try again in a moment."),
    "no_worker": _("The test has not begun: no worker answered within 20 seconds. Is a worker running?"),
    "interrupted": _("The test was interrupted because its worker was stopped. Please start it again."),
    "key_unreadable": _("The stored key cannot be decrypted. Please type it again, or ask the operator."),
    "internal_error": _("The test ended with an error within LLARS Judge."),
}

_CONNECTIONS: Final[Mapping[str, Text]] = {
    "refused": _("Nobody answers at this address. Is the server running, and are host and port right?"),
    "unknown_name": _("The name in the address is not known. Please check its spelling."),
    "tls_certificate": _(
        "The server's certificate is not trusted. With a certificate authority of your own, the operator sets "
        "SSL_CERT_FILE."
    ),
    "tls_failed": _("No encrypted connection came about. Perhaps the server speaks http:// only."),
    "timeout": _("The server did not answer in time."),
}

_PROBLEMS: Final[Mapping[str, Text]] = {
    **ERROR_WORDS,
    _E.MODEL_NOT_FOUND: _(
        "The server does not know this model. If the name is right, please check whether the address must end in /v1."
    ),
    _E.RATE_LIMITED: _("The provider asked to slow down. Please repeat the test in a few minutes."),
}

_MODES: Final[Mapping[str, Text]] = {
    "json_schema": _("The server binds the model to a JSON schema. That is the safest way to valid verdicts."),
    "json_object": _(
        "The server guarantees JSON but no schema. The schema is put into the prompt, and some verdicts will have to "
        "be asked for again."
    ),
    "text": _(
        "The server guarantees no form of the answer. The schema is put into the prompt, and more verdicts will have "
        "to be asked for again."
    ),
}


def failed_sentence(reason: str) -> Text:
    """Why a test brought no findings, by the row's reason."""
    return _REASONS.get(reason, _REASONS["internal_error"])


def sentences(findings: ProviderFindings) -> list[Finding]:
    """All that is to be said about a test, in the order in which a person would ask."""
    if findings.address != ADDRESS_ALLOWED:
        return [Finding("address", "problem", ERROR_WORDS[_E.ADDRESS_REFUSED])]
    if findings.connection in _CONNECTIONS:
        return [Finding("connection", "problem", _CONNECTIONS[findings.connection])]
    return [
        Finding("connection", "good", _("The server can be reached.")),
        *_about_key(findings),
        *_about_models(findings),
        *_about_problem(findings),
        *(_about_answers(findings) if findings.has_answered else ()),
    ]


def _about_key(findings: ProviderFindings) -> Iterator[Finding]:
    match findings.key:
        case "accepted":
            yield Finding("key", "good", _("The key was accepted."))
        case "refused":
            yield Finding("key", "problem", ERROR_WORDS[_E.UNAUTHORIZED])
        case "no_quota":
            yield Finding("key", "problem", ERROR_WORDS[_E.INSUFFICIENT_QUOTA])
        case "not_set":
            yield Finding("key", "good", _("The server answers without a key."))


def _about_models(findings: ProviderFindings) -> Iterator[Finding]:
    if findings.models_listed:
        number = findings.models_total
        text = ngettext("The server offers one model.", "The server offers %(number)d models.", number)
        yield Finding("models", "good", text % {"number": number})
    elif findings.key not in ("refused", "no_quota"):
        yield Finding("models", "note", _("The server has no list of its models."))
    if findings.model_found == "not_listed":
        text = gettext("The model %(name)s is not in the server's list.") % {"name": findings.model_name}
        yield Finding("model", "note" if findings.has_answered else "problem", text)
    if not findings.model_name and not findings.problem:
        yield Finding("model", "note", _("No model was asked. Please name one and test again."))


def _about_problem(findings: ProviderFindings) -> Iterator[Finding]:
    if findings.problem and findings.key not in ("refused", "no_quota"):
        yield Finding("problem", "problem", _PROBLEMS.get(findings.problem, findings.problem))
    for name in findings.refused_parameters:
        if name in OUR_FIELDS:
            text = gettext("The server does not accept %(name)s. LLARS Judge takes account of it.")
            yield Finding("refused_parameter", "note", text % {"name": name})
        else:
            text = gettext("The server does not accept the parameter %(name)s. Please remove it from the model.")
            yield Finding("refused_parameter", "problem", text % {"name": name})


def _about_answers(findings: ProviderFindings) -> Iterator[Finding]:
    if findings.output_mode:
        yield Finding("output_mode", "note" if findings.output_mode == "text" else "good", _MODES[findings.output_mode])
    else:
        text = _("The model gave no answer in the form that was asked for. It is hardly suited as a judge.")
        yield Finding("output_mode", "problem", text)
    if findings.streaming == "streams":
        yield Finding("streaming", "good", _("Answers arrive piece by piece and can be watched."))
    else:
        yield Finding("streaming", "note", _("Answers arrive in one piece, so there is nothing to watch meanwhile."))
    yield from _about_details(findings)


def _about_details(findings: ProviderFindings) -> Iterator[Finding]:
    if findings.reasoning == "separate":
        yield Finding("reasoning", "note", _("The model reasons before it answers; the server sends that apart."))
    elif findings.reasoning == "block":
        text = _("The model reasons before it answers, in the same text. Only what follows is read.")
        yield Finding("reasoning", "note", text)
    if findings.usage == "missing":
        yield Finding("usage", "note", _("The server does not count tokens, so costs stay unknown."))
    if findings.suggests_may_omit_finish_reason:
        text = _(
            "The server does not say why an answer ended. Please mark the provider as “may omit the finish reason”; "
            "otherwise its answers count as broken off."
        )
        yield Finding("finish_reason", "problem", text)
    if findings.median_latency_ms is not None:
        seconds = number_format(findings.median_latency_ms / 1000, 1)
        yield Finding("latency", "good", gettext("A short answer takes %(seconds)s seconds.") % {"seconds": seconds})
