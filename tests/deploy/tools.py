"""Programs that no Python package brings: gcloud, and bats, which npm has."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def program(name: str) -> str:
    """The path of an installed program. Without it the test fails in CI; elsewhere it is skipped, and the report says so."""
    found = shutil.which(name)
    if found:
        return found
    message = f"{name} is not installed: docs/deployment.md says which tests need it, and how to get it"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


def bats() -> str:
    """The path of bats; fetched once as package-lock.json pins it, when it is not installed."""
    installed = shutil.which("bats")
    if installed:
        return installed
    folder = ROOT / ".run" / "bats"
    ready = folder / "node_modules" / ".bin" / "bats"
    if not ready.exists():
        npm = program("npm")
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as fresh:
            for name in ("package.json", "package-lock.json"):
                shutil.copyfile(HERE / name, Path(fresh, name))
            subprocess.run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=fresh, check=True)
            # Another run at the same time may have been faster; what is there already is the same.
            with contextlib.suppress(OSError):
                Path(fresh, "node_modules").rename(folder / "node_modules")
    return str(ready)
