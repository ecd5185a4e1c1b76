"""Emulators fail where they cannot start, and leave nothing behind."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.fakes import emulators
from tests.fakes.emulators import EmulatorFailed

SUPERVISOR = Path(emulators.__file__).with_name("emulator_supervisor.py")
SECONDS = 30.0


@pytest.mark.parametrize("emulator", [emulators.firestore, emulators.pubsub])
def test_a_machine_without_gcloud_fails(
    emulator: Callable[[], AbstractContextManager[object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(EmulatorFailed, match="gcloud is not installed"), emulator():
        raise AssertionError("it started")


def test_an_emulator_that_ends_at_once_fails_with_what_it_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "gcloud"
    program.write_text("#!/bin/sh\necho no Java here\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(EmulatorFailed, match="no Java here"), emulators.firestore():
        raise AssertionError("it started")


def test_a_program_and_its_children_end_when_whoever_keeps_them_is_killed(tmp_path: Path) -> None:
    children = tmp_path / "children"
    # A shell that ignores SIGINT, as a wrapper around the emulator may, and a child of its own.
    script = f"trap '' INT; sleep 600 & echo $! $$ > {children}.new; mv {children}.new {children}; wait"
    owner = (
        "import subprocess, sys, time\n"
        "subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, start_new_session=True)\n"
        "time.sleep(600)\n"
    )
    keeper = [sys.executable, str(SUPERVISOR), str(tmp_path / "log"), "sh", "-c", script]
    process = subprocess.Popen([sys.executable, "-c", owner, *keeper])
    try:
        assert _becomes_true(children.exists)
        started = [int(number) for number in children.read_text().split()]
        assert all(_runs(number) for number in started)
    finally:
        process.kill()
        process.wait()
    assert _becomes_true(lambda: not any(_runs(number) for number in started))


def _runs(number: int) -> bool:
    state = Path(f"/proc/{number}/stat")
    try:
        return state.read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def _becomes_true(condition: object) -> bool:
    assert callable(condition)
    deadline = time.monotonic() + SECONDS
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
