"""What a function has signed is what the hub does: no other body, and nothing of another function's, at any of its paths."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from a2a_hub.identity.principal import TASKS_FUNCTION, Principal
from functions.hub.endpoints import RUN_PATH
from tests.fakes.agent_server import AgentServer
from tests.fakes.agent_wire import message, text
from tests.fakes.hub import Hub, route
from tests.fakes.signatures import signed

PERSON, TASKS = Principal(subject="google:1"), Principal(subject=TASKS_FUNCTION)
MESSAGE = {"messageId": "1", "role": "ROLE_USER", "parts": [{"text": "Hello"}]}
VERSION = {"a2a-version": "1.0", "content-type": "application/json"}
REQUESTS: Mapping[str, object] = {
    "/": {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": MESSAGE}},
    "/message:send": {"message": MESSAGE},
    "/message:stream": {"message": MESSAGE},
    "/tools/query": {"query": "Hello"},
}


@pytest.mark.parametrize("path", REQUESTS)
def test_a_body_that_was_changed_reaches_no_agent(path: str, tmp_path: Path) -> None:
    body = json.dumps(REQUESTS[path]).encode()
    with AgentServer(lambda _: [message(text("Here you are"))]) as agent:
        hub = Hub(
            route("alpha", agent.url), behind_gate=True, settings={"TASK_STORE": f"sqlite:{tmp_path / 'tasks.db'}"}
        )
        headers = VERSION | signed(PERSON, "POST", path, body)
        other = hub.request("POST", path, body.replace(b"Hello", b"Other"), token=None, headers=headers)
        assert isinstance(other.body, bytes)
        # JSON-RPC has errors of its own.
        assert other.status == (200 if path == "/" else 401)
        assert b"The body is not the one that was signed" in other.body
        assert agent.received == []
        assert hub.request("POST", path, body, token=None, headers=headers).status == 200


def test_only_tasks_has_a_task_run_and_only_the_one_that_it_signed_for(tmp_path: Path) -> None:
    hub = Hub(
        route("alpha", "http://127.0.0.1:9"),
        behind_gate=True,
        settings={"TASK_STORE": f"sqlite:{tmp_path / 'tasks.db'}"},
    )
    body = b'{"taskId": "one"}'

    def status(headers: Mapping[str, str], body: bytes = body) -> int:
        return hub.request("POST", RUN_PATH, body, token=None, headers=headers).status

    own = signed(TASKS, "POST", RUN_PATH, body, function="tasks")
    assert (status(own), status(own, b'{"taskId": "two"}')) == (200, 401)
    assert status(signed(PERSON, "POST", RUN_PATH, body)) == 404
    assert status(signed(TASKS, "POST", RUN_PATH, body, function="gate")) == 401
    assert status(signed(PERSON, "POST", RUN_PATH, body, function="tasks")) == 401
