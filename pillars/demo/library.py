"""The demo threads: invented counselling e-mails with a planted quality.

Every thread is made up for this project; none is a real case. The weak ones are weak on purpose and are no model for
counselling. Ids, pillar numbers and qualities are the operator's knowledge: a judge sees only the texts.
"""

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
FILE_PREFIX = "pillar_"


def demo_files() -> dict[int, Path]:
    """Pillar number -> its JSON file of threads, ascending by number."""
    files = (HERE / "threads").glob(f"{FILE_PREFIX}*.json")
    return dict(sorted((int(file.stem.removeprefix(FILE_PREFIX)), file) for file in files))


def demo_threads() -> dict[int, list[dict[str, Any]]]:
    """Pillar number -> its threads, each `{id, subject, language, messages: [{role, content, sent_at?}]}`.

    `role` is `client` or `counsellor`; `sent_at`, where given, is ISO 8601 with an offset.
    """
    return {number: json.loads(file.read_text(encoding="utf-8")) for number, file in demo_files().items()}


def planted_quality() -> dict[str, float]:
    """Thread id -> planted counselling quality from 0 (useless) to 1 (excellent).

    The pillar means are ordered 3 > 1 > 5 > 2 > 4; within a pillar threads lie within 0.08 of its level.
    """
    qualities: dict[str, float] = json.loads((HERE / "quality.json").read_text(encoding="utf-8"))
    return qualities
