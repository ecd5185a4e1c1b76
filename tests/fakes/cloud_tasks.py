"""Google Cloud Tasks (REST, v2) as its documentation describes it: times, names that count once, retries, deadlines, ID tokens.

PyPI's emulator accepts a name twice and sends no ID token, which are the two things that the hub relies on.
"""

import base64
import http.client
import re
import threading
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tests.fakes.http_server import Exchange, HttpServer

QUEUE = "projects/p/locations/asia-northeast1/queues/a2a-wakeups"
ACCESS_TOKEN = "ya29.access"
_NAME = re.compile(re.escape(QUEUE) + r"/tasks/[A-Za-z0-9_-]{1,500}")
_DEADLINE = re.compile(r"([0-9.]+)s")
_MIN_DEADLINE_SECONDS, _MAX_DEADLINE_SECONDS = 15, 1800
_FIRST_PAUSE_SECONDS = 0.1
_MAX_ATTEMPTS = 20


class Dispatched(NamedTuple):
    """One attempt to deliver a task: how late it was sent, and the status of its answer; 0 without one."""

    name: str
    early_seconds: float
    status: int


class CloudTasks(HttpServer):
    """The API and its one queue. `id_token` makes the token of an account for an audience."""

    def __init__(self, *, id_token: Callable[[str, str], str]) -> None:
        super().__init__(self._create)
        self._id_token = id_token
        self._names: set[str] = set()
        self._ended = threading.Event()
        self.dispatched: list[Dispatched] = []

    def __exit__(self, *exception: object) -> None:
        self._ended.set()
        super().__exit__(*exception)

    def _create(self, exchange: Exchange) -> None:
        received = exchange.received
        if received.headers.get("authorization") != f"Bearer {ACCESS_TOKEN}":
            exchange.json({"error": {"code": 401, "status": "UNAUTHENTICATED"}}, 401)
        elif (received.method, received.path) != ("POST", f"/v2/{QUEUE}/tasks"):
            exchange.json({"error": {"code": 404, "status": "NOT_FOUND"}}, 404)
        elif not _is_well_formed(task := received.json["task"]):
            exchange.json({"error": {"code": 400, "status": "INVALID_ARGUMENT"}}, 400)
        elif task["name"] in self._names:
            # Also for a task that has been delivered: for up to 24 hours.
            exchange.json({"error": {"code": 409, "status": "ALREADY_EXISTS"}}, 409)
        else:
            self._names.add(task["name"])
            threading.Thread(target=self._dispatch, args=(task,), daemon=True).start()
            exchange.json(task)

    def _dispatch(self, task: dict[str, Any]) -> None:
        at = datetime.fromisoformat(task["scheduleTime"]).timestamp()
        pause = at - time.time()
        for attempt in range(_MAX_ATTEMPTS):
            if self._ended.wait(max(pause, 0)):
                return
            early = at - time.time()
            status = self._post(task, attempt)
            self.dispatched.append(Dispatched(task["name"], early, status))
            if 200 <= status < 300:
                return
            pause = _FIRST_PAUSE_SECONDS * 2**attempt

    def _post(self, task: dict[str, Any], attempt: int) -> int:
        wanted = task["httpRequest"]
        url, token = urlsplit(wanted["url"]), wanted["oidcToken"]
        found = _DEADLINE.fullmatch(task["dispatchDeadline"])
        assert found
        connection = http.client.HTTPConnection(url.netloc, timeout=float(found[1]))
        headers = {
            **wanted["headers"],
            "Authorization": f"Bearer {self._id_token(token['serviceAccountEmail'], token['audience'])}",
            "X-CloudTasks-QueueName": QUEUE.rpartition("/")[2],
            "X-CloudTasks-TaskName": task["name"].rpartition("/")[2],
            "X-CloudTasks-TaskRetryCount": str(attempt),
        }
        try:
            connection.request(wanted["httpMethod"], url.path, base64.b64decode(wanted["body"]), headers)
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return 0
        finally:
            connection.close()


def _is_well_formed(task: dict[str, Any]) -> bool:
    deadline = _DEADLINE.fullmatch(task["dispatchDeadline"])
    return (
        _NAME.fullmatch(task["name"]) is not None
        and deadline is not None
        and _MIN_DEADLINE_SECONDS <= float(deadline[1]) <= _MAX_DEADLINE_SECONDS
        and task["httpRequest"]["httpMethod"] == "POST"
    )
