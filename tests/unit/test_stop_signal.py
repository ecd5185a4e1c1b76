"""Being told to stop: whenever the signal comes, and however often."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from local.processes import StopSignal

ROOT = Path(__file__).resolve().parents[2]
_WAITING = """
import signal
import sys
from local.processes import StopSignal
# The tests may themselves run under nohup, which is inherited.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
stopping = StopSignal.of_signals()
print("waiting", flush=True)
while not stopping.wait(0.0001):
    pass
print("stopped", flush=True)
# An interpreter that is on its way out handles no signal any more.
sys.stdin.read()
"""


def test_it_is_set_once_and_for_good() -> None:
    stopping = StopSignal()
    assert not stopping.is_set()
    assert not stopping.wait(0.001)
    for _ in range(100_000):
        stopping.set()
    assert stopping.is_set()
    assert stopping.wait()


def test_a_signal_that_comes_in_the_middle_of_a_wait_ends_it() -> None:
    before = signal.getsignal(signal.SIGALRM)
    stopping = StopSignal()
    signal.signal(signal.SIGALRM, lambda *_: stopping.set())
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        assert stopping.wait(20)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_process_that_looks_again_and_again_stops_whenever_it_is_told() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        process = subprocess.Popen(
            [sys.executable, "-c", _WAITING],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"waiting\n"
        process.send_signal(number)
        process.send_signal(number)
        assert process.communicate(timeout=20)[0] == b"stopped\n"
        assert process.returncode == 0
