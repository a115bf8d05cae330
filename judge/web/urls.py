"""Addresses of the pages, under ``/judge/``."""

from django.urls import path

from judge.web import actions, configuration, overview, provider_tests, providers, results, sessions

app_name = "judge"
urlpatterns = [
    path("", overview.overview_page, name="overview"),
    path("list/", overview.session_list_part, name="session_list"),
    path("config/", configuration.config_page, name="config"),
    path("config/estimate/", configuration.estimate_part, name="estimate"),
    path("config/preset/", configuration.preset_part, name="preset"),
    path("providers/", providers.providers_page, name="providers"),
    path("providers/new/", providers.new_provider_page, name="provider_new"),
    path("providers/<int:pk>/", providers.provider_page, name="provider"),
    path("providers/<int:pk>/change/", providers.change_provider_page, name="provider_change"),
    path("providers/<int:pk>/delete/", providers.delete_provider, name="provider_delete"),
    path("providers/<int:pk>/test/", provider_tests.start_test, name="provider_test"),
    path("providers/<int:pk>/test/<int:check_pk>/", provider_tests.test_part, name="provider_test_part"),
    path("providers/<int:pk>/models/new/", providers.new_model_page, name="model_new"),
    path("providers/<int:pk>/models/<int:model_pk>/change/", providers.change_model_page, name="model_change"),
    path("providers/<int:pk>/models/<int:model_pk>/delete/", providers.delete_model, name="model_delete"),
    path("session/<int:pk>/", sessions.session_page, name="session"),
    path("session/<int:pk>/live/", sessions.live_part, name="live"),
    path("session/<int:pk>/results/", results.results_page, name="results"),
    path("session/<int:pk>/comparisons/", sessions.comparisons_page, name="comparisons"),
    path("session/<int:pk>/comparisons/<int:comparison_pk>/", sessions.comparison_page, name="comparison"),
    path("session/<int:pk>/rename/", sessions.rename_session, name="rename"),
    path("session/<int:pk>/start/", actions.start, name="start"),
    path("session/<int:pk>/pause/", actions.pause, name="pause"),
    path("session/<int:pk>/resume/", actions.resume, name="resume"),
    path("session/<int:pk>/abort/", actions.abort, name="abort"),
    path("session/<int:pk>/retry-failed/", actions.retry_failed, name="retry-failed"),
    path("session/<int:pk>/delete/", actions.delete, name="delete"),
]
