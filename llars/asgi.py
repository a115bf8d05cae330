"""The web server's entry: pages over HTTP, live events over WebSockets."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "llars.settings")
django_application = get_asgi_application()

from channels.auth import AuthMiddlewareStack  # noqa: E402  Django must be set up first
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.security.websocket import OriginValidator  # noqa: E402
from django.conf import settings  # noqa: E402

from judge.routing import websocket_urlpatterns  # noqa: E402

trusted_origins = [*settings.ALLOWED_HOSTS, *settings.CSRF_TRUSTED_ORIGINS]
application = ProtocolTypeRouter(
    {
        "http": django_application,
        "websocket": OriginValidator(AuthMiddlewareStack(URLRouter(websocket_urlpatterns)), trusted_origins),
    }
)
