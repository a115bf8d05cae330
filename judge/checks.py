"""Start-up checks: what would silently go wrong later is said at once."""

from django.conf import settings
from django.core.checks import CheckMessage, Error, register


@register()
def lease_outlives_heartbeat(app_configs: object, **kwargs: object) -> list[CheckMessage]:
    """A lease must survive at least two missed heartbeats, else healthy lanes lose their work."""
    if settings.JUDGE_LEASE_SECONDS >= 2 * settings.JUDGE_HEARTBEAT_SECONDS:
        return []
    return [
        Error(
            "LLARS_LEASE_SECONDS must be at least twice LLARS_HEARTBEAT_SECONDS.",
            id="judge.E001",
        )
    ]
