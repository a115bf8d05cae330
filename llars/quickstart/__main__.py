"""The entry of the quickstart."""

import sys

from llars.quickstart.run import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
