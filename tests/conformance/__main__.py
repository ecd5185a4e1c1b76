"""`python -m tests.conformance [--port N]`: the hub over the conformance agent as `make run` has it, until it is interrupted.

Envoy, gate and agent card stand in front of it, and the tasks function beside it delivers push notifications.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from local.functions import ROOT, LocalFunction, functions
from local.ports import LOOPBACK, why_not_free
from local.processes import NotReady, ProcessEnded
from local.run import run
from local.settings import NotStartable, settings_from

_FOLDER = Path(__file__).resolve().parent
_AGENT = LocalFunction(name="conformance", source=_FOLDER / "main.py", threads=64, python_path=ROOT)
_NAMES = frozenset({"gate", "hub", "agent_card", "tasks"})


def main() -> int:
    """Return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("--port", type=int, default=9999, help="the gateway's port; 0 takes a free one")
    parser.add_argument("--kit", choices=("1.0", "0.3"), default="1.0", help="whose card the hub shows")
    arguments = parser.parse_args()
    if reason := why_not_free(arguments.port):
        parser.error(f"port {arguments.port} cannot be used ({reason}): choose another with --port")
    forced = {
        "ALLOW_ANONYMOUS": "true",
        "ANONYMOUS_SUBJECT": "conformance-kit",
        "CALLER_CONTRACTS": "anonymous=program",
        "CARD_UNNAMED_VERSION": arguments.kit,
        "ROUTES_FILE": str(_FOLDER / "routes.toml"),
        # Where the kits receive notifications.
        "WEBHOOK_ALLOWED_HOSTS": f"{LOOPBACK},localhost",
    }
    table = (_AGENT, *(function for function in functions() if function.name in _NAMES))
    with tempfile.TemporaryDirectory() as folder:
        try:
            settings = settings_from({**os.environ, "HUB_PORT": str(arguments.port)}, runs=Path(folder))
            run(table, settings, inherited={**os.environ, **forced})
        except (NotStartable, NotReady, ProcessEnded) as problem:
            print(f"stopped: {problem}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
