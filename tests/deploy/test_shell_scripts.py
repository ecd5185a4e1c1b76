"""The shell's side of deploying, tested by bats: tests/deploy/*.bats."""

import subprocess
from pathlib import Path

import pytest

from tests.deploy.tools import HERE, bats

FILES = sorted(HERE.glob("*.bats"))


def test_there_are_such_files() -> None:
    assert FILES


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_bats_test_passes(file: Path) -> None:
    done = subprocess.run([bats(), "--tap", str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    planned = int(done.stdout.splitlines()[0].removeprefix("1.."))
    assert planned == done.stdout.count("\nok ") > 0
    assert "# skip" not in done.stdout
