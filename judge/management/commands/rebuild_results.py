"""Drop everything derived of one or all sessions and compute it again from the evaluations."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from judge.models import JudgeSession
from judge.services.results import rebuild_results


class Command(BaseCommand):
    help = "Rebuild ratings, matrices and snapshots from the stored evaluations; the numbers stay the same."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("session_ids", nargs="*", type=int, help="ids of sessions; none: all")

    def handle(self, *args: Any, session_ids: list[int], **options: Any) -> None:
        known = list(JudgeSession.objects.values_list("pk", flat=True))
        if unknown := sorted(set(session_ids) - set(known)):
            raise CommandError(f"There is no session {', '.join(map(str, unknown))}.")
        for session_id in session_ids or known:
            rebuild_results(session_id)
            self.stdout.write(f"Session {session_id}: rebuilt.")
