"""``make chaos``: start servers and workers of its own, judge under faults, say what held."""

import os
import subprocess
import sys
import time
from pathlib import Path

import django

from llars.embedded.processes import ProgramFailed, Supervisor
from llars.embedded.stopping import Stopped, StopSignals
from tests.chaos.options import Options, parse_all
from tests.chaos.servers import Servers, start_servers
from tests.services import reaper, workers
from tests.services.launcher import ROOT, Services, environment, scratch_directory

SHORT_LEASES = {"LLARS_LEASE_SECONDS": "2", "LLARS_HEARTBEAT_SECONDS": "0.5", "LLARS_RECOVERY_SECONDS": "0.5"}


def use(servers: Servers, scratch: Path) -> None:
    """Make these servers the ones of this process and of all it starts."""
    addresses = {"LLARS_DATABASE_URL": servers.database_url, "LLARS_REDIS_URL": servers.redis_url}
    variables = environment(scratch, Services({**addresses, **SHORT_LEASES, "LLARS_LOG_LEVEL": "WARNING"}))
    os.environ.clear()
    os.environ.update(variables)
    django.setup()
    workers.prepare({})


def chaos(runs: list[Options], servers: Servers, scratch: Path) -> bool:
    """Prepare the database; for each run judge under faults and the same plan without, compare. True if all held."""
    from tests.chaos.performance import perform, prepare_database

    owner, all_good = prepare_database(), True
    for number, options in enumerate(runs):
        print(f"chaos: {options}", flush=True)
        own = scratch / f"run-{number}"
        own.mkdir()
        findings = perform(options, owner, servers, own)
        findings.print()
        if options.report is not None:
            findings.write(options.report)
        all_good = all_good and findings.good
    return all_good


def main(arguments: list[str]) -> int:
    """Run; 0 only if every promise held. Nothing it started is left."""
    runs = parse_all(arguments)
    began = time.monotonic()
    reaper.adopt_orphans()
    try:
        with scratch_directory() as scratch, StopSignals(lambda: None) as signals:
            supervisor = Supervisor(scratch / "logs", ROOT)
            try:
                servers = start_servers(supervisor, scratch, runs[0].database)
                use(servers, scratch)
                good = chaos(runs, servers, scratch)
            finally:
                signals.shield()
                reaper.end_orphans(spare=set(supervisor.pids().values()))
                supervisor.stop()
    except Stopped as stop:
        return 128 + stop.number
    except (ProgramFailed, subprocess.CalledProcessError) as error:
        print(f"Cannot start what the run needs: {error}")
        return 1
    print(f"{time.monotonic() - began:.0f} s with seed {', '.join(str(options.seed) for options in runs)}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
