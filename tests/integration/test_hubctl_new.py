"""`hubctl new agent`: what it writes stands outside this project, passes its own test and answers under Functions Framework."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.test_hubctl_check import hubctl

ROOT = Path(__file__).resolve().parents[2]


def test_a_new_agent_passes_its_own_test_and_can_be_deployed(tmp_path: Path) -> None:
    folder = tmp_path / "travel-desk"
    wheel = tmp_path / "a2a_hub-9-py3-none-any.whl"
    wheel.touch()
    assert hubctl("new", "agent", "travel-desk", "--folder", folder, "--wheel", wheel)[0] == 0
    # Of this project, only the library can be imported.
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "shared")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert "2 passed" in done.stdout, done.stdout + done.stderr
    assert (folder / "requirements.txt").read_text() == f"./{wheel.name}[functions]\n"
    assert (folder / wheel.name).exists()
    for check in (["bash", "-n"], [Path(sys.executable).with_name("shellcheck")]):
        assert subprocess.run([*check, folder / "deploy.sh"], check=False).returncode == 0
    assert os.access(folder / "deploy.sh", os.X_OK)


@pytest.mark.parametrize(("name", "message"), [("Travel desk", "is no name"), ("there", "name a new folder")])
def test_nothing_is_overwritten(name: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "there"
    folder.mkdir()
    assert hubctl("new", "agent", name, "--folder", folder)[0] == 2
    assert message in capsys.readouterr().err
    assert list(folder.iterdir()) == []
