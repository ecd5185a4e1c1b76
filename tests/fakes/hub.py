"""The hub as it is wired for production, called in this process, with routes and tokens of the test's own."""

import itertools
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any, cast

from msgspec import structs

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import Binding, Version
from a2a_hub.boundaries.kinds import Public
from a2a_hub.http.messages import Handler, Request, Response, blocking, body_of
from a2a_hub.language_models.model import LanguageModel
from a2a_hub.routing.routes import HubProfile, Route, RouteTable
from a2a_hub.telemetry.log import Log
from functions.hub.app import build
from functions.hub.config import read
from functions.hub.downstream.interface import Downstream
from functions.hub.downstream.model_armor import ModelArmor
from tests.fakes.signatures import HUB_SETTINGS

TOKEN, OTHER_TOKEN = "one-callers-token", "another-callers-token"
_message_ids = itertools.count(1)


def route(id: str, url: str, **changes: Any) -> Route:
    """A route that is asked for by its id in the text; its names are those of no other route."""
    values: dict[str, Any] = {
        "id": id,
        "name": f"Agent {id}",
        "name_ja": f"担当{id}",
        "description": "For tests.",
        "description_ja": "テスト用。",
        "keywords": (id,),
        "priority": sum(id.encode()),
        "url": url,
        "boundary": Public(),
        "timeout_seconds": 5.0,
        "connect_timeout_seconds": 5.0,
        "stream_idle_timeout_seconds": 5.0,
    }
    return Route(**values | changes)


@dataclass(frozen=True)
class Stream:
    """An open event stream; close it with `leave`."""

    headers: Mapping[str, str]
    chunks: Iterator[bytes]

    def next_event(self) -> Any:
        """The result of the next event; None stands for a keep-alive."""
        chunk = next(self.chunks)
        return None if chunk.startswith(b":") else json.loads(chunk.removeprefix(b"data: "))["result"]

    def leave(self) -> None:
        """Return what the WSGI server does when the client has left."""
        cast("Any", self.chunks).close()


class Hub:
    """A hub whose last route is the default."""

    def __init__(
        self,
        *routes: Route,
        downstreams: Mapping[str, Downstream] | None = None,
        anonymous: bool = False,
        log_text: bool = False,
        google_credentials: bool = False,
        keep_alive_seconds: float = 15.0,
        max_body_bytes: int = 1 << 20,
        behind_gate: bool = False,
        settings: Mapping[str, str] | None = None,
        model: LanguageModel | None = None,
        armor: ModelArmor | None = None,
    ) -> None:
        self.log_lines: list[bytes] = []
        *others, last = routes
        default = structs.replace(last, default=True)
        environment = {
            "HUB_DEV_TOKEN": f"{TOKEN},{OTHER_TOKEN}",
            "IAM_CREDENTIALS": "adc" if google_credentials else "none",
            "KEEP_ALIVE_SECONDS": str(keep_alive_seconds),
            "MAX_BODY_BYTES": str(max_body_bytes),
            "LOG_TEXT": str(log_text),
            "ALLOW_ANONYMOUS": str(anonymous),
            **(HUB_SETTINGS if behind_gate else {}),
            "RATE_LIMIT_PER_MINUTE": "0",
            "QUOTA_ANONYMOUS_PER_MINUTE": "0",
            **(settings or {}),
        }
        config = read(environment)
        table = RouteTable(hub=HubProfile(), routes=(*others, default))
        config = structs.replace(config, hub=structs.replace(config.hub, table=table, unset=()))
        ids, ticks = itertools.count(1), itertools.count()
        log = Log(
            self.log_lines.append,
            clock=lambda: float(next(ticks)),
            new_id=lambda: f"request-{next(ids)}",
            function="hub",
            with_text=log_text,
        )
        handle = build(config, downstreams=downstreams, log=log, model=model, armor=armor)
        self._handle: Handler = lambda request: blocking(handle(request))

    @property
    def log(self) -> list[dict[str, Any]]:
        """The log's lines so far."""
        return [json.loads(line) for line in self.log_lines]

    def request(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        *,
        token: str | None = TOKEN,
        query: Mapping[str, list[str]] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """One request; header names in lower case."""
        named = dict(headers or {})
        if body:
            named.setdefault("content-type", "application/json")
        if token is not None:
            named.setdefault("authorization", f"Bearer {token}")
        return self._handle(
            Request(method=method, path=path, headers=named, query=query or {}, read_body=body_of(body))
        )

    def post(self, path: str, value: Any, **options: Any) -> tuple[int, Any]:
        """Status and decoded body of the answer to a JSON body."""
        response = self.request("POST", path, json.dumps(value).encode(), **options)
        assert isinstance(response.body, bytes)
        return response.status, json.loads(response.body)

    def query(self, text: str, **fields: Any) -> dict[str, Any]:
        """The answer of /tools/query."""
        token = fields.pop("token", TOKEN)
        status, value = self.post("/tools/query", {"query": text} | fields, token=token)
        assert status == 200, value
        return cast("dict[str, Any]", value)

    def send(self, text: str, **options: Any) -> dict[str, Any]:
        """The message that answers a 0.3 message/send as Gemini Enterprise sends it, or a 1.0 SendMessage."""
        status, value = self.post("/", _envelope(text, streaming=False, options=options), **options)
        assert status == 200, value
        result = value["result"]
        return cast("dict[str, Any]", result.get("message", result))

    def open(self, text: str, **options: Any) -> Stream:
        """The stream that answers message/stream, just opened."""
        body = json.dumps(_envelope(text, streaming=True, options=options)).encode()
        response = self.request("POST", "/", body, **options)
        assert response.status == 200
        if isinstance(response.body, bytes):
            # A refusal is whole at once.
            return Stream(response.headers, (chunk for chunk in response.body.split(b"\n\n") if chunk))
        assert isinstance(response.body, Iterator), response.body
        return Stream(response.headers, response.body)

    def stream(self, text: str, **options: Any) -> list[Any]:
        """All events of message/stream."""
        stream = self.open(text, **options)
        with closing(cast("Any", stream.chunks)) as chunks:
            return [json.loads(chunk.removeprefix(b"data: "))["result"] for chunk in chunks if chunk[:1] != b":"]


def settle() -> None:
    """Returns when what callers left behind has ended."""
    deadline = time.monotonic() + 10
    while any(thread.name in ("relay", "task") for thread in threading.enumerate()):
        assert time.monotonic() < deadline, "something still runs"
        time.sleep(0.001)


def person(**changes: Any) -> Call:
    """A call of somebody who reads text."""
    fields: dict[str, Any] = {"request_id": "r", "principal": None, "streaming": False, "for_ui": True}
    return Call(version=Version.V1_0, binding=Binding.JSONRPC, **fields | changes)


def text_of(message: Mapping[str, Any]) -> str:
    """The text of a message that has exactly one part."""
    (part,) = message["parts"]
    assert set(part) <= {"kind", "text"}
    return cast("str", part["text"])


def streamed_text(events: list[Any]) -> str:
    """The text of a stream's artifact updates, each of which has exactly one text part."""
    return "".join(text_of(event["artifact"]) for event in events if event["kind"] == "artifact-update")


def _envelope(text: str, *, streaming: bool, options: dict[str, Any]) -> dict[str, Any]:
    """Takes what belongs to the message out of `options`."""
    version = options.pop("version", "0.3")
    message: dict[str, Any] = {"messageId": options.pop("message_id", f"message-{next(_message_ids)}")}
    for name, key in (("context_id", "contextId"), ("metadata", "metadata"), ("extensions", "extensions")):
        if (value := options.pop(name, None)) is not None:
            message[key] = value
    parts = options.pop("parts", None)
    modes = options.pop("modes", [])
    configuration = {"acceptedOutputModes": modes}
    if version == "0.3":
        message |= {"kind": "message", "role": "user", "parts": parts or [{"kind": "text", "text": text}]}
        method = "message/stream" if streaming else "message/send"
    else:
        message |= {"role": "ROLE_USER", "parts": parts or [{"text": text}]}
        method = "SendStreamingMessage" if streaming else "SendMessage"
    params = {"message": message, "configuration": configuration}
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
