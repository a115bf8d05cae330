"""The last test of a provider."""

from judge.models import ProviderCheck


def latest_check(provider_id: int, model_name: str | None = None) -> ProviderCheck | None:
    """The newest test of a provider, or of one of its models; None if there was none (one query)."""
    checks = ProviderCheck.objects.filter(provider_id=provider_id).select_related("model")
    if model_name is not None:
        checks = checks.filter(model_name=model_name)
    return checks.first()
