"""An agent whose tasks go on whoever listens: what it has to say is a matter of time, and `GetTask` tells how far it is."""

import threading
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

from a2a_hub.runtime.ids import random_hex
from tests.fakes.http_server import Exchange, HttpServer

Json = dict[str, Any]
PIECES = ("first ", "second ", "third: ")


@dataclass(frozen=True, kw_only=True)
class _Work:
    id: str
    text: str
    started: float
    seconds: float

    def pieces(self) -> list[str]:
        """Return what is said by now; the text itself comes last."""
        share = (time.monotonic() - self.started) / self.seconds
        said = int(share * (len(PIECES) + 1)) if share < 1 else len(PIECES) + 1
        return [*PIECES, self.text][:said]


def answer_to(text: str) -> str:
    """All that the agent says to this text."""
    return "".join([*PIECES, text])


class LongRunningAgent(HttpServer):
    """A2A 1.0 over JSON-RPC. A task takes `seconds`; `asked` counts by message id how often each was begun.

    Without `remembers`, it knows no task: whoever lost the connection has to ask again.
    """

    def __init__(self, *, seconds: float, remembers: bool = True, port: int = 0) -> None:
        super().__init__(self._answer, port=port)
        self.asked: Counter[str] = Counter()
        self.seconds = seconds
        self.began = threading.Semaphore(0)
        self._remembers = remembers
        self._works: dict[str, _Work] = {}

    def await_question(self) -> None:
        """Somebody has asked."""
        assert self.began.acquire(timeout=30)

    def _answer(self, exchange: Exchange) -> None:
        if exchange.received.method == "GET":
            exchange.json(_card(self.url))
            return
        body = exchange.received.json
        match body["method"]:
            case "SendStreamingMessage":
                exchange.start_stream()
                work = self._begin(body["params"]["message"])
                for event in _events(work):
                    exchange.event({"jsonrpc": "2.0", "id": body["id"], "result": event})
                    if "statusUpdate" in event:
                        return
                    exchange.pause(work.seconds / 20)
            case "SendMessage":
                work = self._begin(body["params"]["message"])
                exchange.pause(work.seconds)
                exchange.json({"jsonrpc": "2.0", "id": body["id"], "result": {"task": _task(work, ended=True)}})
            case "GetTask" if self._remembers and body["params"]["id"] in self._works:
                task = _task(self._works[body["params"]["id"]])
                exchange.json({"jsonrpc": "2.0", "id": body["id"], "result": task})
            case _:
                error = {"code": -32001, "message": "Task not found"}
                exchange.json({"jsonrpc": "2.0", "id": body["id"], "error": error})

    def _begin(self, message: Json) -> _Work:
        number = f"theirs-{random_hex()}"
        work = _Work(id=number, text=message["parts"][0]["text"], started=time.monotonic(), seconds=self.seconds)
        self._works[number] = work
        self.asked[message["messageId"]] += 1
        self.began.release()
        return work


def _events(work: _Work) -> Any:
    yield {"task": _task(work) | {"artifacts": []}}
    said = 0
    while True:
        pieces = work.pieces()
        for piece in pieces[said:]:
            artifact = {"artifactId": f"artifact-of-{work.id}", "parts": [{"text": piece}]}
            update = {"taskId": work.id, "contextId": "theirs", "artifact": artifact, "append": said > 0}
            yield {"artifactUpdate": update}
            said += 1
        if len(pieces) > len(PIECES):
            status = {"state": "TASK_STATE_COMPLETED"}
            yield {"statusUpdate": {"taskId": work.id, "contextId": "theirs", "status": status}}
            return
        time.sleep(work.seconds / 50)


def _task(work: _Work, *, ended: bool = False) -> Json:
    pieces = [*PIECES, work.text] if ended else work.pieces()
    state = "TASK_STATE_COMPLETED" if len(pieces) > len(PIECES) else "TASK_STATE_WORKING"
    parts = [{"text": piece} for piece in pieces]
    artifact = {"artifactId": f"artifact-of-{work.id}", "parts": parts}
    value = {"id": work.id, "contextId": "theirs", "status": {"state": state}}
    return value | ({"artifacts": [artifact]} if parts else {})


def _card(url: str) -> Json:
    return {
        "name": "A lasting agent",
        "description": "Takes its time.",
        "version": "1",
        "capabilities": {"streaming": True},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "last", "name": "Last", "description": "Lasts", "tags": []}],
        "supportedInterfaces": [{"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
    }
