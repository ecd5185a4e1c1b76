"""`GET /activity`: what operators see of unfinished work and of misses, and nobody else."""

import json
from pathlib import Path
from typing import Any, cast

import jsonschema
import pytest
import yaml

from a2a_hub.identity.principal import Principal
from tests.fakes.agent_server import AgentServer
from tests.fakes.agent_wire import Json, data, message, text
from tests.fakes.hub import Hub, route
from tests.fakes.signatures import signed

_DOCUMENT = yaml.safe_load((Path(__file__).parents[2] / "functions" / "hub" / "openapi.yaml").read_text())
_OPERATOR = Principal(subject="client:ci", client="ci", operator=True)
_DECLINES: list[Json] = [message(text("I do not know."), data({"declines": "nothing_known"}))]


def _activity(hub: Hub, principal: Principal | None = _OPERATOR) -> tuple[int, dict[str, Any]]:
    headers = signed(principal, "GET", "/activity", b"") if principal else {}
    response = hub.request("GET", "/activity", token=None, headers=headers)
    return response.status, json.loads(cast("bytes", response.body))


def _ask(hub: Hub, said: str) -> None:
    body = json.dumps({"query": said}).encode()
    headers = signed(_OPERATOR, "POST", "/tools/query", body)
    assert hub.request("POST", "/tools/query", body, token=None, headers=headers).status == 200


@pytest.mark.parametrize("stored", [True, False])
def test_operators_see_the_misses_and_work_that_waits(stored: bool, tmp_path: Path) -> None:
    settings = {"TASK_STORE": f"sqlite:{tmp_path}/tasks.db"} if stored else {}
    worker = route("worker", "", role="reviewer")
    with AgentServer(lambda _: _DECLINES) as agent:
        hub = Hub(worker, route("docs", agent.url), behind_gate=True, log_text=True, settings=settings)
        for said in ("How high?", "How high?", "docs, how low?"):
            _ask(hub, said)
        if stored:
            sent = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "worker, review this"}]}
            params = {"message": sent, "configuration": {"returnImmediately": True}}
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params}).encode()
            headers = signed(_OPERATOR, "POST", "/", body) | {"a2a-version": "1.0"}
            assert hub.request("POST", "/", body, token=None, headers=headers).status == 200
        status, told = _activity(hub)
    assert status == 200
    schema = _DOCUMENT["paths"]["/activity"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    jsonschema.Draft202012Validator(schema | {"components": _DOCUMENT["components"]}).validate(told)
    assert told["misses"] == [
        {"kind": "unanswered", "route": "docs", "text": "How high?", "count": 2},
        {"kind": "unanswered", "route": "docs", "text": "docs, how low?", "count": 1},
    ]
    found = [(task["role"], task["state"], task["holder"]) for task in told["tasks"]]
    assert found == ([("reviewer", "SUBMITTED", None)] if stored else [])


@pytest.mark.parametrize("principal", [None, Principal(subject="google:1", email="ada@example.com")])
def test_nobody_else_sees_it(principal: Principal | None) -> None:
    hub = Hub(route("docs", "http://127.0.0.1:9"), behind_gate=True, anonymous=True)
    status, told = _activity(hub, principal)
    assert (status, "tasks" in told) == (403, False)


def test_an_operator_of_some_routes_sees_the_misses_of_these() -> None:
    with AgentServer(lambda _: _DECLINES) as agent:
        hub = Hub(route("talk", agent.url), route("docs", agent.url), behind_gate=True)
        for said in ("talk?", "docs?"):
            _ask(hub, said)
        limited = Principal(subject="client:ci", client="ci", operator=True, routes=frozenset({"talk"}))
        assert [(miss["route"], miss["text"]) for miss in _activity(hub, limited)[1]["misses"]] == [("talk", None)]
