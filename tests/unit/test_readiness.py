"""When a local run counts as ready, and when as failed."""

import itertools
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from local.processes import NotReady, PortLost, Probe, Process, ProcessEnded, wait_until_ready

HUB, CARD = Probe("hub", 1, "/health"), Probe("agent_card", 2, "/health")


def test_everybody_has_to_answer_once(tmp_path: Path) -> None:
    script = {HUB: iter([False, True]), CARD: iter([True])}
    _wait(_process(tmp_path), answers=lambda probe: next(script[probe]))
    assert [list(rest) for rest in script.values()] == [[], []]


def test_who_does_not_answer_in_time_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotReady, match=r"after 120 s these still do not answer: agent_card$"):
        _wait(_process(tmp_path), answers=lambda probe: probe is HUB)


def test_a_program_that_ended_is_named_with_its_last_lines(tmp_path: Path) -> None:
    with pytest.raises(ProcessEnded, match=r"(?s)hub ended with status 3; .*\n    it was the settings$"):
        _wait(_process(tmp_path, "first line\nit was the settings\n", status=3), answers=lambda _: False)


def test_of_wrong_settings_all_is_told_and_nothing_else(tmp_path: Path) -> None:
    mistakes = "\n".join(f"  SETTING_{number} is wrong" for number in range(30))
    output = f"A line of before\nThe settings are wrong:\n{mistakes}\n"
    with pytest.raises(ProcessEnded) as ended:
        _wait(_process(tmp_path, output, status=1), answers=lambda _: False)
    told = str(ended.value)
    assert "before" not in told
    assert told.endswith("\n    The settings are wrong:\n" + "\n".join(f"    {each}" for each in mistakes.split("\n")))


def test_of_a_wrong_file_the_reason_is_told_and_no_stack(tmp_path: Path) -> None:
    stack = 'Traceback (most recent call last):\n  File "main.py", line 1, in <module>\n'
    output = f"{stack}a2a_hub.task_store.sqlite_file.WrongFile: it is no SQLite file\n"
    with pytest.raises(ProcessEnded, match=r"\n    it is no SQLite file$") as ended:
        _wait(_process(tmp_path, output, status=1), answers=lambda _: False)
    assert "Traceback" not in str(ended.value)


@pytest.mark.parametrize(
    "line",
    [
        "[ERROR] Connection in use: ('127.0.0.1', 8081)",
        "error initializing: cannot bind '127.0.0.1:8080': Address already in use",
    ],
)
def test_a_neighbour_that_answers_on_a_lost_port_deceives_nobody(tmp_path: Path, line: str) -> None:
    with pytest.raises(PortLost, match="hub"):
        _wait(_process(tmp_path, line), answers=lambda _: True)


def test_nobody_is_waited_for_when_the_run_is_to_end(tmp_path: Path) -> None:
    stopping = threading.Event()
    stopping.set()
    _wait(_process(tmp_path), answers=lambda _: False, stopping=stopping)


def _wait(process: Process, *, answers: Callable[[Probe], bool], stopping: threading.Event | None = None) -> None:
    ticks = itertools.count(step=50.0)
    try:
        wait_until_ready(
            [HUB, CARD],
            [process],
            stopping=stopping or threading.Event(),
            timeout_seconds=120.0,
            answers=answers,
            clock=lambda: next(ticks),
        )
    finally:
        process.popen.kill()
        process.popen.wait()


def _process(folder: Path, output: str = "", *, status: int | None = None) -> Process:
    """A program that has written `output`, and has ended with `status` or runs on."""
    code = "import signal; signal.pause()" if status is None else f"raise SystemExit({status})"
    popen = subprocess.Popen([sys.executable, "-c", code])
    if status is not None:
        popen.wait()
    log = folder / "hub.log"
    log.write_text(output)
    return Process(name="hub", popen=popen, log=log)
