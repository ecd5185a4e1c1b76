"""Development agents that ask before they use a tool: one says what Gemini CLI's server said, one has the extension's form."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from a2a_hub.a2a.extensions.development_tool import URI
from tests.fakes.agent_server import CARD_PATH
from tests.fakes.agent_wire import Json
from tests.fakes.http_server import Exchange, HttpServer

_HEARD = Path(__file__).parents[1] / "wire" / "recorded" / "gemini-cli-a2a-server-0.25.2"
_TASK_ID, _CONTEXT_ID = "task-1", "agent-context"


class GeminiCliAgent(HttpServer):
    """Replays the turns that the text of a first message names ("write", "run", "two", "think"), each after the decision that it
    followed. To anything else while a tool call waits, it says nothing at all, as the original. Otherwise it echoes.

    `decisions` are those that came, `texts` what was said to it; `fails` takes the place of its answers.
    """

    def __init__(self) -> None:
        super().__init__(self._answer)
        self.decisions: list[Json] = []
        self.texts: list[tuple[str, str | None]] = []
        self.cancelled: list[str] = []
        self.fails: Callable[[Exchange], None] | None = None
        self._next: list[list[Json]] = []

    def _answer(self, exchange: Exchange) -> None:
        received = exchange.received
        if received.path == CARD_PATH:
            exchange.json(json.loads((_HEARD / "card.json").read_text()) | {"url": f"{self.url}/"})
        elif received.method == "GET":
            exchange.answer(404)
        elif received.json["method"] == "tasks/cancel":
            self.cancelled.append(received.json["params"]["id"])
            exchange.json(_result(_task("canceled", [])))
        elif self.fails is not None:
            self.fails(exchange)
        else:
            self._say(exchange, received.json["params"]["message"])

    def _say(self, exchange: Exchange, message: Json) -> None:
        text = "".join(part.get("text", "") for part in message["parts"])
        data = [part["data"] for part in message["parts"] if part["kind"] == "data"]
        if data:
            self.decisions += data
            events = self._next.pop(0) if self._next else None
        else:
            self.texts.append((text, message.get("taskId")))
            events = None if self._next else self._first(text)
        if events is None:
            exchange.wait_until_left()
        elif exchange.received.json["method"] == "message/send":
            exchange.json(_result(_folded(events)))
        else:
            exchange.start_stream()
            for event in events:
                exchange.event(_result(event))

    def _first(self, text: str) -> list[Json]:
        name = next((each for each in ("write", "run", "two", "think") if each in text), None)
        if name is None:
            return [
                told("text-content", {"kind": "text", "text": f"Echo: {text}"}),
                told("state-change", ends=True),
            ]
        events, *self._next = json.loads((_HEARD / f"{name}.json").read_text())
        return list(events)

    def gives_up(self, exchange: Exchange) -> None:
        """Return what it says to a decision on a call that ended with a lost connection."""
        self._cancels(exchange, told("state-change", {"kind": "text", "text": "Execution aborted."}, ends=True))

    def obeys(self, exchange: Exchange) -> None:
        """Return what it says where all that it wanted to do was rejected."""
        self._cancels(exchange, told("state-change", ends=True))

    def _cancels(self, exchange: Exchange, last: Json) -> None:
        self._next = []
        cancelled = {"request": {"callId": "call-1", "name": "write_file"}, "status": "cancelled"}
        update = told("tool-call-update", {"kind": "data", "data": cancelled}, state="input-required")
        if exchange.received.json["method"] == "message/send":
            exchange.json(_result(_folded([update, last])))
            return
        exchange.start_stream()
        for event in (update, last):
            exchange.event(_result(event))


def told(kind: str, *parts: Json, state: str = "working", ends: bool = False) -> Json:
    """A status update of Gemini CLI's; one that `ends` the turn waits for the next message."""
    status: Json = {"state": "input-required" if ends else state}
    if parts:
        status["message"] = {"kind": "message", "messageId": "m", "role": "agent", "parts": list(parts)}
    ids = {"taskId": _TASK_ID, "contextId": _CONTEXT_ID}
    return {
        "kind": "status-update",
        "status": status,
        "final": ends,
        "metadata": {"coderAgent": {"kind": kind}},
    } | ids


def _task(state: str, history: list[Any], artifacts: tuple[Json, ...] = ()) -> Json:
    return {
        "kind": "task",
        "id": _TASK_ID,
        "contextId": _CONTEXT_ID,
        "status": {"state": state},
        "history": history,
        "artifacts": list(artifacts),
        "metadata": {"__persistedState": {}},
    }


def _folded(events: list[Json]) -> Json:
    """Return what it answers without a stream: the messages of its updates are the history."""
    asked = {
        "kind": "message",
        "messageId": "asked",
        "role": "user",
        "parts": [{"kind": "text", "text": "x"}],
    }
    said = [event["status"]["message"] for event in events if event.get("status", {}).get("message")]
    artifacts = [event["artifact"] for event in events if "artifact" in event]
    return _task(events[-1]["status"]["state"], [asked, *said], tuple(artifacts))


def _result(value: Json) -> Json:
    return {"jsonrpc": "2.0", "id": 1, "result": value}


class ToolAgent(HttpServer):
    """An agent in the extension's form, over 1.0: it runs "ls" when that was allowed. It refuses whoever does not ask for the
    extension where it is `required`, and begins nothing without settings.
    """

    def __init__(self, *, required: bool = True, camel: bool = False, pending: int = 1) -> None:
        super().__init__(self._answer)
        self.messages: list[Json] = []
        self.activated: list[bool] = []
        self._required = required
        self._camel = camel
        self._pending = [f"call-{number}" for number in range(1, pending + 1)]
        self._waiting: list[str] = []
        self._said = 0

    def _answer(self, exchange: Exchange) -> None:
        received = exchange.received
        if received.path == CARD_PATH:
            exchange.json(self._card())
            return
        if received.method == "GET":
            exchange.answer(404)
            return
        active = URI in received.headers.get("a2a-extensions", "").split(",")
        message = received.json["params"]["message"]
        self.activated.append(active)
        self.messages.append(message)
        if self._required and not active:
            self._refuse(exchange, -32008, "the extension is required")
        elif active and "taskId" not in message and URI not in message.get("metadata", {}):
            self._refuse(exchange, -32602, "no settings")
        else:
            self._say(exchange, list(self._events(message, active=active)))

    def _say(self, exchange: Exchange, events: list[Json]) -> None:
        if exchange.received.json["method"] == "SendMessage":
            statuses = [event["statusUpdate"]["status"] for event in events if "statusUpdate" in event]
            history = [status["message"] for status in statuses if "message" in status]
            task = {"id": "t-1", "contextId": "c-1", "status": statuses[-1], "history": history}
            exchange.json(_result({"task": task}))
            return
        exchange.start_stream()
        for event in events:
            exchange.event(_result(event))

    def _events(self, message: Json, *, active: bool) -> list[Json]:
        begins = [{"task": {"id": "t-1", "contextId": "c-1", "status": {"state": "TASK_STATE_SUBMITTED"}}}]
        if not active:
            return [
                *begins,
                self._update("STATE_CHANGE", "INPUT_REQUIRED", {"text": "May I run ls?"}, plain=True),
            ]
        decision: Json = next((part["data"] for part in message["parts"] if "data" in part), {})
        option = decision.get("selectedOptionId" if self._camel else "selected_option_id")
        if option is None:
            self._waiting = list(self._pending)
            thought = {"data": {"subject": "Planning", "description": "what to list"}}
            asks = [self._call("PENDING", call_id) for call_id in self._pending]
            return [*begins, self._update("THOUGHT", "WORKING", thought), *asks, self._rests()]
        call_id = str(decision["toolCallId" if self._camel else "tool_call_id"])
        self._waiting.remove(call_id)
        if option == "cancel":
            told = [self._call("CANCELLED", call_id), self._says("Nothing was done.")]
        else:
            told = [
                self._says("I run it."),
                self._call("EXECUTING", call_id),
                self._call("SUCCEEDED", call_id),
            ]
            told.append(self._says("There is one file."))
        return [*told, self._rests() if self._waiting else self._update("STATE_CHANGE", "COMPLETED")]

    def _call(self, status: str, call_id: str) -> Json:
        call: Json = {"tool_call_id": call_id, "status": status, "tool_name": "ShellTool"}
        call["input_parameters"] = {"command": f"ls {call_id}"}
        if status == "PENDING":
            options = [{"id": "proceed_once", "name": "Allow Once"}, {"id": "cancel", "name": "Reject"}]
            call["confirmation_request"] = {
                "options": options,
                "execute_details": {"command": f"ls {call_id}"},
            }
        elif status == "SUCCEEDED":
            call["output"] = {"text": "a.txt"}
        return self._update("TOOL_CALL_UPDATE", "WORKING", {"data": _camel(call) if self._camel else call})

    def _says(self, text: str) -> Json:
        return self._update("TEXT_CONTENT", "WORKING", {"text": text})

    def _rests(self) -> Json:
        return self._update("STATE_CHANGE", "INPUT_REQUIRED")

    def _update(self, kind: str, state: str, *parts: Json, plain: bool = False) -> Json:
        status: Json = {"state": f"TASK_STATE_{state}"}
        if parts:
            self._said += 1
            status["message"] = {"messageId": f"m-{self._said}", "role": "ROLE_AGENT", "parts": list(parts)}
        update: Json = {"taskId": "t-1", "contextId": "c-1", "status": status}
        return {"statusUpdate": update if plain else update | {"metadata": {URI: {"kind": kind, "model": "m"}}}}

    def _refuse(self, exchange: Exchange, code: int, why: str) -> None:
        exchange.json({"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": why}})

    def _card(self) -> Json:
        extensions = [{"uri": URI, "required": self._required}]
        return {
            "name": "Tools",
            "description": "Runs ls.",
            "version": "1",
            "supportedInterfaces": [{"url": self.url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
            "capabilities": {"streaming": True, "extensions": extensions},
            "defaultInputModes": ["text/plain"],
            "defaultOutputModes": ["text/plain"],
            "skills": [{"id": "ls", "name": "ls", "description": "Lists.", "tags": []}],
        }


def _camel(value: Any) -> Any:
    match value:
        case dict():
            return {_in_camel(name): _camel(item) for name, item in value.items()}
        case list():
            return [_camel(item) for item in value]
        case _:
            return value


def _in_camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))
