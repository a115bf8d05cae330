from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class PillarsConfig(AppConfig):
    name = "pillars"
    verbose_name = _("Pillars and threads")
