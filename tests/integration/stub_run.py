"""A local run of stub functions, as a program: `python -m tests.integration.stub_run FOLDER SOURCE [PORT…]`.

The PORTs are what the functions are told to listen on in the first start.
"""

import os
import signal
import sys
from pathlib import Path

from local.functions import LocalFunction
from local.ports import free_ports
from local.processes import NotReady, ProcessEnded
from local.run import run
from local.settings import NotStartable, settings_from


def _main(folder: Path, source: Path, first_ports: list[int]) -> None:
    table = [
        LocalFunction(name="gate", source=source, threads=8),
        LocalFunction(name="agent_card", source=source, threads=2),
    ]
    starts = [first_ports] if first_ports else []
    settings = settings_from(os.environ, runs=folder)
    run(
        table,
        settings,
        inherited=os.environ,
        choose_ports=lambda count: starts.pop() if starts else free_ports(count),
    )


if __name__ == "__main__":
    # These tests may themselves run under nohup, which is inherited.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        _main(Path(sys.argv[1]), Path(sys.argv[2]), [int(port) for port in sys.argv[3:]])
    except (NotStartable, NotReady, ProcessEnded) as problem:
        sys.exit(f"stopped: {problem}")
