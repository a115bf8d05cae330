"""The API describes itself: completely, without warnings, from local files."""

from io import StringIO

import pytest
import yaml
from django.core.management import call_command
from django.urls import reverse
from rest_framework.test import APIClient

from judge.api.views.sessions import ACTIONS


def test_the_description_is_made_without_warnings_and_names_every_address() -> None:
    out = StringIO()
    call_command("spectacular", validate=True, fail_on_warn=True, stdout=out, stderr=StringIO())
    paths = yaml.safe_load(out.getvalue())["paths"]
    one = "/api/judge/sessions/{id}/"
    expected = {f"{one}{action}/" for action in ACTIONS} | {
        f"{one}{name}/" for name in ("estimate", "current", "queue", "comparisons", "workers", "health", "results")
    }
    expected |= {f"{one}thread-leaderboard/", f"{one}elo-distribution/", f"{one}comparisons/{{comparison_pk}}/"}
    expected |= {"/api/auth/token/", "/api/auth/token/revoke/", "/api/judge/comparison-modes/", "/api/judge/estimate/"}
    assert expected | {"/api/judge/sessions/", one} <= set(paths)
    assert all(path.endswith("/") for path in paths)


@pytest.mark.django_db
def test_the_page_loads_nothing_from_afar_and_runs_no_inline_script(client: APIClient) -> None:
    page = client.get(reverse("judge-api:docs"))
    text = page.content.decode()
    assert page.status_code == 200
    assert "drf_spectacular_sidecar/swagger-ui-dist/swagger-ui-bundle.js" in text
    assert "https://" not in text
    assert "http://" not in text
    policy = page["Content-Security-Policy"]
    assert "style-src 'self' 'unsafe-inline'" in policy
    assert "script-src" not in policy
    assert "<script>" not in text


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["judge-api:docs", "schema"])
def test_the_description_is_for_people_who_are_logged_in(name: str) -> None:
    assert APIClient().get(reverse(name)).status_code in (401, 403)
