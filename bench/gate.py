"""The latency that the gate adds with a warm cache: a function called directly, and through a gate that asks Google once."""

import contextlib
import http.client
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from bench.contest import HEAD, Measurements, contest, paired, rows
from bench.question import TOKEN
from bench.report import Target, at_most, table
from bench.servers import SUBJECTS, Settings, function, serving
from local.cloud.google_tokens import TOKENINFO, USERINFO
from local.functions import ROOT
from local.ports import LOOPBACK, free_ports

DIRECT = "function called directly"
GATE = "function through the gate"
_MOST_ADDED_MS = 1.5
_REQUESTS = 1000
_AUDIENCE = "bench.apps.googleusercontent.com"
_USER = {"sub": "1", "email": "bench@example.com", "email_verified": True, "aud": _AUDIENCE, "azp": _AUDIENCE}


def run(settings: Settings) -> list[Target]:
    """Print the table; return the targets for the added latency and for the introspections."""
    with _google() as google:
        ports = free_ports(2)
        address = f"http://{LOOPBACK}:{ports[0]}"
        environment = {
            "HUB_URL": address,
            "AGENT_CARD_URL": address,
            "GATE_SIGNING_KEY": "a-key-that-is-used-in-the-bench-only",
            "HUB_DEV_TOKEN": "",
            "GOOGLE_TOKEN_AUDIENCES": _AUDIENCE,
            "GOOGLE_TOKENINFO_URL": f"http://{LOOPBACK}:{google}{TOKENINFO}",
            "GOOGLE_USERINFO_URL": f"http://{LOOPBACK}:{google}{USERINFO}",
            "IDENTITY_TTL_SECONDS": "300",
            "RATE_LIMIT_PER_MINUTE": "0",
        }
        _control(google, "PUT", f"/control/tokens/{TOKEN}", _USER)
        direct = function(DIRECT, SUBJECTS / "constant_agent.py", target="agent", port=ports[0])
        source = ROOT / "functions" / "gate" / "main.py"
        gate = function(GATE, source, target="gate", port=ports[1], **environment)
        with serving((direct, gate), settings) as contestants:
            measured = contest(contestants, settings, connections=1)
        counts: dict[str, int] = _control(google, "GET", "/control/counts")
    table("The gate, 1 connection, the token's facts known", HEAD, rows(measured, DIRECT))
    added = paired(measured[GATE], measured[DIRECT], lambda mine, other: mine.p50_ms - other.p50_ms)
    wanted = f"the gate adds ≤ {_MOST_ADDED_MS:.1f} ms to a function's p50, 1 connection"
    latency = at_most(wanted, added, _MOST_ADDED_MS, shown="{:.2f} ms")
    return [latency, _introspections(measured, counts["tokeninfo"])]


def _introspections(measured: Measurements, introspections: int) -> Target:
    """Return the target for the introspections: the run is shorter than the TTL of the gate."""
    requests = sum(one.load.requests for one in measured[GATE])
    return Target(
        wanted=f"≥ {_REQUESTS} requests of one token cost one introspection in a TTL",
        measured=f"{introspections} of {requests}",
        met=introspections == 1 and requests >= _REQUESTS,
    )


@contextlib.contextmanager
def _google() -> Iterator[int]:
    """Run the stand-in for Google's userinfo and tokeninfo and yield its port."""
    command = [sys.executable, "-m", "local.cloud.google_tokens"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as program:
        try:
            assert program.stdout is not None
            yield int(program.stdout.readline().rsplit(":", 1)[1])
        finally:
            program.terminate()


def _control(port: int, method: str, path: str, value: Any = None) -> Any:
    with contextlib.closing(http.client.HTTPConnection(LOOPBACK, port, timeout=10.0)) as connection:
        connection.request(method, path, body=json.dumps(value))
        return json.loads(connection.getresponse().read())
