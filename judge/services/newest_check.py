"""The newest test of a provider as it stands now."""

from judge.models import ProviderCheck
from judge.selectors.provider_checks import latest_check
from judge.services.provider_check import poll_check


def newest_check(provider_id: int, model_name: str | None = None) -> ProviderCheck | None:
    """The newest test of a provider, or of one of its models; None if there was none.

    One that says it runs, but that no worker took or whose worker was lost, is failed from here on.
    """
    check = latest_check(provider_id, model_name)
    return poll_check(check.pk) if check and check.state == ProviderCheck.RUNNING else check
