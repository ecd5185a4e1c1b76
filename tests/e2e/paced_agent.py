"""A downstream agent of A2A 0.3 that stops in the middle of its answer until the test lets it go on."""

import json
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

FIRST, SECOND = "first piece, ", "second piece"
_PATIENCE_SECONDS = 30.0


class PacedAgent(ThreadingHTTPServer):
    """Streams FIRST, waits, and streams SECOND. What it was asked is in `calls`."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.calls: list[dict[str, Any]] = []
        self._may_go_on: defaultdict[str, threading.Event] = defaultdict(threading.Event)

    @property
    def url(self) -> str:
        """Return where it is called."""
        return f"http://127.0.0.1:{self.server_port}/"

    def calls_with(self, message_id: str) -> int:
        """Return how often it was asked with this message."""
        # What is asked about a task carries no message.
        return sum(call.get("message", {}).get("messageId") == message_id for call in list(self.calls))

    def let_go_on(self, message_id: str) -> None:
        """Answers to this message come to their end, those to come included."""
        self._may_go_on[message_id].set()

    def wait_for(self, message_id: str) -> bool:
        """Return True if the answer to this message may go on."""
        return self._may_go_on[message_id].wait(_PATIENCE_SECONDS)


class _Handler(BaseHTTPRequestHandler):
    server: PacedAgent

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.calls.append(request["params"])
        message_id = request["params"]["message"]["messageId"]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self._write(request["id"], {"kind": "task", "id": "task-1", "contextId": "context-1", **_status("working")})
        self._write(request["id"], _piece(FIRST, append=False))
        if self.server.wait_for(message_id):
            self._write(request["id"], _piece(SECOND, append=True))
            self._write(request["id"], {**_event("status-update"), **_status("completed"), "final": True})

    def _write(self, id_: object, result: dict[str, Any]) -> None:
        event = json.dumps({"jsonrpc": "2.0", "id": id_, "result": result})
        # A hub whose client has cancelled the task no longer listens.
        with suppress(ConnectionError):
            self.wfile.write(f"data: {event}\n\n".encode())

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on the terminal."""


def _event(kind: str) -> dict[str, Any]:
    return {"kind": kind, "taskId": "task-1", "contextId": "context-1"}


def _status(state: str) -> dict[str, Any]:
    return {"status": {"state": state}}


def _piece(text: str, *, append: bool) -> dict[str, Any]:
    artifact = {"artifactId": "answer", "parts": [{"kind": "text", "text": text}]}
    return {**_event("artifact-update"), "artifact": artifact, "append": append}


@contextmanager
def paced_agent() -> Iterator[PacedAgent]:
    """A paced agent that listens; afterwards it no longer does."""
    with PacedAgent() as agent:
        thread = threading.Thread(target=agent.serve_forever)
        thread.start()
        try:
            yield agent
        finally:
            agent.shutdown()
            thread.join()
