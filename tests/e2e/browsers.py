"""A real browser for the tests: Debian's Chromium, installed where it is missing, and driven from an environment of its own."""

import contextlib
import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.hubs import ROOT
from tests.e2e.sdk_environments import python_of

_DRIVER = Path(__file__).parent / "browser" / "driver.py"
# Pictures of pages need Japanese letters.
_PACKAGES = ("chromium", "fonts-noto-cjk")
_LOCK = ROOT / ".run" / "chromium.lock"


class Browser:
    """The driver's program (`browser/driver.py`), whose commands are methods here."""

    def __init__(self, popen: "subprocess.Popen[str]") -> None:
        self._popen = popen

    def __getattr__(self, name: str) -> Any:
        def command(**arguments: object) -> Any:
            assert self._popen.stdin is not None
            assert self._popen.stdout is not None
            self._popen.stdin.write(json.dumps([name, arguments]) + "\n")
            self._popen.stdin.flush()
            told = json.loads(self._popen.stdout.readline())
            assert "error" not in told, told["error"]
            return told["result"]

        return command


def chromium() -> str:
    """Return the path of Chromium. Where it cannot be installed, the test is skipped, or fails in CI."""
    _LOCK.parent.mkdir(exist_ok=True)
    # Other test processes may install it at the same time.
    with _LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = shutil.which("chromium") or _installed()
    if found is None and not os.environ.get("CI"):
        pytest.skip("there is no chromium, and it cannot be installed here")
    assert found is not None, "there is no chromium: apt-get install chromium"
    return found


def _installed() -> str | None:
    if os.geteuid() == 0 and shutil.which("apt-get"):
        for arguments in (["update"], ["install", "--yes", "--no-install-recommends", *_PACKAGES]):
            environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
            subprocess.run(["apt-get", "--quiet", *arguments], env=environment, check=False, capture_output=True)
    return shutil.which("chromium")


@contextlib.contextmanager
def running_browser() -> Iterator[Browser]:
    """Run the browser; afterwards it has ended."""
    command = [str(python_of("browser")), str(_DRIVER), chromium()]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as popen:
        yield Browser(popen)
        popen.communicate(timeout=30)
