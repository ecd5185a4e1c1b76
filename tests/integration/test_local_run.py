"""`make run`: from the ready line to the end of every process."""

import contextlib
import json
import os
import shlex
import signal
import socket
import time
from pathlib import Path

import pytest

from local.ports import free_ports
from tests.integration.local_runs import BROKEN, ROOT, STUB, LocalRun, ready, start


def test_the_curl_line_of_the_welcome_can_be_pasted_and_a_function_is_told_what_it_needs_and_no_more(
    tmp_path: Path,
) -> None:
    with ready(tmp_path, HUB_DEV_TOKEN="it's mine, another", DEBUG="1", SIGNING_KEY="a developer's own") as run:
        curl = shlex.split(run.welcome[run.welcome.index("curl ") :])
        url, headers, body = curl[1], [curl[3], curl[5]], curl[7]
        assert url == f"http://127.0.0.1:{run.port}/"
        assert headers[0] == "Authorization: Bearer it's mine"
        status, received = run.ask(
            "/", method="POST", body=body.encode(), headers=dict(header.split(": ") for header in headers)
        )
        assert json.loads(body)["method"] == "message/send"
        assert (status, received["headers"]["x-forwarded-authorization"]) == (200, "Bearer it's mine")
        _, card = run.ask("/.well-known/agent-card.json")
    gate = received["environment"]
    assert gate["HUB_DEV_TOKEN"] == "it's mine,another"
    assert gate["CALLER_TOKEN_HEADER"] == "x-forwarded-authorization"
    assert gate["SIGNING_KEY"].startswith("-----BEGIN PRIVATE KEY-----")
    assert gate["HUB_PUBLIC_URL"] == f"http://127.0.0.1:{run.port}"
    assert gate["PUBLIC_URL"] == f"http://127.0.0.1:{run.port}"
    assert card["environment"]["PUBLIC_URL"] == gate["AGENT_CARD_URL"]
    assert gate["AGENT_CARD_URL"].startswith("http://127.0.0.1:")
    assert gate["IAM_CREDENTIALS"] == "none"
    assert gate["THREADS"] == "8"
    not_told = {"HUB_DEV_TOKEN", "SIGNING_KEY", "AGENT_CARD_URL", "IAM_CREDENTIALS", "DEBUG"}
    assert not not_told & card["environment"].keys()


def test_without_the_gateway_the_gate_listens_where_callers_come_in_and_a_token_is_made_when_none_is_set(
    tmp_path: Path,
) -> None:
    # Envoy's package need not be there.
    (tmp_path / "envoy.py").write_text("raise ImportError")
    with ready(tmp_path, GATEWAY="0", PYTHONPATH=str(tmp_path)) as run:
        _, received = run.ask("/x", headers={"Authorization": "Bearer mine"})
        assert not (tmp_path / str(run.port) / "envoy.json").exists()
    assert received["function"] == "gate"
    assert received["environment"]["CALLER_TOKEN_HEADER"] == "authorization"
    assert received["headers"]["authorization"] == "Bearer mine"
    token = received["environment"]["HUB_DEV_TOKEN"]
    assert f"development token: {token}\n" in run.welcome
    assert len(token) >= 32


_WAITS = """
import sys

if "--target=agent_card" in sys.argv:
    open({fifo!r}).read()
sys.path.insert(0, {root!r})
from tests.integration.stub_function import *
"""


def test_nobody_gets_in_before_every_function_answers(tmp_path: Path) -> None:
    fifo, source = tmp_path / "fifo", tmp_path / "main.py"
    os.mkfifo(fifo)
    source.write_text(_WAITS.format(fifo=str(fifo), root=str(ROOT)))
    popen = start(tmp_path, source)
    try:
        # Both have it open: the card is being loaded now, and what is started together with it was started before.
        with fifo.open("w"):
            assert not list(tmp_path.rglob("envoy.log"))
        assert popen.stdout is not None
        assert popen.stdout.readline().startswith("ready ")
        assert list(tmp_path.rglob("envoy.log"))
    finally:
        popen.send_signal(signal.SIGTERM)
        popen.communicate()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whatever_ends_the_run_ends_every_process_and_every_stream(tmp_path: Path, how: signal.Signals) -> None:
    with ready(tmp_path) as run, contextlib.ExitStack() as streams:
        through_gateway = streams.enter_context(contextlib.closing(_open_stream(run.port)))
        directly = [streams.enter_context(contextlib.closing(_open_stream(port))) for port in _ports_of(run)]
        run.popen.send_signal(how)
        for stream in (through_gateway, *directly):
            _read_to_the_end(stream)
        status = run.popen.wait(30)
    assert status == (-signal.SIGKILL if how is signal.SIGKILL else 0)
    for port in (run.port, *_ports_of(run)):
        _wait_until_refused(port)


def test_a_process_that_dies_is_named_and_ends_the_run(tmp_path: Path) -> None:
    with ready(tmp_path) as run:
        run.ask("/debug-version")
        _, errors = run.popen.communicate(timeout=30)
    assert run.popen.returncode == 1
    assert "stopped: gate ended by SIGKILL" in errors
    assert str(tmp_path / str(run.port) / "gate.log") in errors


def test_a_function_that_cannot_start_is_shown_with_its_reason(tmp_path: Path) -> None:
    popen = start(tmp_path, BROKEN)
    output, errors = popen.communicate(timeout=60)
    assert popen.returncode == 1
    assert output == ""
    assert " ended with status 1" in errors
    assert "ValueError: DOCUMENTS_FOLDER names no folder" in errors


def test_a_taken_hub_port_is_named_with_the_way_out(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        popen = start(tmp_path, STUB, HUB_PORT=str(port))
        output, errors = popen.communicate(timeout=60)
    assert popen.returncode == 1
    assert output == ""
    assert f"port {port} cannot be used (Address already in use)" in errors
    assert "HUB_PORT=" in errors


def test_a_folder_for_the_logs_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    file = tmp_path / "no-folder"
    file.write_text("")
    popen = start(file, STUB)
    output, errors = popen.communicate(timeout=60)
    assert popen.returncode == 1
    assert output == ""
    assert "cannot be written (Not a directory): make room, or clone this into a folder of your own" in errors


def test_a_folder_that_nothing_can_be_written_into_is_told(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    # A folder in which not even root makes files, as in one on a full disk.
    (tmp_path / str(port)).symlink_to("/proc/self")
    popen = start(tmp_path, STUB, HUB_PORT=str(port))
    output, errors = popen.communicate(timeout=60)
    assert (popen.returncode, output) == (1, "")
    assert f"{port} cannot be written (" in errors
    assert "Traceback" not in errors


def test_a_function_whose_port_was_taken_gets_another(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other, socket.create_server(("127.0.0.1", 0)) as another:
        taken = [other.getsockname()[1], another.getsockname()[1]]
        with ready(tmp_path, STUB, *taken) as run:
            assert run.ask("/routes")[0] == 200
            assert not set(taken) & set(_ports_of(run))


def _ports_of(run: LocalRun) -> list[int]:
    log_folder = Path(next(line for line in run.welcome.splitlines() if line.startswith("logs: "))[6:])
    clusters = json.loads((log_folder / "envoy.json").read_text())["static_resources"]["clusters"]
    endpoints = [cluster["load_assignment"]["endpoints"][0]["lb_endpoints"][0] for cluster in clusters]
    return [endpoint["endpoint"]["address"]["socket_address"]["port_value"] for endpoint in endpoints]


def _open_stream(port: int) -> socket.socket:
    """A connection on which the stub gate streams and waits, or the stub card has answered."""
    stream = socket.create_connection(("127.0.0.1", port), timeout=30)
    stream.sendall(b"GET /activity HTTP/1.1\r\nHost: stub\r\n\r\n")
    assert stream.recv(9) == b"HTTP/1.1 "
    return stream


def _wait_until_refused(port: int) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except (ConnectionRefusedError, ConnectionResetError):
            return
    raise AssertionError(f"somebody still listens on {port}")


def _read_to_the_end(stream: socket.socket) -> None:
    with contextlib.suppress(ConnectionResetError):
        while stream.recv(65536):
            pass
