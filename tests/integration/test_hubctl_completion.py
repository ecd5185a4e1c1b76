"""`hubctl completion`: a shell that reads the script completes commands, options and values."""

import shutil
import subprocess

import pytest

from tests.unit.test_hubctl_check import hubctl


@pytest.mark.parametrize(
    ("words", "found"),
    [("hubctl eval", "evaluate"), ("hubctl check --rou", "--routes"), ("hubctl routes roll", "rollback")],
)
def test_bash_completes(words: str, found: str) -> None:
    status, script = hubctl("completion", "bash")
    assert status == 0
    script += f'\nCOMP_WORDS=({words}); COMP_CWORD={words.count(" ")}; _shtab_hubctl; echo "${{COMPREPLY[@]}}"'
    bash = shutil.which("bash") or "bash"
    done = subprocess.run([bash], input=script, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [found]


@pytest.mark.parametrize("shell", ["zsh", "tcsh"])
def test_other_shells_get_theirs(shell: str) -> None:
    status, script = hubctl("completion", shell)
    assert status == 0
    assert "rollback" in script
