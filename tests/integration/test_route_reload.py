"""Routes change while the hub runs: its answers, its pages and its cards follow, and a broken table changes nothing."""

import itertools
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.http.messages import Handler, Request, body_of
from a2a_hub.telemetry.log import Log
from functions.agent_card.app import build as build_card
from functions.agent_card.config import read as read_card
from functions.hub.app import build
from functions.hub.config import read
from tests.fakes.agent_server import AgentServer
from tests.fakes.agent_wire import message, text

_CARD = "/.well-known/agent-card.json"
_TOKEN = "a-token"


class House:
    """The hub and the card function over one table in a file."""

    def __init__(self, folder: Path, agent: str) -> None:
        self.file = folder / "routes.toml"
        self._agent = agent
        self.lines: list[bytes] = []
        self.write("maps")
        environment = {
            "HUB_DEV_TOKEN": _TOKEN,
            "IAM_CREDENTIALS": "none",
            "ROUTES_FILE": str(self.file),
            "ROUTES_SECONDS": "0.01",
            # The pages are asked for without a pause.
            "RATE_LIMIT_PER_MINUTE": "0",
        }
        self.hub = build(read(environment), log=self._log())
        self.card = build_card(read_card(environment), log=self._log())

    def write(self, *ids: str) -> None:
        """The table now has these routes, the first one as the default."""
        self.file.write_text(
            "".join(
                f'[[routes]]\nid = "{id_}"\nname = "Agent {id_}"\ndescription = "For tests."\n'
                f'url = "{self._agent}"\nboundary = "public"\nprotocol_version = "1.0"\nbinding = "JSONRPC"\n'
                f'keywords = ["{id_}"]\npriority = {number}\n{"" if number else "default = true"}\n'
                for number, id_ in enumerate(ids)
            )
        )

    def skills(self, handle: Handler, **headers: str) -> tuple[list[str], str]:
        """Return what a card says, and its ETag; nothing where it has not changed."""
        answer = _ask(handle, "GET", _CARD, headers=headers)
        value = json.loads(answer[1]) if answer[1] else {"skills": []}
        return [skill["id"] for skill in value["skills"]], answer[2]["etag"]

    def route(self, question: str) -> str:
        """Return where a question goes."""
        body = json.dumps({"query": question}).encode()
        status, answer, _ = _ask(self.hub, "POST", "/tools/query", body)
        assert status == 200, answer
        return str(json.loads(answer)["route"])

    def pages(self) -> list[str]:
        """The routes on the hub's own page."""
        return [route["id"] for route in json.loads(_ask(self.hub, "GET", "/routes")[1])["routes"]]

    def _log(self) -> Log:
        ids = itertools.count()
        return Log(self.lines.append, clock=time.monotonic, new_id=lambda: f"request-{next(ids)}", function="test")


@pytest.fixture
def agent() -> Any:
    with AgentServer(lambda _: [message(text("Hello"))]) as agent:
        yield agent


def test_a_route_that_is_added_is_used_and_shown_without_a_new_start(tmp_path: Path, agent: AgentServer) -> None:
    house = House(tmp_path, agent.url)
    before = [house.skills(handle)[1] for handle in (house.hub, house.card)]
    assert house.route("tides tonight") == "maps"
    house.write("maps", "tides")
    for handle in (house.hub, house.card):
        _until(lambda handle=handle: house.skills(handle)[0] == ["maps", "tides"])  # type: ignore[misc]
    assert house.route("tides tonight") == "tides"
    assert house.pages() == ["maps", "tides"]
    after = [house.skills(handle)[1] for handle in (house.hub, house.card)]
    assert not set(before) & set(after)
    assert house.skills(house.card, **{"if-none-match": after[1]})[0] == []
    assert house.skills(house.card, **{"if-none-match": before[1]})[0] == ["maps", "tides"]


def test_a_broken_table_changes_nothing_and_the_log_says_why(tmp_path: Path, agent: AgentServer) -> None:
    house = House(tmp_path, agent.url)
    house.file.write_text("[[routes]]\nid = 'maps'\n")
    _until(lambda: house.pages() == ["maps"] and b"does not load" in b"".join(house.lines))
    assert house.route("tides tonight") == "maps"
    house.write("tides")
    _until(lambda: house.pages() == ["tides"])


def _until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline, "it never came true"


def _ask(
    handle: Handler, method: str, path: str, body: bytes = b"", *, headers: Mapping[str, str] | None = None
) -> tuple[int, bytes, Mapping[str, str]]:
    named = {"authorization": f"Bearer {_TOKEN}", "content-type": "application/json", **(headers or {})}
    answer = handle(Request(method=method, path=path, headers=named, read_body=body_of(body)))
    assert isinstance(answer.body, bytes)
    return answer.status, answer.body, answer.headers
