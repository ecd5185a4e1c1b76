"""`hubctl schema`: the JSON Schemas of routes.toml and deploy.toml, which `python -m deploy.schemas` makes of their readers."""

import argparse
from collections.abc import Mapping
from typing import TextIO

from hubctl.project_files import project_file, read_text


def run(arguments: argparse.Namespace, *, environment: Mapping[str, str], out: TextIO) -> int:  # noqa: ARG001
    """Return 0 after the schema was written."""
    print(read_text(project_file(f"schemas/{arguments.file}.schema.json", option="cd")), file=out, end="")
    return 0
