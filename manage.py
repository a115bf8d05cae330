#!/usr/bin/env python
"""Django's command line."""

import os
import sys


def main() -> None:
    """Run the named management command."""
    if sys.argv[1:2] == ["quickstart"]:
        # It makes the secrets that the settings ask for, so it must run before them.
        from llars.quickstart.run import main as quickstart

        sys.exit(quickstart(sys.argv[2:]))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "llars.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
