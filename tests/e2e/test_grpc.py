"""A2A over gRPC: the official stubs, `services/grpc`, and the HTTP+JSON of the hub, or of a server that answers anything."""

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.runtime.ids import random_hex
from local.ports import free_ports
from local.processes import Probe, Program, running, wait_until_ready
from tests.e2e.hubs import ROOT, Hub
from tests.e2e.task_machine import CALLER, machine
from tests.fakes.http_server import Exchange, HttpServer

Json = dict[str, Any]
_QUESTION = "P-1インシデントのインフラチームへの連絡期限は？"
_OPERATIONS: dict[str, Json] = {
    "SendMessage": {"message": {"messageId": "1", "role": "ROLE_USER", "parts": [{"text": "x"}]}},
    "SendStreamingMessage": {"message": {"messageId": "1", "role": "ROLE_USER", "parts": [{"text": "x"}]}},
    "GetTask": {"id": "a/b:c"},
    "ListTasks": {"pageSize": 2, "includeArtifacts": True},
    "CancelTask": {"id": "t"},
    "SubscribeToTask": {"id": "t"},
    "CreateTaskPushNotificationConfig": {"taskId": "t", "url": "https://example.com"},
    "GetTaskPushNotificationConfig": {"taskId": "t", "id": "c"},
    "ListTaskPushNotificationConfigs": {"taskId": "t"},
    "DeleteTaskPushNotificationConfig": {"taskId": "t", "id": "c"},
    "GetExtendedAgentCard": {},
}


@pytest.fixture(scope="module")
def python() -> Path:
    """The interpreter of the environment that `services/grpc/requirements.txt` pins."""
    venv = ROOT / ".run" / "grpc"
    requirements = ROOT / "services" / "grpc" / "requirements.txt"
    subprocess.run([sys.executable, str(ROOT / "local" / "install.py"), str(venv), str(requirements)], check=True)
    return venv / "bin" / "python"


class Client:
    """A program with the official stubs that calls one service."""

    def __init__(self, popen: subprocess.Popen[str]) -> None:
        self._popen = popen

    def call(self, method: str, request: Json, **more: object) -> Json:
        """Return the messages of an answer, or its code."""
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        self._popen.stdin.write(json.dumps({"method": method, "request": request, **more}) + "\n")
        self._popen.stdin.flush()
        told: Json = json.loads(self._popen.stdout.readline())
        return told


@contextlib.contextmanager
def _client(python: Path, upstream: str, folder: Path) -> Iterator[Client]:
    (port,) = free_ports(1)
    settings = {"HUB_URL": upstream, "PORT": str(port), "HOST": "127.0.0.1"}
    program = Program(
        name="grpc",
        command=[str(python), str(ROOT / "services" / "grpc" / "server.py")],
        environment={**os.environ, **settings},
        log=folder / "grpc.log",
    )
    client = [str(python), str(ROOT / "tests" / "e2e" / "grpc_client.py"), f"127.0.0.1:{port}"]
    with running([program]) as processes:
        probe = Probe("grpc", port, "")
        wait_until_ready([probe], processes, stopping=threading.Event(), timeout_seconds=60)
        with subprocess.Popen(client, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as popen:
            yield Client(popen)
            popen.communicate(timeout=30)


@pytest.fixture(scope="module")
def client(python: Path, hub: Hub, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with _client(python, hub.url, tmp_path_factory.mktemp("grpc")) as client:
        yield client


@pytest.fixture(scope="module")
def with_tasks(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A client of a hub that stores tasks."""
    folder = tmp_path_factory.mktemp("tasks")
    with (
        machine(folder, "http://127.0.0.1:9") as run,
        _client(python, f"http://127.0.0.1:{run.ports['hub-1']}", folder) as client,
    ):
        yield client


def _message(text: str = _QUESTION, **more: object) -> Json:
    return {"message": {"messageId": random_hex(), "role": "ROLE_USER", "parts": [{"text": text}], **more}}


def test_a_question_is_answered_and_its_task_found(client: Client, hub: Hub) -> None:
    (answer,) = client.call("SendMessage", _message(), token=hub.tokens[0])["messages"]
    task = answer["task"]
    assert task["status"]["state"] == "TASK_STATE_COMPLETED"
    assert "15分" in task["artifacts"][0]["parts"][0]["text"]


def test_a_stream_brings_the_life_of_a_task(client: Client, hub: Hub) -> None:
    events = client.call("SendStreamingMessage", _message(), token=hub.tokens[0])["messages"]
    assert "task" in events[0]
    assert events[-1]["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"


def test_a_caller_without_a_token_is_refused_by_the_hub(client: Client) -> None:
    assert client.call("SendMessage", _message())["code"] == "UNAUTHENTICATED"


@pytest.mark.parametrize(
    ("method", "request_", "metadata", "code", "reasons"),
    [
        ("GetTask", {"id": "nobody's"}, {}, "NOT_FOUND", ["TASK_NOT_FOUND"]),
        ("GetTask", {}, {}, "INVALID_ARGUMENT", []),
        ("GetTask", {"id": ".."}, {}, "INVALID_ARGUMENT", []),
        ("ListTasks", {}, {"a2a-version": "9.9"}, "UNIMPLEMENTED", ["VERSION_NOT_SUPPORTED"]),
        ("ListTasks", {"pageSize": 1000}, {}, "INVALID_ARGUMENT", ["INVALID_PARAMS"]),
        ("SubscribeToTask", {"id": "nobody's"}, {}, "NOT_FOUND", ["TASK_NOT_FOUND"]),
    ],
)
def test_an_error_has_the_code_and_the_reason_of_the_specification(
    with_tasks: Client, method: str, request_: Json, metadata: Json, code: str, reasons: list[str]
) -> None:
    told = with_tasks.call(method, request_, metadata=metadata, token=CALLER)
    assert (told["code"], told["reasons"]) == (code, reasons)


@pytest.mark.parametrize("method", _OPERATIONS)
def test_every_operation_has_its_http_form_and_a_server_that_answers_rubbish_is_contained(
    python: Path, tmp_path: Path, method: str
) -> None:
    with HttpServer(lambda exchange: exchange.answer(502, b"<html>")) as server:
        with _client(python, server.url, tmp_path) as client:
            told = client.call(method, _OPERATIONS[method] | {"tenant": "acme"}, token="t")
        (received,) = server.received
    assert (told["code"], told["reasons"]) == ("UNAVAILABLE", [])
    assert "html" not in told["details"]
    assert received.path.startswith("/acme/")
    assert received.headers["authorization"] == "Bearer t"
    assert received.headers["a2a-version"] == "1.0"


def test_a_text_with_any_line_end_and_each_extension_arrive(python: Path, tmp_path: Path) -> None:
    text = "one\u2028two\u2029three\u0085four\r\nfive\n\nsix"

    def answer(exchange: Exchange) -> None:
        message = {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": text}]}
        data = json.dumps({"message": message}, ensure_ascii=False).encode()
        exchange.start_stream()
        for piece in (b": still here\n\ndata: ", data[:70], data[70:], b"\n", b"\n"):
            exchange.send(piece)

    with HttpServer(answer) as server, _client(python, server.url, tmp_path) as client:
        told = client.call("SendStreamingMessage", _message(), metadata={"a2a-extensions": "urn:a|urn:b"})
        (received,) = server.received
    assert told["messages"][0]["message"]["parts"] == [{"text": text}]
    assert received.headers["a2a-extensions"] == "urn:a, urn:b"


def test_a_hub_that_is_away_is_unavailable(python: Path, tmp_path: Path) -> None:
    with _client(python, f"http://127.0.0.1:{free_ports(1)[0]}", tmp_path) as client:
        assert client.call("ListTasks", {})["code"] == "UNAVAILABLE"


def test_a_client_that_leaves_a_stream_or_is_out_of_time_closes_the_request_to_the_hub(
    python: Path, tmp_path: Path
) -> None:
    left = threading.Semaphore(0)

    def tick(exchange: Exchange) -> None:
        exchange.start_stream()
        try:
            while True:
                exchange.event({"statusUpdate": {"taskId": "t", "contextId": "c", "status": {}}})
                exchange.pause(0.05)
        finally:
            left.release()

    with HttpServer(tick) as server, _client(python, server.url, tmp_path) as client:
        assert len(client.call("SubscribeToTask", {"id": "t"}, messages=2)["messages"]) == 2
        assert client.call("SubscribeToTask", {"id": "t"}, seconds=0.5)["code"] == "DEADLINE_EXCEEDED"
        assert left.acquire(timeout=30)
        assert left.acquire(timeout=30)
