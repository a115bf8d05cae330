"""``python -m tests [pytest's arguments]``: all tests on servers started for them, then the static checks."""

import sys

from tests.services.launcher import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
