"""A real Envoy with routes of a test's own, in front of servers of a test's own."""

import contextlib
import http.client
import json
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from local import envoy
from local.envoy import Json
from local.ports import free_ports


@contextlib.contextmanager
def gateway(routes: Sequence[Json], upstream_ports: Mapping[str, int], folder: Path) -> Iterator[int]:
    """The port of an Envoy that listens; afterwards it has ended."""
    (port,) = free_ports(1)
    config = folder / f"envoy-{port}.json"
    config.write_text(json.dumps(envoy.bootstrap(port=port, routes=routes, upstream_ports=upstream_ports)))
    with subprocess.Popen(envoy.command(config), stderr=subprocess.DEVNULL) as program:
        try:
            _wait_until_it_listens(port, program)
            yield port
        finally:
            program.terminate()


def _wait_until_it_listens(port: int, program: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and program.poll() is None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        with contextlib.closing(connection), contextlib.suppress(ConnectionRefusedError):
            connection.connect()
            return
    raise AssertionError("the gateway does not listen")
