"""Programs that no Python package brings: gcloud, and bats, which npm has."""

import os
import shutil
from pathlib import Path

import pytest

from local import npm

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
    return str(npm.installed(program("npm"), HERE) / ".bin" / "bats")
