"""An agent that gives back what it gets, served as a function serves its own, called in the process."""

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from a2a_hub.a2a.bindings import sse
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.card import AgentCard
from a2a_hub.a2a.model import SendMessageRequest, Version, text_of
from a2a_hub.a2a.reply import Data, Failure, Piece, Progress, Question, Text
from a2a_hub.agents.function import agent_card, agent_function
from a2a_hub.http.messages import Handler, Request, Response, blocking, body_of
from a2a_hub.runtime.ids import new_id
from a2a_hub.telemetry.log import Log

SECRET = "the secret is 12345"
URL = "https://agent.example.com/"
CARD = agent_card(name="Echo", description="Says it again", version="1.2.3", url=URL, skills=())


def echo(request: SendMessageRequest, call: Call) -> Iterator[Piece]:
    """The message's text and data again; `fail`, `ask` and `crash` do what they say."""
    yield Progress("listening")
    match text_of(request.message):
        case "fail":
            yield Failure("It did not work.")
        case "ask":
            yield Question("Which month?")
        case "crash":
            raise RuntimeError(SECRET)
        case text:
            yield Text(text[: len(text) // 2])
            yield Text(text[len(text) // 2 :])
    yield Data({"metadata": request.message.metadata, "principal": call.principal is not None})


@dataclass(frozen=True)
class Served:
    """The handler, and the lines of its log."""

    handle: Handler
    log_lines: list[bytes]

    def send(
        self,
        method: str,
        path: str,
        body: bytes | Any = b"",
        *,
        query: Mapping[str, list[str]] | None = None,
        headers: Mapping[str, str] | None = None,
        **named: str,
    ) -> Response:
        """One request; a body that is not bytes is sent as JSON. `named` are headers with underscores in their names."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        given = {"content-type": "application/json"} if raw else {}
        given |= {name.replace("_", "-"): value for name, value in named.items()} | dict(headers or {})
        request = Request(method=method, path=path, headers=given, query=query or {}, read_body=body_of(raw))
        return blocking(self.handle(request))


def served(card: AgentCard = CARD, *, with_text: bool = False, project: str | None = None) -> Served:
    """A new function around `echo`."""
    lines: list[bytes] = []
    log = Log(
        lines.append,
        clock=time.monotonic,
        new_id=new_id,
        function="echo",
        project=project,
        with_text=with_text,
    )
    return Served(agent_function(echo, card=card, log=log), lines)


def whole(response: Response) -> bytes:
    """All bytes of a response, closed afterwards as a WSGI server does."""
    if isinstance(response.body, bytes):
        return response.body
    assert isinstance(response.body, Iterator)
    try:
        return b"".join(response.body)
    finally:
        close = getattr(response.body, "close", None)
        if close is not None:
            close()


def answer_of(response: Response) -> Any:
    """The JSON of a response, or the list of its events' JSON."""
    body = whole(response)
    if response.headers["content-type"] == "text/event-stream":
        return [json.loads(data) for data in sse.read([body], limit_bytes=len(body))]
    return json.loads(body)


@dataclass(frozen=True)
class Way:
    """One of the four ways to send a message."""

    version: Version
    rest: bool
    streaming: bool = False

    def __str__(self) -> str:
        binding = "rest" if self.rest else "jsonrpc"
        return f"{self.version}-{binding}{'-stream' if self.streaming else ''}"

    @property
    def path(self) -> str:
        verb = "stream" if self.streaming else "send"
        return f"{'/v1' if self.version is Version.V0_3 else ''}/message:{verb}" if self.rest else "/"

    @property
    def method(self) -> str:
        """The JSON-RPC method."""
        if self.version is Version.V0_3:
            return "message/stream" if self.streaming else "message/send"
        return "SendStreamingMessage" if self.streaming else "SendMessage"

    @property
    def parts(self) -> str:
        """Return what the message's parts are called."""
        return "content" if self.rest and self.version is Version.V0_3 else "parts"

    def params(self, text: str = "hello") -> dict[str, Any]:
        """Valid parameters."""
        if self.version is Version.V0_3 and not self.rest:
            part = {"kind": "text", "text": text}
            return {"message": {"kind": "message", "messageId": "m-1", "role": "user", "parts": [part]}}
        return {"message": {"messageId": "m-1", "role": "ROLE_USER", self.parts: [{"text": text}]}}

    def body(self, params: Any, id_: Any = "r-1") -> Any:
        """The request's body around these parameters."""
        return params if self.rest else {"jsonrpc": "2.0", "id": id_, "method": self.method, "params": params}


WAYS = [Way(version, rest, streaming) for version in Version for rest in (False, True) for streaming in (False, True)]


def error_of(way: Way, response: Response) -> tuple[int, dict[str, Any], Any]:
    """(HTTP status, error object, id) of an error response, whose form is checked against the way of the request."""
    body = whole(response)
    assert b"Traceback" not in body
    if way.rest:
        assert response.headers["content-type"] in ("application/json", "application/a2a+json")
        answer = json.loads(body)
        assert answer.keys() == {"error"}
        assert answer["error"]["code"] == response.status
        return response.status, answer["error"], None
    if response.headers["content-type"] == "text/event-stream":
        (event,) = sse.read([body], limit_bytes=len(body))
        answer = json.loads(event)
    else:
        answer = json.loads(body)
    assert answer.keys() == {"jsonrpc", "id", "error"}
    assert answer["jsonrpc"] == "2.0"
    return response.status, answer["error"], answer["id"]


def fields_named(error: dict[str, Any]) -> list[str]:
    """The fields in an error's BadRequest detail."""
    return [
        violation["field"]
        for detail in error.get("data", error.get("details", ()))
        if detail["@type"].endswith("BadRequest")
        for violation in detail["fieldViolations"]
    ]
