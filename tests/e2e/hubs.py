"""Starts whole local runs, as `make run` does, and ends them."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from tests.e2e.callers import Caller

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, kw_only=True)
class Hub:
    """A run that has said that it is ready. Each token is one caller."""

    port: int
    tokens: Sequence[str]
    logs: Path
    console: str
    """The link that signs in at the console, once."""

    @property
    def url(self) -> str:
        """The one address callers use."""
        return f"http://127.0.0.1:{self.port}"

    def caller(self, number: int = 0) -> Caller:
        """A caller with a token of its own."""
        return Caller(port=self.port, token=self.tokens[number])

    def stranger(self) -> Caller:
        """A caller without a token."""
        return Caller(port=self.port, token=None)

    def unknown(self) -> Caller:
        """A caller with a token that the hub does not know."""
        return Caller(port=self.port, token="token-of-nobody")

    def log_sizes(self) -> dict[Path, int]:
        """Each log with its length."""
        return {log: log.stat().st_size for log in self.logs.glob("*.log")}

    def logged_since(self, sizes: Mapping[Path, int], *, name: str = "*") -> str:
        """Return what all functions, or the one with this name, have logged since then."""
        logs = sorted(self.logs.glob(f"{name}.log"))
        return "".join(log.read_bytes()[sizes.get(log, 0) :].decode(errors="replace") for log in logs)


@contextlib.contextmanager
def running(module: str, *arguments: object, **environment: str) -> Iterator[Hub]:
    """A run by `python -m module` on a free port, with two tokens; afterwards it has ended and left nothing."""
    tokens = ("token-of-one-caller", "token-of-another-caller")
    unwanted = ("ALLOW_ANONYMOUS", "HUB_DEV_TOKEN", "ROUTES_FILE", "GOOGLE_CLOUD_PROJECT")
    inherited = {name: value for name, value in os.environ.items() if name not in unwanted}
    popen = subprocess.Popen(
        [sys.executable, "-m", module, *map(str, arguments)],
        cwd=ROOT,
        env={**inherited, "HUB_PORT": "0", "HUB_DEV_TOKEN": ",".join(tokens), **environment},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert popen.stdout is not None
        welcome = takewhile(lambda line: line != "ask it something:\n", popen.stdout)
        told = dict(line.rstrip("\n").partition(" ")[::2] for line in welcome)
        assert "ready" in told, f"no ready line, but {told}"
        hub = Hub(
            port=int(told["ready"].rsplit(":", 1)[1]),
            tokens=tokens,
            logs=Path(told["logs:"]),
            console=told["console,"].rpartition(" ")[2],
        )
        yield hub
    finally:
        popen.send_signal(signal.SIGTERM)
        popen.communicate()
    assert popen.returncode == 0
    shutil.rmtree(hub.logs)
