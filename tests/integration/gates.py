"""A real gate in a process of its own, in front of a hub that only says what it received."""

import contextlib
import http.client
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs

from a2a_hub.a2a.errors import A2AError
from a2a_hub.http.messages import BodyError, Request, body_of
from a2a_hub.identity.principal import Principal
from local.ports import free_ports
from local.processes import Probe, Process, wait_until_ready
from tests.fakes.http_server import Exchange, Received
from tests.fakes.signatures import GATE_SETTINGS, verifier

ROOT = Path(__file__).resolve().parents[2]
TOKEN, OTHER_TOKEN = "token-of-one-caller", "token-of-another-caller"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@dataclass(frozen=True)
class Answer:
    """Status, headers by lower-case name, body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Gate:
    """A function that listens at `port`; what it logs goes to `log`. `pid` is its process."""

    port: int
    log: Path
    pid: int = 0

    def ask(
        self,
        method: str = "POST",
        path: str = "/",
        body: bytes | Iterator[bytes] | None = b"{}",
        headers: Mapping[str, str] = BEARER,
    ) -> Answer:
        """One request on a connection of its own."""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            connection.request(method, path, body=body, headers=dict(headers))
            response = connection.getresponse()
            received = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, received, response.read())


def echo(exchange: Exchange) -> None:
    """Answers that it is the hub."""
    exchange.json({"hub": True})


def principal_at(received: Received) -> Principal | None:
    """Whom the hub would believe to be the caller."""
    path, _, query = received.path.partition("?")
    request = Request(
        method=received.method,
        path=path,
        query=parse_qs(query, keep_blank_values=True),
        headers=received.headers,
        read_body=body_of(received.body),
    )
    try:
        caller = verifier().verify(request)
        request.body(len(received.body))
    except (A2AError, BodyError):
        return None
    return caller.principal


@contextlib.contextmanager
def gate(hub_url: str, folder: Path, **environment: str) -> Iterator[Gate]:
    """A gate that answers; afterwards it has ended. Its settings are in `environment`."""
    settings = {
        "HUB_URL": hub_url,
        "AGENT_CARD_URL": hub_url,
        **GATE_SETTINGS,
        "HUB_DEV_TOKEN": f"{TOKEN},{OTHER_TOKEN}",
        "IAM_CREDENTIALS": "none",
        "RATE_LIMIT_PER_MINUTE": "0",
    }
    with function("gate", folder, **(settings | environment)) as running:
        yield running


@contextlib.contextmanager
def function(name: str, folder: Path, **environment: str) -> Iterator[Gate]:
    """A function of this project that answers, with nothing of this process's environment; afterwards it has ended.

    Its port is PORT of its settings, or a free one.
    """
    port = int(environment.get("PORT") or free_ports(1)[0])
    log = folder / f"{name}-{port}.log"
    program = Path(sys.executable).with_name("functions-framework")
    source = ROOT / "functions" / name / "main.py"
    # As on Cloud Run, whoever calls is not on loopback, from where gunicorn would believe SCRIPT_NAME and PATH_INFO.
    told = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "THREADS": "16", "FORWARDED_ALLOW_IPS": ""}
    with log.open("wb") as output:
        popen = subprocess.Popen(
            [program, f"--target={name}", f"--source={source}", "--host=127.0.0.1", f"--port={port}"],
            env=told | environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    process = Process(name=name, popen=popen, log=log)
    try:
        wait_until_ready(
            [Probe(name, port, "/health")],
            [process],
            stopping=threading.Event(),
            timeout_seconds=60.0,
        )
        yield Gate(port, log, popen.pid)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(popen.pid, signal.SIGKILL)
        popen.wait()
