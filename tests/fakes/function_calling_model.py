"""A Gemini that calls functions, as generateContent speaks on the wire: what it says follows from what was said to it."""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.fakes.http_server import Exchange, HttpServer

Part = dict[str, Any]


@dataclass(frozen=True)
class ModelRequest:
    """A request: `text` is what was said last, or else `results` are what the functions answered, by their names."""

    body: Mapping[str, Any]

    @property
    def parts(self) -> Sequence[Part]:
        """Of the last content."""
        parts: Sequence[Part] = self.body["contents"][-1]["parts"]
        return parts

    @property
    def text(self) -> str:
        """Of the last content."""
        return "".join(part.get("text", "") for part in self.parts)

    @property
    def results(self) -> Mapping[str, Any]:
        """Of the last content."""
        answers = [part["functionResponse"] for part in self.parts if "functionResponse" in part]
        return {answer["name"]: answer["response"] for answer in answers}

    @property
    def tools(self) -> Mapping[str, Any]:
        """The functions that may be called."""
        declared = [tool for tools in self.body.get("tools", ()) for tool in tools["functionDeclarations"]]
        return {tool["name"]: tool for tool in declared}

    @property
    def instruction(self) -> str:
        """The system instruction."""
        return "".join(part["text"] for part in self.body["systemInstruction"]["parts"])


Says = Callable[[ModelRequest], Sequence[Part] | Part | str]


class FunctionCallingModel:
    """The server; `heard` are the requests. `broken` is a status that it answers instead."""

    def __init__(self, says: Says) -> None:
        self.says = says
        self.heard: list[ModelRequest] = []
        self.broken = 0
        self._thinking: threading.Event | None = None
        self.finish = "STOP"
        self.server = HttpServer(self._behave)

    def hold(self) -> threading.Event:
        """The next request is not answered before its sender is gone; set when it is there."""
        thinking = self._thinking = threading.Event()
        return thinking

    def _behave(self, exchange: Exchange) -> None:
        if not exchange.received.path.split("?")[0].endswith(":generateContent"):
            exchange.json({"error": {"code": 404, "message": "Not found", "status": "NOT_FOUND"}}, 404)
            return
        heard = ModelRequest(json.loads(exchange.received.body))
        self.heard.append(heard)
        if self.broken:
            exchange.json({"error": {"code": self.broken, "message": "No"}}, self.broken)
            return
        if self._thinking:
            thinking, self._thinking = self._thinking, None
            thinking.set()
            exchange.wait_until_left()
            return
        said = self.says(heard)
        parts = [{"text": said}] if isinstance(said, str) else [said] if isinstance(said, dict) else list(said)
        candidate = {"content": {"role": "model", "parts": parts}, "finishReason": self.finish}
        exchange.json({"candidates": [candidate], "usageMetadata": {"totalTokenCount": 1}})


def call(name: str, **arguments: Any) -> Part:
    """A call of a function."""
    return {"functionCall": {"name": name, "args": arguments}}
