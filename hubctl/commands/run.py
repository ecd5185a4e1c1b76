"""`hubctl run`: what `make run` does, in a clone or with the sample that the package carries."""

import argparse
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

import a2a_hub
from a2a_hub.runtime.version import VERSION
from hubctl.main import CommandError
from hubctl.project_files import BUNDLED, SOURCE_TREE


def run(arguments: argparse.Namespace, *, environment: Mapping[str, str], out: TextIO) -> int:
    """Become `make run`, which installs what it needs first. Raises CommandError."""
    for setting in arguments.settings:
        if not setting.partition("=")[0].isidentifier() or "=" not in setting:
            raise CommandError(f"{setting!r} is no setting: write NAME=VALUE, such as HUB_PORT=9000")
    root = next((folder for folder in (Path.cwd(), SOURCE_TREE) if (folder / "local/run.py").is_file()), None)
    if root is None:
        root = _laid_out(environment)
        print(f"the sample is in {root}", file=out)
    # `make` would make the environment that this Python runs in anew.
    python = [] if Path(sys.prefix) == root / ".venv" else [f"PYTHON={sys.executable}"]
    command = ["make", "-C", str(root), "--no-print-directory", "run", *python, *arguments.settings]
    try:
        out.flush()
        os.execvpe("make", command, environment)  # noqa: S606, S607
    except OSError:
        raise CommandError("there is no make on this machine: install it") from None


def _laid_out(environment: Mapping[str, str]) -> Path:
    """Return the folder of this version's source tree among the user's data, written from the package."""
    data = environment.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    root = Path(data, "a2a-hub", VERSION)
    packages = {"shared/a2a_hub": Path(a2a_hub.__file__).parent, "hubctl": BUNDLED.parent}
    try:
        for name, source in {".": BUNDLED, **packages}.items():
            ignored = shutil.ignore_patterns("__pycache__", BUNDLED.name)
            shutil.copytree(source, root / name, ignore=ignored, dirs_exist_ok=True)
        shutil.copy(root / "sample" / "routes.toml", root)
    except OSError as refusal:
        raise CommandError(f"{root} cannot be written: {refusal.strerror}") from None
    return root
