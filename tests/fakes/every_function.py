"""Every function with the settings that it needs, in this process or in one of its own, and a text in a request to it."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from itertools import count
from pathlib import Path

from a2a_hub.http.messages import Handler, Request, Response, body_of
from tests.fakes.agent_server import AgentServer, ReceivedMessage
from tests.fakes.agent_wire import Json, message, text
from tests.fakes.http_server import Exchange, HttpServer
from tests.fakes.signatures import GATE_SETTINGS, HUB_SETTINGS, TASKS_SETTINGS

TOKEN = "the-token-of-the-caller-who-sends-all-these-texts"
FUNCTIONS = ("docqa", "general", "expense", "pm", "devtool", "hub", "gate", "agent_card", "tasks")
JSON_RPC, REST = "JSON-RPC", "HTTP+JSON"
_AGENT_URLS = ("PM_URL", "EXPENSE_URL", "DOCQA_URL", "DEVTOOL_URL", "GENERAL_URL")
_CALLERS = {
    "HUB_DEV_TOKEN": TOKEN,
    "IAM_CREDENTIALS": "none",
    "RATE_LIMIT_PER_MINUTE": "0",
}
_ids = count(1)


class Neighbours:
    """The addresses of an agent and of a hub that answer at once, whatever they are sent."""

    def __init__(self, agent_url: str, hub_url: str) -> None:
        self.agent_url = agent_url
        self.hub_url = hub_url


@contextmanager
def neighbours() -> Iterator[Neighbours]:
    """Both of them, for as long as a test runs. They keep none of the texts."""

    def script(_: ReceivedMessage) -> list[Json]:
        agent.received.clear()
        agent.said.clear()
        return [message(text("Yes."))]

    def answer(exchange: Exchange) -> None:
        hub.received.clear()
        exchange.json({"hub": True})

    with AgentServer(script) as agent, HttpServer(answer) as hub:
        yield Neighbours(agent.url, hub.url)


def settings_of(name: str, folder: Path, near: Neighbours) -> dict[str, str]:
    """The settings of a function; its files are in `folder`."""
    store = {"TASK_STORE": f"sqlite:{folder / f'{name}.sqlite3'}"}
    match name:
        case "docqa":
            return {"CORPUS_INDEX": str(folder / "index.sqlite3")}
        case "devtool":
            return {**store, "ALLOW_ANONYMOUS": "true", "ANONYMOUS_SUBJECT": "hub", "DEVTOOL_WORKSPACES": str(folder)}
        case "hub":
            # Without a store: SQLite copies its log into the file from 4 MB on, which more than doubles what a text costs there.
            return {**_CALLERS, **HUB_SETTINGS, **dict.fromkeys(_AGENT_URLS, near.agent_url)}
        case "gate":
            return {**_CALLERS, **GATE_SETTINGS, "HUB_URL": near.hub_url, "AGENT_CARD_URL": near.hub_url}
        case "tasks":
            return {**_CALLERS, **TASKS_SETTINGS, **store, "HUB_URL": near.hub_url}
        case _:
            return {}


def handler_of(name: str, settings: Mapping[str, str]) -> Handler:
    """The function in this process."""
    has_own_settings = name not in ("expense", "pm", "general")
    config = import_module(f"functions.{name}.config" if has_own_settings else "a2a_hub.agents.settings")
    handler: Handler = import_module(f"functions.{name}.app").build(config.read({"PORT": "1", **settings}))
    return handler


def request_with(words: str, name: str, binding: str) -> tuple[str, bytes]:
    """The path and the body of a request with this text."""
    if name == "tasks":
        return "/v1/tasks:lease", encoded({"roles": [words], "text": words})
    asked = {"message": {"messageId": f"m-{next(_ids)}", "role": "ROLE_USER", "parts": [{"text": words}]}}
    if binding == JSON_RPC:
        return "/", encoded({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": asked})
    return "/message:send", encoded(asked)


def headers_of(name: str) -> dict[str, str]:
    """The headers of such a request."""
    named = {"host": "127.0.0.1", "content-type": "application/json", "a2a-version": "1.0"}
    return named if name == "devtool" else named | {"authorization": f"Bearer {TOKEN}"}


def post(handle: Handler, path: str, body: bytes, name: str) -> Response:
    """The answer of a function in this process."""
    return handle(Request(method="POST", path=path, headers=headers_of(name), read_body=body_of(body)))


def encoded(value: Mapping[str, object]) -> bytes:
    """The value as JSON, with escapes only where a text is no Unicode."""
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()
