"""The small agents as they really run: each in its own functions-framework process, asked in both versions."""

import contextlib
import http.client
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from local.functions import ROOT, LocalFunction, functions
from local.ports import free_ports
from local.processes import Probe, Process, wait_until_ready
from local.settings import Settings, environment_of
from tests.fakes.signatures import KEYS

QUESTIONS = {
    "expense": [
        ("What is the expense reimbursement submission deadline?", "5th business day"),
        ("経費精算の申請期限はいつですか", "翌月第5営業日"),
    ],
    "pm": [
        ("List three tasks for creating a project WBS.", "\n3. "),
        ("プロジェクトのWBSを作成するためのタスクを3つ挙げて", "\n3. "),
    ],
    "general": [("What is the height of Mount Fuji?", "3,776 m"), ("富士山の高さは", "3,776 m")],
}
ASKED = [(name, question, answer) for name, asked in QUESTIONS.items() for question, answer in asked]
FUNCTIONS = [function for function in functions() if function.name in QUESTIONS]


@pytest.fixture(scope="module")
def ports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, int]]:
    """The port of each agent; all of them answer."""
    folder = tmp_path_factory.mktemp("agents")
    chosen = dict(zip(QUESTIONS, free_ports(len(QUESTIONS)), strict=True))
    with contextlib.ExitStack() as stack:
        processes = [stack.enter_context(started(function, chosen[function.name], folder)) for function in FUNCTIONS]
        wait_until_ready(
            [Probe(name, port, "/health") for name, port in chosen.items()],
            processes,
            stopping=threading.Event(),
            timeout_seconds=60.0,
        )
        yield chosen


@contextlib.contextmanager
def started(function: LocalFunction, port: int, folder: Path) -> Iterator[Process]:
    """The function's process; it has ended afterwards."""
    environment = environment_of(
        function,
        Settings(port=1, dev_token="for-tests", folder=folder, signing_keys=KEYS),
        inherited={"PATH": os.environ["PATH"]},
        urls={function.name: f"https://{function.name}.example"},
    )
    program = [str(Path(sys.executable).with_name("functions-framework")), "--target", function.name]
    log = folder / function.name
    with log.open("wb") as output:
        popen = subprocess.Popen(
            [*program, "--source", str(function.source), "--host", "127.0.0.1", "--port", str(port)],
            cwd=ROOT,
            env=environment,
            stdout=output,
            stderr=output,
        )
    try:
        yield Process(name=function.name, popen=popen, log=log)
    finally:
        popen.terminate()
        popen.wait()


def fetched(port: int, path: str, body: Any = None, **headers: str) -> tuple[int, str, bytes]:
    """Status, media type and body of one request; a POST when there is a body."""
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        method = "GET" if body is None else "POST"
        content = None if body is None else json.dumps(body)
        connection.request(method, path, content, {"Content-Type": "application/json", **headers})
        response = connection.getresponse()
        media_type = response.headers.get("Content-Type", "").split(";")[0]
        return response.status, media_type, response.read()


def call(method: str, question: str, **configuration: Any) -> dict[str, Any]:
    """A JSON-RPC request of version 0.3 (message/…) or 1.0."""
    old = "/" in method
    part = {"kind": "text", "text": question} if old else {"text": question}
    message = {"messageId": "m-1", "role": "user" if old else "ROLE_USER", "parts": [part]}
    if old:
        message["kind"] = "message"
    params = {"message": message, "configuration": configuration}
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}


@pytest.mark.parametrize(("name", "question", "answer"), ASKED)
def test_an_agent_answers_message_send_of_0_3_with_one_text(
    ports: dict[str, int], name: str, question: str, answer: str
) -> None:
    status, _, body = fetched(ports[name], "/", call("message/send", question, acceptedOutputModes=[]))
    result = json.loads(body)["result"]
    assert status == 200
    assert (result["kind"], [part["kind"] for part in result["parts"]]) == ("message", ["text"])
    assert answer in result["parts"][0]["text"]


@pytest.mark.parametrize(("name", "question", "answer"), ASKED)
def test_an_agent_answers_send_message_of_1_0_with_text_and_data_when_both_are_accepted(
    ports: dict[str, int], name: str, question: str, answer: str
) -> None:
    request = call("SendMessage", question, acceptedOutputModes=["text/plain", "application/json"])
    _, _, body = fetched(ports[name], "/", request, **{"A2A-Version": "1.0"})
    text, data = json.loads(body)["result"]["message"]["parts"]
    assert answer in text["text"]
    assert data["data"]["answered"] is True


@pytest.mark.parametrize("name", QUESTIONS)
def test_an_agent_streams_a_tasks_life(ports: dict[str, int], name: str) -> None:
    question, answer = QUESTIONS[name][0]
    status, media_type, body = fetched(ports[name], "/", call("message/stream", question))
    lines = [line for line in body.decode().splitlines() if line.startswith("data:")]
    events = [json.loads(line.removeprefix("data:"))["result"] for line in lines]
    assert (status, media_type) == (200, "text/event-stream")
    assert (events[0]["kind"], events[-1]["kind"]) == ("task", "status-update")
    assert (events[-1]["status"]["state"], events[-1]["final"]) == ("completed", True)
    artifacts = [event["artifact"] for event in events if event["kind"] == "artifact-update"]
    assert answer in "".join(part["text"] for artifact in artifacts for part in artifact["parts"])


@pytest.mark.parametrize("name", QUESTIONS)
def test_an_agent_says_that_it_lives_and_where(ports: dict[str, int], name: str) -> None:
    assert fetched(ports[name], "/health")[::2] == (200, b'{"status":"ok"}')
    for path in ("/.well-known/agent-card.json", "/.well-known/agent.json"):
        status, _, body = fetched(ports[name], path)
        assert status == 200
        assert f"https://{name}.example" in body.decode()
        assert json.loads(body)["skills"][0]["examples"]
