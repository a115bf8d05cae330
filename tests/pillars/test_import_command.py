"""``manage.py import_threads``"""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from pillars.models import EmailThread, ImportBatch
from tests.pillars.factories import PillarFactory

pytestmark = pytest.mark.django_db


def write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def one(name: str, **changes: Any) -> dict[str, Any]:
    return {"id": name, "messages": [{"role": "client", "content": f"Example {name}"}], **changes}


def test_several_files_go_into_a_pillar_and_are_counted(tmp_path: Path) -> None:
    pillar, out = PillarFactory(number=3), StringIO()
    files = [write(tmp_path / "list.json", [one("a"), one("b")]), write(tmp_path / "one.json", one("c"))]
    call_command("import_threads", *map(str, files), "--pillar", "3", "--language", "en", stdout=out)
    assert pillar.threads.filter(language="en").count() == 3
    assert out.getvalue().splitlines() == [
        f"{files[0]}: 2 added, 0 assigned, 0 already known",
        f"{files[1]}: 1 added, 0 assigned, 0 already known",
    ]


def test_one_broken_file_keeps_all_out_and_names_its_rows(tmp_path: Path) -> None:
    err = StringIO()
    fine = write(tmp_path / "fine.json", [one("a")])
    broken = write(tmp_path / "broken.json", [one("b"), one("c", messages=[])])
    with pytest.raises(CommandError) as caught:
        call_command("import_threads", str(fine), str(broken), "--pillar", "1", stderr=err)
    assert caught.value.returncode == 1
    assert err.getvalue().startswith(f"{broken}: row 2, messages: ")
    assert not EmailThread.objects.exists()
    assert [(batch.file_name, batch.status) for batch in ImportBatch.objects.all()] == [("broken.json", "refused")]


def test_a_label_chooses_threads(tmp_path: Path) -> None:
    file = write(tmp_path / "list.json", [one("a", pillar="x"), one("b", pillar="y")])
    call_command("import_threads", str(file), "--pillar", "2", "--label", "y", stdout=StringIO())
    assert EmailThread.objects.get().external_id == "b"


def test_a_missing_pillar_or_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no pillar 99"):
        call_command("import_threads", str(write(tmp_path / "a.json", [one("a")])), "--pillar", "99")
    with pytest.raises(CommandError, match="No such file"):
        call_command("import_threads", str(tmp_path / "missing.json"), "--pillar", "1")
