"""The local cloud for tests: a hub's account, a partner's account, and a service of the partner behind Cloud Run's front."""

import contextlib
import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from local.cloud.accounts import Accounts
from local.cloud.cloud_run import CloudRun
from local.cloud.metadata import Metadata
from local.cloud.program import Server, recorded
from local.ports import free_ports

ROOT = Path(__file__).resolve().parents[2]
HUB = "hub@my-hub-project.iam.gserviceaccount.com"
STRANGER = "stranger@elsewhere.iam.gserviceaccount.com"
accounts_at: dict[str, Accounts] = {}
"""Those that know the tokens of the metadata server at an address."""


def call(url: str, method: str = "GET", value: Any = None, headers: Mapping[str, str] | None = None) -> Any:
    """The decoded JSON answer of a control path."""
    body = None if value is None else json.dumps(value).encode()
    request = urllib.request.Request(url, data=body, method=method, headers=dict(headers or {}))
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.loads(answer.read() or b"null")


def inject(url: str, fault: str, **parameters: Any) -> None:
    """Switches a fault on."""
    call(f"{url}/__faults/{fault}", "POST", parameters)


@contextlib.contextmanager
def account(email: str, project: str = "my-hub-project") -> Iterator[str]:
    """The address of a metadata server with an account, and a key, of its own."""
    accounts = Accounts()
    with Server(recorded(Metadata(email=email, project=project, accounts=accounts).handle)) as server:
        accounts_at[server.url] = accounts
        yield server.url
        del accounts_at[server.url]


@contextlib.contextmanager
def behind_iam(upstream: str, *, trusts: str, service: str = "pm") -> Iterator[str]:
    """The address of a service that Cloud Run's front guards; it takes tokens that the account at `trusts` signed."""
    (port,) = free_ports(1)
    url = f"http://127.0.0.1:{port}"
    front = CloudRun(service=service, url=url, upstream=upstream, accounts=accounts_at[trusts], invoker=HUB)
    with Server(recorded(front.handle), port=port):
        yield url


def environment_of_account(url: str, **more: str) -> dict[str, str]:
    """The environment of a program that runs as the account at `url`."""
    host = url.removeprefix("http://")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("GOOGLE_", "CLOUDSDK_"))}
    return {**inherited, "GCE_METADATA_HOST": host, "GCE_METADATA_IP": host, "PYTHONPATH": str(ROOT), **more}


class TokenHolder:
    """A program that gets its own tokens, one question at a time."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._popen = subprocess.Popen(
            [sys.executable, "-m", "tests.fakes.token_program"],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._popen.communicate()

    def ask(self, *audiences: str) -> list[str]:
        """A token for each audience, "" being an access token; asked for all at once, answered in their order."""
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        self._popen.stdin.write("".join(f"{audience}\n" for audience in audiences))
        self._popen.stdin.flush()
        return [self._popen.stdout.readline().strip() for _ in audiences]
