"""Plan a session, judge it, wait with a progress bar, print the leaderboard."""

import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from judge.domain.states import ComparisonMode, SamplingStrategy, SessionStatus
from judge.management.leaderboard import leaderboard_lines
from judge.models import JudgeModel, JudgeSession
from judge.models.provider import THIS_MACHINE
from judge.services import control
from judge.services.errors import ConfigRefused
from judge.services.foreground import judge_in_foreground
from judge.services.planning.configuration import SessionConfig
from judge.services.providers import COMMAND_LINE_NAME, environment_model, is_reachable, simulated_model
from judge.services.sessions import create_session
from judge.simulated.server import SimulatedServer
from judge.simulated.verdict import SimulatedSettings
from llars.env import environment


class Command(BaseCommand):
    help = "Compare threads of pillars: plan a session and start it; with --wait judge it here and print the result."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--pillars", nargs="+", type=int, required=True, help="pillar numbers, for example 1 3 5")
        parser.add_argument("--mode", choices=list(ComparisonMode), default=ComparisonMode.PILLAR_SAMPLE.value)
        parser.add_argument("--samples", type=int, default=10, help="threads per pillar pair and repetition")
        parser.add_argument("--repetitions", type=int, default=1, help="adaptive: how often two threads may meet")
        parser.add_argument("--strategy", choices=list(SamplingStrategy), default=SamplingStrategy.ROTATING.value)
        parser.add_argument("--max-threads", type=int, help="most threads per pillar that take part")
        parser.add_argument("--budget", type=int, help="adaptive: comparisons in all")
        parser.add_argument("--confirm-large-plan", action="store_true", help="plan also very many comparisons")
        parser.add_argument("--swap", action="store_true", help="judge each pair in both orders")
        parser.add_argument("--workers", type=int, default=3, help="lanes that judge at once, 1 to 5")
        parser.add_argument("--seed", type=int, help="same seed, same plan")
        parser.add_argument("--language", choices=("de", "en"), default="de", help="language of prompt and verdicts")
        parser.add_argument("--name", default="", help="name of the session")
        parser.add_argument("--owner", default="admin", help="user name of the owner")
        parser.add_argument("--wait", action="store_true", help="judge in this process and print the leaderboard")

    def handle(self, *args: Any, **options: Any) -> None:
        with self._judge(options["wait"]) as model:
            session = self._create(model, options)
            self.stdout.write(
                f"Session {session.pk}: {session.total_comparisons} comparisons, {session.worker_count} workers, "
                f"seed {session.seed}, judge {model}"
            )
            control.start(session.pk)
            if options["wait"]:
                self._follow(session)

    @contextmanager
    def _judge(self, waits: bool) -> Iterator[JudgeModel]:
        """The model of the environment, else the simulated judge: the one that runs, else one for this command."""
        env = environment()
        if env.llm_base_url:
            if not env.llm_model:
                raise CommandError("LLARS_LLM_MODEL: name the model to ask at LLARS_LLM_BASE_URL.")
            try:
                yield environment_model(env.llm_base_url, env.llm_api_key.get_secret_value(), env.llm_model)
            except ValidationError as error:
                raise CommandError(f"LLARS_LLM_BASE_URL: {'; '.join(error.messages)}") from None
            return
        self.stdout.write("Simulated judge, no LLM: set LLARS_LLM_BASE_URL and LLARS_LLM_MODEL to ask a real model.")
        offered = JudgeModel.objects.filter(provider__is_simulated=True, provider__owner=None, is_active=True)
        running = offered.exclude(provider__name=COMMAND_LINE_NAME)
        if (model := running.first()) is not None and is_reachable(model.provider.base_url):
            self._allow(model.provider.base_url)
            yield model
            return
        if not waits:
            raise CommandError("No simulated judge is running. Add --wait, and this command brings its own.")
        with SimulatedServer(SimulatedSettings()) as server:
            self._allow(server.base_url)
            yield simulated_model(server.base_url, COMMAND_LINE_NAME)

    def _allow(self, base_url: str) -> None:
        """Let this process, and no other, call a simulated judge on this machine."""
        address = urlsplit(base_url)
        if address.hostname in THIS_MACHINE:
            settings.JUDGE_LOCAL_LLM_HOSTS = (*settings.JUDGE_LOCAL_LLM_HOSTS, address.netloc)

    def _create(self, model: JudgeModel, options: dict[str, Any]) -> JudgeSession:
        owner = get_user_model().objects.filter(username=options["owner"]).first()
        if owner is None:
            raise CommandError(f"There is no user '{options['owner']}'. Name one with --owner.")
        config = SessionConfig(
            name=options["name"] or "Pillars " + ", ".join(map(str, options["pillars"])),
            pillar_ids=tuple(options["pillars"]),
            judge_model_ids=(model.pk,),
            comparison_mode=options["mode"],
            samples_per_pillar=options["samples"],
            repetitions_per_pair=options["repetitions"],
            sampling_strategy=options["strategy"],
            max_threads_per_pillar=options["max_threads"],
            comparison_budget=options["budget"],
            confirm_large_plan=options["confirm_large_plan"],
            position_swap=options["swap"],
            worker_count=options["workers"],
            seed=options["seed"],
            language=options["language"],
        )
        try:
            return create_session(owner, config)
        except ConfigRefused as refused:
            problems = [f"{field}: {text}" for field, texts in refused.errors.items() for text in texts]
            raise CommandError("\n".join(problems)) from None

    def _follow(self, session: JudgeSession) -> None:
        bar = tqdm(total=session.total_comparisons, unit="comparison", file=sys.stderr)
        with bar:
            for progress in judge_in_foreground(session.pk):
                bar.n, bar.total = progress.completed + progress.failed, progress.total
                bar.refresh()
        session.refresh_from_db()
        for line in leaderboard_lines(session):
            self.stdout.write(line)
        if session.status != SessionStatus.COMPLETED:
            raise CommandError(
                f"The session ended as '{session.status}' ({session.status_reason or 'no reason given'})."
            )
