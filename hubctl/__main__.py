"""`python -m hubctl`: the operator's command line."""

import os
import sys

from hubctl import console
from hubctl.main import main

if __name__ == "__main__":
    sys.exit(console.run(lambda out: main(sys.argv[1:], environment=os.environ, out=out)))
