"""A command does a task's work: it gets the text and nothing secret, its time and its output are bounded, and it ends."""

import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from workers.client import Failed
from workers.shell_command import Command

ROOT = Path(__file__).parents[2]


def _work(text: str = "Fix it") -> Any:
    return SimpleNamespace(text=text, cancelled=threading.Event())


def _python(program: str, *, seconds: float = 30, max_bytes: int = 10_000) -> Command:
    return Command([sys.executable, "-c", program], seconds=seconds, max_bytes=max_bytes)


def test_the_text_is_the_input_and_the_output_is_the_answer() -> None:
    echo = _python("import sys; print('got', sys.stdin.read())")
    assert echo(_work("`reboot`; $(id) 日本語")) == "got `reboot`; $(id) 日本語"


def test_a_command_that_says_nothing_has_done_its_work() -> None:
    assert _python("pass")(_work()) == "OK"


def test_a_command_that_fails_fails_its_task() -> None:
    with pytest.raises(Failed, match="status 3"):
        _python("print('half'); raise SystemExit(3)")(_work())


def test_a_command_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    child = tmp_path / "child"
    program = (
        "import subprocess, sys, time, pathlib\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"pathlib.Path({str(child)!r}).write_text(str(child.pid))\n"
        "time.sleep(600)"
    )
    with pytest.raises(Failed, match="too long"):
        _python(program, seconds=2)(_work())
    deadline = time.monotonic() + 30
    while _runs(int(child.read_text())):
        assert time.monotonic() < deadline, "the child goes on"


_LEAVES_A_CHILD = (
    "import subprocess, sys, time\n"
    "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], start_new_session=True)\n"
    "print('started', flush=True)\n"
)


def test_a_child_that_goes_on_elsewhere_with_the_output_keeps_nobody_waiting() -> None:
    assert _python(_LEAVES_A_CHILD, seconds=600)(_work()) == "started"
    with pytest.raises(Failed, match="too long"):
        _python(f"{_LEAVES_A_CHILD}time.sleep(600)", seconds=1)(_work())


def test_a_command_that_closes_its_output_and_goes_on_takes_too_long() -> None:
    with pytest.raises(Failed, match="too long"):
        _python("import os, time; os.close(1); time.sleep(600)", seconds=1)(_work())


def test_a_command_that_writes_without_end_is_ended() -> None:
    with pytest.raises(Failed, match="too much"):
        _python("while True: print('x' * 1000)", max_bytes=5000)(_work())


def test_a_cancelled_task_ends_its_command() -> None:
    work = _work()
    threading.Timer(0.1, work.cancelled.set).start()
    assert _python("import time; time.sleep(600)")(work) == "OK"


def test_the_command_does_not_see_the_workers_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKER_TOKEN", "a-secret")
    monkeypatch.setenv("OF_THE_COMMAND", "seen")
    program = "import os; print(os.environ.get('WORKER_TOKEN'), os.environ['OF_THE_COMMAND'])"
    assert _python(program)(_work()) == "None seen"


_WITHOUT_AN_ADDRESS = """
import atexit, ctypes, sys
from workers import shell_command

def show():
    print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))  # PR_GET_DUMPABLE

show()
atexit.register(show)
sys.argv = ["shell_command", "--", "true"]
shell_command.main()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no /proc")
def test_the_command_does_not_read_the_token_in_the_workers_process() -> None:
    """A process that is not dumpable has no /proc/PID/environ for others of its user (proc(5))."""
    command = [sys.executable, "-c", _WITHOUT_AN_ADDRESS]
    done = subprocess.run(command, cwd=ROOT, env={}, capture_output=True, text=True, check=False)
    assert (done.stdout, "TASKS_URL" in done.stderr) == ("1\n0\n", True)


def _runs(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
