"""A local run of bundles, as a program: `python -m tests.e2e.bundled_run FOLDER`.

The bundles are made in FOLDER/build, and every function is started from the empty folder FOLDER/elsewhere.
"""

import os
import sys
from dataclasses import replace
from pathlib import Path

from local.bundle import bundle
from local.functions import ROOT, functions
from local.processes import NotReady, ProcessEnded
from local.run import run
from local.settings import NotStartable, settings_from


def _main(folder: Path) -> None:
    table = []
    for function in functions():
        target = folder / "build" / function.name
        bundle(function, root=ROOT, target=target)
        table.append(replace(function, source=target / "main.py", python_path=None))
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    os.chdir(elsewhere)
    run(table, settings_from(os.environ, runs=folder), inherited=os.environ)


if __name__ == "__main__":
    try:
        _main(Path(sys.argv[1]).absolute())
    except (NotStartable, NotReady, ProcessEnded) as problem:
        sys.exit(f"stopped: {problem}")
