"""A long-running agent as a program of its own, which can be killed and started again: its tasks go with it."""

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from local.ports import free_ports
from tests.e2e.long_running_agent import LongRunningAgent


@dataclass(kw_only=True)
class RestartingAgent:
    """The program, on a port that stays its own; each task takes `seconds`."""

    seconds: float
    port: int = field(default_factory=lambda: free_ports(1)[0])
    _process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        """The agent's address, whether or not it runs."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Returns when it answers."""
        command = [sys.executable, "-m", "tests.e2e.restarting_agent", str(self.port), str(self.seconds)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n"

    def kill(self) -> None:
        """Returns when it has ended, without a word to anybody."""
        assert self._process is not None
        self._process.kill()
        self._process.communicate()
        self._process = None

    def restart(self, *, away_seconds: float) -> None:
        """Returns when it is there again, after so long an absence."""
        self.kill()
        time.sleep(away_seconds)
        self.start()


@contextlib.contextmanager
def restarting_agent(*, seconds: float) -> Iterator[RestartingAgent]:
    """It runs, and has ended afterwards."""
    agent = RestartingAgent(seconds=seconds)
    agent.start()
    try:
        yield agent
    finally:
        agent.kill()


def _main(port: int, seconds: float) -> None:
    with LongRunningAgent(seconds=seconds, port=port):
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        signal.pause()


if __name__ == "__main__":
    _main(int(sys.argv[1]), float(sys.argv[2]))
