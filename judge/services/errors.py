"""What a service may refuse."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

Text = str | Promise


class ServiceError(Exception):
    """Base of all refusals. ``code`` is stable and can be looked up; ``message`` is for people, in their language."""

    def __init__(self, code: str, message: Text) -> None:
        super().__init__(code)
        self.code = code
        self.message = message


class ActionRefused(ServiceError):
    """An action does not fit the state the session is in."""


class ConfigRefused(ServiceError):
    """A configuration that cannot be planned. ``errors``: field name -> messages."""

    def __init__(self, errors: dict[str, list[Text]]) -> None:
        super().__init__("config_refused", _("The configuration is not usable."))
        self.errors = errors
