"""``make bench``: start a throw-away PostgreSQL and Redis, then run the benchmarks against them."""

import subprocess
import sys

from tests.services.launcher import environment, scratch_directory, started

BENCHMARKS = ("bench.judging",)


def main() -> int:
    """Run all benchmarks, or those named on the command line; 0 when each reached its goal."""
    with scratch_directory() as scratch, started(scratch) as services:
        for name, reason in services.missing.items():
            if name != "Chromium":
                print(f"missing: {name}. {reason}")
                return 1
        variables = environment(scratch, services)
        codes = [
            subprocess.run([sys.executable, "-m", name], env=variables, check=False).returncode
            for name in sys.argv[1:] or BENCHMARKS
        ]
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main())
