"""SIGTERM at a hub whose streams are open: each comes to an orderly end, with an event that says how it goes on."""

import contextlib
import http.client
import json
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.agent_server import AgentServer
from tests.fakes.agent_wire import artifact, task, text, update
from tests.fakes.signatures import HUB_SETTINGS
from tests.integration.gates import BEARER, TOKEN, Gate, function, gate

Json = dict[str, Any]
_AGENTS = ("DOCQA_URL", "EXPENSE_URL", "GENERAL_URL", "PM_URL")


@pytest.fixture
def agent() -> Iterator[AgentServer]:
    """An agent that says half of its answer, and the rest when the test has ended."""
    may_end = threading.Event()

    def script(_: object) -> Iterator[Json]:
        yield task("working")
        yield update(artifact("answer", text("Half of ")))
        may_end.wait(60)

    with AgentServer(script) as server:
        yield server
        may_end.set()


@pytest.mark.parametrize("stored", [False, True], ids=["unstored", "stored"])
@pytest.mark.parametrize("contract", ["on", "off"], ids=["a person", "a program"])
def test_a_stream_ends_with_an_event_and_its_process_after_it(
    agent: AgentServer, tmp_path: Path, contract: str, *, stored: bool
) -> None:
    settings = dict.fromkeys(_AGENTS, agent.url) | {"UI_CONTRACT": contract, "IAM_CREDENTIALS": "none"}
    settings |= {"TASK_STORE": f"sqlite:{tmp_path}/tasks.db"} if stored else {}
    public = {"HUB_PUBLIC_URL": "http://localhost/", "HUB_DEV_TOKEN": TOKEN}
    with function("hub", tmp_path, **HUB_SETTINGS, **public, **settings) as hub:
        events = _stream(hub)
        until_begun = next(event for event in events if "Half of" in json.dumps(event))
        assert until_begun
        os.kill(hub.pid, signal.SIGTERM)
        *_, last = events
    if stored and contract == "off":
        # The task goes on elsewhere, and can be subscribed to there.
        assert "error" in last or last["result"]["status"]["state"] in ("working", "submitted")
    else:
        result = last["result"]
        assert result["final"] is True
        assert result["status"]["state"] == ("completed" if contract == "on" else "failed")


@pytest.mark.parametrize("contract", ["on", "off"], ids=["a person", "a program"])
def test_a_stream_through_a_gate_that_stops_ends_between_two_events_and_for_a_person_with_a_text(
    agent: AgentServer, tmp_path: Path, contract: str
) -> None:
    settings = dict.fromkeys(_AGENTS, agent.url) | {"UI_CONTRACT": contract, "IAM_CREDENTIALS": "none"}
    settings |= {"TASK_STORE": f"sqlite:{tmp_path}/tasks.db", "HUB_PUBLIC_URL": "http://localhost/"}
    with (
        function("hub", tmp_path, **HUB_SETTINGS, **settings) as hub,
        gate(f"http://127.0.0.1:{hub.port}", tmp_path) as stopped,
    ):
        events = _stream(stopped)
        begun = next(event for event in events if "Half of" in json.dumps(event))
        os.kill(stopped.pid, signal.SIGTERM)
        rest = list(events)
    assert begun["result"]["taskId"]
    if contract == "on":
        told, last = (each["result"] for each in rest[-2:])
        assert "/task 1" in told["artifact"]["parts"][0]["text"]
        assert (last["status"]["state"], last["final"]) == ("completed", True)
        assert last["taskId"] == told["taskId"] == begun["result"]["taskId"]
    assert all("error" not in each for each in rest)


def _stream(hub: Gate) -> Iterator[Json]:
    """The events of a stream, to its end."""
    message = {
        "kind": "message",
        "messageId": "m",
        "role": "user",
        "parts": [{"kind": "text", "text": "What is the expense deadline?"}],
    }
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": {"message": message}})
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", hub.port, timeout=60)) as connection:
        connection.request("POST", "/", body, {**BEARER, "content-type": "application/json"})
        for line in connection.getresponse():
            if line.startswith(b"data: "):
                yield json.loads(line.removeprefix(b"data: "))
