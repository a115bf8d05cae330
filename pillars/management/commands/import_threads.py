"""``python manage.py import_threads FILE [FILE ...] --pillar N``"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from pillars.models import Language, Pillar
from pillars.readers.base import MAX_FILE_BYTES
from pillars.services.imports import ImportOutcome, ImportRefused, import_threads


class Command(BaseCommand):
    help = "Import threads from JSON files into a pillar: all files, or none of them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", metavar="FILE", type=Path, help="a JSON list of threads, or one thread")
        parser.add_argument("--pillar", required=True, type=int, metavar="N", help="number of the pillar")
        parser.add_argument("--language", choices=Language.values, help="for threads that name none (default: de)")
        parser.add_argument("--label", help="take only the threads whose 'pillar' in the file is this")
        parser.add_argument("--source", default="", help="where the threads come from")

    def handle(self, *args: Any, **options: Any) -> None:
        pillar = Pillar.objects.filter(number=options["pillar"]).first()
        if pillar is None:
            raise CommandError(f"There is no pillar {options['pillar']}.")
        contents = [(path, _content(path)) for path in options["files"]]
        outcomes: list[tuple[Path, ImportOutcome]] = []
        refusals: list[tuple[Path, ImportRefused]] = []
        with transaction.atomic():
            for path, data in contents:
                try:
                    outcomes.append((path, self._import(data, path, pillar, options)))
                except ImportRefused as refused:
                    refusals.append((path, refused))
            transaction.set_rollback(bool(refusals))
        if refusals:
            self._refuse(refusals)
        for path, done in outcomes:
            self.stdout.write(f"{path}: {done.added} added, {done.assigned} assigned, {done.known} already known")

    def _import(self, data: bytes, path: Path, pillar: Pillar, options: dict[str, Any]) -> ImportOutcome:
        return import_threads(
            data,
            path.name,
            pillar,
            language=options["language"],
            source=options["source"],
            only_label=options["label"],
        )

    def _refuse(self, refusals: list[tuple[Path, ImportRefused]]) -> None:
        for path, refused in refusals:
            # The records of refusal went with the rollback of all files; they are what stays.
            refused.batch.pk = None
            refused.batch.save(force_insert=True)
            for problem in refused.problems:
                place = f", {problem.field}" if problem.field else ""
                self.stderr.write(f"{path}: row {problem.row}{place}: {problem.message}")
        raise CommandError("Nothing was imported.")


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from None
