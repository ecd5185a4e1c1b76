"""Two hubs behind a round robin, each a process of its own over one store: the memory of a conversation is one."""

import contextlib
import http.client
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.runtime.ids import random_hex
from a2a_hub.task_store.settings import StoreSettings
from tests.e2e.task_machine import CALLER, Machine, machine
from tests.fakes.agent_server import AgentServer, ReceivedMessage
from tests.fakes.agent_wire import Json, message, text
from tests.fakes.development_agents import GeminiCliAgent
from tests.fakes.emulators import PROJECT

_ROUTE = """
[[routes]]
id = "{id}"
name = "Agent {id}"
description = "For tests."
url = "{url}"
boundary = "public"
keywords = ["{id}"]
priority = {priority}
{more}
"""
_LATER_TURNS = 60
_YES = {"callId": "call-1", "outcome": "proceed_once"}


@dataclass(kw_only=True)
class RoundRobin:
    """A caller whose every request goes to the other hub; without a token, it is anonymous."""

    run: Machine
    token: str | None = CALLER
    _hubs: Iterator[str] = field(default_factory=lambda: itertools.cycle(("hub-1", "hub-2")))

    def post(self, path: str, value: Json) -> Any:
        """The decoded answer to one request on a connection of its own."""
        port = self.run.ports[next(self._hubs)]
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
            headers = {"Content-Type": "application/json"}
            headers |= {"Authorization": f"Bearer {self.token}"} if self.token else {}
            connection.request("POST", path, json.dumps(value), headers)
            response = connection.getresponse()
            assert response.status == 200, response.read()
            return json.loads(response.read())

    def query(self, asked: str, context_id: str | None = None) -> Any:
        """The answer of /tools/query."""
        return self.post("/tools/query", {"query": asked} | ({"contextId": context_id} if context_id else {}))

    def send(self, asked: str, context_id: str | None = None) -> tuple[str, str]:
        """The context id and the text that answer a message as Gemini Enterprise sends it."""
        said: Json = {"kind": "message", "messageId": random_hex(), "role": "user"}
        said |= {"parts": [{"kind": "text", "text": asked}]} | ({"contextId": context_id} if context_id else {})
        body = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": said}}
        result = self.post("/", body)["result"]
        return result["contextId"], result["parts"][0]["text"]


@pytest.fixture(params=["SQLite", "Firestore"])
def stored(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Json:
    """Options of a machine over each store."""
    if request.param == "SQLite":
        return {"store": StoreSettings(file=tmp_path / "tasks.sqlite3"), "settings": {}}
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", request.getfixturevalue("firestore_emulator"))
    database = f"tests-{random_hex()}"
    settings = {"TASK_STORE": f"firestore:{database}", "GOOGLE_CLOUD_PROJECT": PROJECT}
    return {"store": StoreSettings(project=PROJECT, database=database), "settings": settings}


def test_two_hubs_behave_as_one(tmp_path: Path, stored: Json) -> None:
    stored["settings"] |= {"ALLOW_ANONYMOUS": "true"}
    names = itertools.count(1)

    def names_its_contexts(said: ReceivedMessage) -> list[Json]:
        own = said.context_id if (said.context_id or "").startswith("own-") else f"own-{next(names)}"
        return [message(text(own or ""), context_id=own)]

    def echo(said: ReceivedMessage) -> list[Json]:
        return [message(text(said.text))]

    with (
        AgentServer(names_its_contexts) as sticky,
        AgentServer(echo) as follow_up,
        AgentServer(echo) as other,
        GeminiCliAgent() as code,
    ):
        routes = "".join(
            _ROUTE.format(id=id_, url=url, priority=priority, more=more)
            for priority, (id_, url, more) in enumerate(
                (
                    ("alpha", sticky.url, "sticky = true"),
                    ("beta", follow_up.url, "follow_ups = true"),
                    ("code", code.url, ""),
                    ("other", other.url, "default = true"),
                )
            )
        )
        with machine(tmp_path, "", hubs=2, routes=routes, **stored) as run:
            for token in (CALLER, None):
                caller = RoundRobin(run=run, token=token)
                _stay_with_the_sticky_route_and_its_context(caller)
                _follow_up(caller)
                _confirm(caller, code)


def _stay_with_the_sticky_route_and_its_context(caller: RoundRobin) -> None:
    first = caller.query("alpha please")
    context_id = first["contextId"]
    assert first["answer"].startswith("own-")
    later = [caller.query("And then?", context_id) for _ in range(_LATER_TURNS)]
    assert {(each["route"], each["reason"].partition(":")[0]) for each in later} == {("alpha", "sticky")}
    assert [each["answer"] for each in later] == [first["answer"]] * _LATER_TURNS


def _follow_up(caller: RoundRobin) -> None:
    context_id = caller.query("ask beta")["contextId"]
    for _ in range(2):
        record = caller.query("じゃあ海外は？", context_id)
        assert (record["route"], record["reason"].partition(":")[0]) == ("beta", "follow-up")
    assert caller.query("富士山の高さは？", context_id)["route"] == "other"
    assert caller.query("じゃあ海外は？", context_id)["route"] == "other"


def _confirm(caller: RoundRobin, agent: GeminiCliAgent) -> None:
    agent.decisions.clear()
    for number in (1, 2):
        context_id, asked = caller.send("code: write it")
        assert "wants to change the file" in asked
        # One request more, so that the decision comes to the first hub once, and once to the second.
        if number == 2:
            assert caller.query("other")["route"] == "other"
        assert caller.send("yes", context_id)[1].startswith("All done.")
    assert agent.decisions == [_YES] * 2
