"""`python -m hubctl`, and the installed program: the operator's command line."""

import os
import sys

from hubctl import console
from hubctl.main import main


def run() -> int:
    """Run the command of this process's arguments; return its exit status."""
    # https://no-color.org
    colours = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return console.run(lambda out: main(sys.argv[1:], environment=os.environ, out=out), colours=colours)


if __name__ == "__main__":
    sys.exit(run())
