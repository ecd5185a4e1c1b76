"""`hubctl run`: what `make run` does, from anywhere in a clone."""

import argparse
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from hubctl.main import CommandError
from hubctl.project_files import SOURCE_TREE


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    help_text = "settings of the run, such as HUB_PORT=9000, GATEWAY=0 or CLOUD=local"
    parser.add_argument("settings", nargs="*", metavar="NAME=VALUE", help=help_text)


def run(arguments: argparse.Namespace, *, environment: Mapping[str, str], out: TextIO) -> int:
    """Become `make run`, which installs what it needs first. Raises CommandError."""
    for setting in arguments.settings:
        if not setting.partition("=")[0].isidentifier() or "=" not in setting:
            raise CommandError(f"{setting!r} is no setting: write NAME=VALUE, such as HUB_PORT=9000")
    root = next((folder for folder in (Path.cwd(), SOURCE_TREE) if (folder / "local/run.py").is_file()), None)
    if root is None:
        raise CommandError("the functions are not part of the package: clone the project, and run it there")
    try:
        out.flush()
        os.execvpe("make", ["make", "-C", str(root), "--no-print-directory", "run", *arguments.settings], environment)  # noqa: S606, S607
    except OSError:
        raise CommandError("there is no make on this machine: install it") from None
