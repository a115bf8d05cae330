"""German and English: complete, compiled, and chosen as the reader wants."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import polib
import pytest
from django.test import Client

from judge import wording
from judge.domain.errors import ErrorCode
from judge.models import JudgeSession
from tests.web.conftest import browser_of

ROOT = Path(__file__).resolve().parents[2]
GERMAN = ROOT / "locale" / "de" / "LC_MESSAGES"
SOURCES = ("judge", "llars", "pillars", "templates", "locale")


def test_no_german_text_is_missing_or_uncertain() -> None:
    po = polib.pofile(str(GERMAN / "django.po"))
    assert len(po) > 400
    assert [entry.msgid for entry in po.untranslated_entries()] == []
    assert [entry.msgid for entry in po.fuzzy_entries()] == []
    assert [entry.msgid for entry in po.obsolete_entries()] == []


def test_the_compiled_texts_are_those_of_the_source() -> None:
    po, mo = polib.pofile(str(GERMAN / "django.po")), polib.mofile(str(GERMAN / "django.mo"))

    def texts(entries: list[polib.POEntry] | list[polib.MOEntry]) -> dict[object, object]:
        return {(e.msgctxt, e.msgid): (e.msgstr, e.msgstr_plural) for e in entries}

    assert texts(po) == texts(mo)


def test_every_text_of_the_code_is_in_the_source(tmp_path: Path) -> None:
    if shutil.which("xgettext") is None:
        pytest.skip("gettext is not installed")
    for name in SOURCES:
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "django", "makemessages", "-l", "de", "--no-wrap", "--add-location", "never"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "DJANGO_SETTINGS_MODULE": "tests.settings"}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    fresh = polib.pofile(str(tmp_path / "locale" / "de" / "LC_MESSAGES" / "django.po"))
    kept = polib.pofile(str(GERMAN / "django.po"))
    assert {e.msgid for e in fresh if not e.obsolete} == {e.msgid for e in kept}


def test_german_speaks_formally_and_with_umlauts() -> None:
    texts = " ".join(str(e.msgstr or e.msgstr_plural) for e in polib.pofile(str(GERMAN / "django.po")))
    for word in (" du ", " dein ", " deine ", "fuer ", "koennen", "Saeule", "Verlaeufe"):
        assert word not in texts
    assert "Säule" in texts
    assert "Wählen Sie" in texts


def test_every_error_has_words() -> None:
    assert set(ErrorCode) <= set(wording.ERROR_WORDS)


@pytest.mark.django_db
@pytest.mark.parametrize(("language", "words"), [("de", "Säulen"), ("en", "Pillars"), ("fr", "Säulen")])
def test_the_browser_language_decides_and_german_is_the_default(
    language: str, words: str, session: JudgeSession
) -> None:
    page = browser_of(session.owner, language).get(f"/judge/session/{session.pk}/").content.decode()
    assert words in page


@pytest.mark.django_db
def test_the_reader_can_choose_another_language(reader: Client, session: JudgeSession) -> None:
    answer = reader.post("/i18n/setlang/", {"language": "de", "next": "/judge/"})
    assert answer["Location"] == "/judge/"
    page = reader.get("/judge/").content.decode()
    assert '<html lang="de">' in page
    assert "Neue Session" in page
