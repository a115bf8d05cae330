"""Addresses of the project."""

from django.contrib import admin
from django.contrib.auth import views as auth
from django.urls import include, path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularAPIView

handler404 = "llars.errors.not_found"

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="judge:overview")),
    path("admin/", admin.site.urls),
    path("i18n/", include("django.conf.urls.i18n")),
    path("accounts/login/", auth.LoginView.as_view(), name="login"),
    path("accounts/logout/", auth.LogoutView.as_view(), name="logout"),
    path("api/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("api/", include("judge.api.urls")),
    path("api/judge/", include("pillars.api.urls")),
    path("judge/", include("judge.web.urls")),
    path("judge/", include("pillars.web.urls")),
    path("health/", include("llars.health")),
    path("metrics", include("llars.metrics")),
]
