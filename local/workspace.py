"""The workspace of a local run: what the development agent may read, write and run programs in."""

import shutil
from pathlib import Path

from local.functions import ROOT

_SAMPLE = ROOT / "local" / "workspace"


def laid_out(folder: Path) -> None:
    """`folder` is there, with the sample files in it if it was not; what somebody made of them stays."""
    if not folder.exists():
        shutil.copytree(_SAMPLE, folder)
