"""A hub for the console in tests, which does what hubs and agents should not: pauses, breaks off, refuses, attacks."""

import base64
import json
import threading
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from a2a_hub.routing.hub_card import ROUTE_EXTENSION
from tests.fakes.http_server import Exchange, HttpServer

_IDS = {"taskId": "task", "contextId": "context"}
HOSTILE = (
    "<img src=x onerror=alert(1)><script>alert(2)</script> [a](javascript:alert(3)) [bank](https://evil.example/x) "
    "![p](https://evil.example/pixel.png) \u202etxt.exe\u2066\u061c\U000e0041 **bold** `code` https://fine.example/a "
    "[https://mybank.example/](https://bank.example/y) https://bank.example@evil.example/z"
)

CITATIONS = [
    {
        "uri": "gs://bucket/leave.html",
        "link": "https://docs.example/leave.html",
        "title": "Leave",
        "quote": "Five paid-leave days",
    },
    {"uri": "https://docs.example/travel.pdf", "title": "Travel", "position": {"page": 3}},
    {"uri": "javascript:alert(1)", "title": "<b>None</b>"},
    {
        "uri": "gs://bucket/pay.md",
        "link": "https://docs.example/pay.md",
        "title": "Pay",
        "quote": "<b>9,000</b> euros",
        "position": {"start": 5},
        "passageId": "p",
    },
    {"uri": "gs://bucket/odd.md", "link": "https://[", "quote": "odd", "position": {"start": 1}, "passageId": "p"},
]
WHY = {
    "route": "docs",
    "declined": [{"route": "wiki", "agent": "<b>Wiki</b>", "reason": "nothing_known"}],
    "dropped": [{"text": "It is <i>9 m</i> high.", "flaws": ["figure"]}, 7],
}
DOCUMENT = {
    "title": "<i>Pay</i>",
    "link": "javascript:alert(4)",
    "before": f"{HOSTILE}\n",
    "quote": "<b>9,000</b> euros",
    "after": "\n" + "more\n" * 500,
}


class FakeHub(HttpServer):
    """Knows every token but "of-a-stranger". `/google` is Google's page, where all agree at once, `/token` its endpoint."""

    def __init__(self) -> None:
        super().__init__(self._answer)
        self.go_on = threading.Event()
        self.cancelled = threading.Event()
        self.token = "of-hanako"
        self.email = "hanako@example.com"
        self.report: Any = None
        self.document: Any = None
        self.activity: Any = None
        self.routes: list[dict[str, Any]] = []
        self.tasks: list[dict[str, Any]] = []
        self.restarts = 0

    def _answer(self, exchange: Exchange) -> None:
        received = exchange.received
        url = urlsplit(received.path)
        if url.path == "/google":
            asked = {name: values[0] for name, values in parse_qs(url.query).items()}
            back = urlencode({"code": "code", "state": asked["state"]})
            exchange.answer(303, location=f"{asked['redirect_uri']}?{back}")
        elif url.path == "/token":
            claims = base64.urlsafe_b64encode(
                json.dumps({"email": self.email, "aud": "client", "exp": 4e9}).encode()
            ).decode()
            exchange.json({"access_token": self.token, "expires_in": 3600, "id_token": f".{claims}."})
        elif received.headers.get("authorization") == "Bearer of-a-stranger":
            exchange.json({"error": {"code": 401}}, 401)
        elif url.path == "/tools/query":
            exchange.json({"data": self.document})
        elif url.path == "/routes":
            exchange.json({"routes": self.routes})
        elif url.path in ("/doctor", "/activity"):
            told = self.report if url.path == "/doctor" else self.activity
            exchange.json(*(({"detail": "Only operators may see this"}, 403) if told is None else (told,)))
        else:
            self._rpc(exchange, received.json)

    def _rpc(self, exchange: Exchange, request: Any) -> None:
        if request["method"] == "CancelTask":
            self.cancelled.set()
            exchange.json({"result": {"id": "task"}})
            return
        if request["method"] == "ListTasks":
            exchange.json({"result": {"tasks": self.tasks}})
            return
        if request["method"] == "GetTask":
            exchange.json({"result": self.tasks[0] if self.tasks else {"id": "task", **task_state("WORKING")}})
            return
        if request["method"] == "SubscribeToTask":
            if self.restarts:
                self.restarts -= 1
                exchange.json({"error": {"code": -32603}}, 503)
                return
            exchange.start_stream()
            artifact = {"artifactId": "a", "parts": [{"text": "whole after all"}]}
            exchange.event({"result": {"task": {"id": "task", "artifacts": [artifact], **task_state("COMPLETED")}}})
            return
        parts = request["params"]["message"]["parts"]
        text = parts[0]["text"]
        if request["method"] in ("SendMessage", "message/send"):
            answer = {"parts": [{"text": HOSTILE}]}
            exchange.json({"result": answer if request["method"] == "message/send" else {"message": answer}})
            return
        if text in ("busy", "revoked"):
            status = 429 if text == "busy" else 401
            exchange.answer(status, b"{}", content_type="application/json", retry_after="7")
            return
        if text == "late" and "taskId" in request["params"]["message"]:
            exchange.json({"error": {"code": -32600, "message": "The task has ended"}})
            return
        exchange.start_stream()
        exchange.event({"result": {"task": {"id": "task", "contextId": "context", **task_state("WORKING")}}})
        if text == "hostile":
            self._say(exchange, HOSTILE)
        elif text == "cite":
            self._say(exchange, "Five days. [1]")
            self._say(exchange, "\n\nSources:\n[1] Leave: “Five paid-leave days”", append=True)
        elif text == "huge":
            self._say(exchange, "<b>" + "x" * 10_000_000)
        elif text == "malformed":
            self._say(exchange, "42")
            metadata = {ROUTE_EXTENSION: {"route": 1, "words": None, "rule": "keyword", "citations": [None]}}
            exchange.event({"result": {"statusUpdate": {**_IDS, **task_state("COMPLETED"), "metadata": metadata}}})
            return
        elif text == "fail":
            exchange.event(
                {"result": {"statusUpdate": {**_IDS, **task_state("FAILED"), "metadata": {ROUTE_EXTENSION: WHY}}}}
            )
            return
        elif text == "choose":
            asking = task_state("INPUT_REQUIRED")
            asking["status"]["message"] = {"parts": [{"text": "Which?\n1. One\n2. Two"}]}
            exchange.event({"result": {"statusUpdate": {**_IDS, **asking}}})
            return
        elif text == "file":
            self._say(exchange, f"{parts[1]['filename']}: {parts[1]['mediaType']} {parts[1]['raw']}")
        else:
            self._say(exchange, "the first words")
            if text == "break":
                exchange.close()
                return
            self.go_on.wait(20)
            self._say(exchange, ", and the last", append=True)
        last = {
            **_IDS,
            **task_state("COMPLETED"),
            "metadata": {ROUTE_EXTENSION: {"route": "docs", "citations": CITATIONS} if text == "cite" else WHY},
        }
        exchange.event({"result": {"statusUpdate": last}})

    def _say(self, exchange: Exchange, text: str, *, append: bool = False) -> None:
        artifact = {"artifactId": "a", "parts": [{"text": text}]}
        exchange.event({"result": {"artifactUpdate": {**_IDS, "artifact": artifact, "append": append}}})


def task_state(name: str) -> dict[str, Any]:
    return {"status": {"state": f"TASK_STATE_{name}"}}
