"""`hubctl new agent`: writes a new agent into a folder outside this project."""

import argparse
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import TextIO

from a2a_hub.runtime.version import VERSION
from hubctl.main import CommandError

_TEMPLATES = Path(__file__).resolve().parents[1] / "agent_template"
# Also the name of a service of Cloud Run, and with _ that of a function in Python.
_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
# A service account's name has at most 30 characters.
_LONGEST = 24


def run(arguments: argparse.Namespace, *, environment: Mapping[str, str], out: TextIO) -> int:  # noqa: ARG001
    """Return 0 after the folder was written. Raises CommandError."""
    name, wheel = arguments.name, arguments.wheel
    folder = arguments.folder or Path(name)
    if not _NAME.fullmatch(name) or len(name) > _LONGEST:
        raise CommandError(f"{name!r} is no name: write lower-case letters, digits and hyphens, such as travel-desk")
    library = f"./{wheel.name}[functions]" if wheel else f"a2a-hub[functions]=={VERSION}"
    function, title = f"{name.replace('-', '_')}_agent", name.replace("-", " ").capitalize()
    values = {"name": name, "account": f"agent-{name}", "function": function, "title": title, "library": library}
    try:
        folder.mkdir(parents=True)
        for template in sorted(_TEMPLATES.glob("*.template")):
            file = folder / template.stem
            file.write_text(Template(template.read_text(encoding="utf-8")).substitute(values), encoding="utf-8")
            print(f"wrote {file}", file=out)
        (folder / "deploy.sh").chmod(0o755)
        if wheel:
            shutil.copy(wheel, folder)
    except OSError as problem:
        raise CommandError(
            f"{problem.filename} cannot be written or read ({problem.strerror}): name a new folder with --folder"
        ) from None
    print(f"how to test, run and deploy it: {folder / 'README.md'}", file=out)
    return 0
