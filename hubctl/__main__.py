"""`python -m hubctl`: the operator's command line."""

import os
import sys

from hubctl.main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], environment=os.environ))
