from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class JudgeConfig(AppConfig):
    name = "judge"
    verbose_name = _("Judge")

    def ready(self) -> None:
        from judge import checks  # noqa: F401  registers the start-up checks
