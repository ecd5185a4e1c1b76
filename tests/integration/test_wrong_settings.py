"""A function whose settings are wrong says what is wrong, and nothing else; it never serves."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = Path(sys.executable).with_name("functions-framework")
FUNCTIONS = ["agent_card", "devtool", "docqa", "expense", "gate", "general", "hub", "pm", "tasks"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_with_wrong_settings_tells_them_without_a_stack(name: str, tmp_path: Path) -> None:
    wrong = {"LOG_TEXT": "perhaps", "RATE_LIMIT_PER_MINUTE": "many", "TASK_STORE": f"sqlite:{tmp_path}/t.db"}
    ended = subprocess.run(
        [PROGRAM, f"--target={name}", f"--source={ROOT}/functions/{name}/main.py", "--port=1"],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **wrong},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    first, *mistakes = ended.stderr.splitlines()
    assert (ended.returncode, ended.stdout, first) == (1, "", "The settings are wrong:")
    told = "RATE_LIMIT_PER_MINUTE must be" if name == "gate" else "LOG_TEXT must be true or false"
    assert any(line.startswith(f"  {told}") for line in mistakes), ended.stderr
    assert all(line.startswith("  ") for line in mistakes)
