"""The local stand-in for Google's userinfo and tokeninfo, run as the program that it is, and told what to answer."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from local.cloud.google_tokens import TOKENINFO, USERINFO
from tests.fakes.local_cloud import call

ROOT = Path(__file__).resolve().parents[2]
AUDIENCE = "1234-hub.apps.googleusercontent.com"
# A user of one company whose token was made for the hub's own OAuth client.
USER = {
    "sub": "110248495921238986420",
    "name": "Hanako Yamada",
    "email": "hanako@example.com",
    "email_verified": True,
    "hd": "example.com",
    "aud": AUDIENCE,
    "azp": AUDIENCE,
}


class Google:
    """The stand-in at `port`."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._url = f"http://127.0.0.1:{port}"
        self.userinfo_url = self._url + USERINFO
        self.tokeninfo_url = self._url + TOKENINFO

    def issue(self, token: str, **changes: Any) -> str:
        """`token` is one of USER's, with changes; None leaves a claim out. Returns it."""
        values = {name: value for name, value in (USER | changes).items() if value is not None}
        call(f"{self._url}/control/tokens/{token}", "PUT", values)
        return token

    def revoke(self, token: str) -> None:
        """The token is valid no longer."""
        call(f"{self._url}/control/tokens/{token}", "DELETE")

    def answers(self, endpoint: str, **fault: Any) -> None:
        """From now on `endpoint` answers so; without anything said, as usual."""
        call(f"{self._url}/__faults/{endpoint}", "POST" if fault else "DELETE", fault)

    def asked(self) -> dict[str, int]:
        """Return how often each endpoint was asked so far."""
        asked: dict[str, int] = call(f"{self._url}/control/counts")
        return asked


@contextlib.contextmanager
def google() -> Iterator[Google]:
    """A stand-in that answers; afterwards it has ended."""
    with subprocess.Popen(
        [sys.executable, "-m", "local.cloud.google_tokens"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as program:
        try:
            assert program.stdout is not None
            yield Google(int(program.stdout.readline().rsplit(":", 1)[1]))
        finally:
            program.terminate()
