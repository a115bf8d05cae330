"""``make chaos``: start servers and workers of its own, judge under faults, say what held."""

import os
import subprocess
import sys
import time
from pathlib import Path

import django

from llars.embedded.processes import ProgramFailed, Supervisor
from llars.embedded.stopping import Stopped, StopSignals
from tests.chaos.options import Options, parse
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


def chaos(options: Options, servers: Servers, scratch: Path) -> bool:
    """Prepare the database, judge under faults, judge the same plan without, compare. True if all held."""
    from tests.chaos.performance import perform

    findings = perform(options, servers, scratch)
    findings.print()
    if options.report is not None:
        findings.write(options.report)
    return findings.good


def main(arguments: list[str]) -> int:
    """Run; 0 only if every promise held. Nothing it started is left."""
    options = parse(arguments)
    print(f"chaos: {options}", flush=True)
    began = time.monotonic()
    reaper.adopt_orphans()
    try:
        with scratch_directory() as scratch, StopSignals(lambda: None) as signals:
            supervisor = Supervisor(scratch / "logs", ROOT)
            try:
                servers = start_servers(supervisor, scratch, options.database)
                use(servers, scratch)
                good = chaos(options, servers, scratch)
            finally:
                signals.shield()
                reaper.end_orphans(spare=set(supervisor.pids().values()))
                supervisor.stop()
    except Stopped as stop:
        return 128 + stop.number
    except (ProgramFailed, subprocess.CalledProcessError) as error:
        print(f"Cannot start what the run needs: {error}")
        return 1
    print(f"{time.monotonic() - began:.0f} s with seed {options.seed}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
