"""Addresses of the WebSockets."""

from channels.security.websocket import WebsocketDenier
from django.urls import path, re_path

from judge.consumers.html import OverviewPageConsumer, SessionPageConsumer
from judge.consumers.json import JudgeConsumer

websocket_urlpatterns = [
    path("ws/judge/", JudgeConsumer.as_asgi()),
    path("ws/judge/html/session/<int:pk>/", SessionPageConsumer.as_asgi()),
    path("ws/judge/html/overview/", OverviewPageConsumer.as_asgi()),
    # Anything else is refused, without an error in the log that anybody could cause.
    re_path(r"", WebsocketDenier.as_asgi()),
]
