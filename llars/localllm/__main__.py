"""The entry of the demo with a real model."""

import sys

from llars.localllm.run import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
