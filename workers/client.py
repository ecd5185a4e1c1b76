"""A worker's side of the tasks function: leases a task, keeps the lease while it is worked on, reports the result.

To copy: it needs nothing but Python. docs/workers.md says what it talks to.
"""

import contextlib
import http.client
import json
import logging
import random
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from typing import Any

_BROKE_OFF = "The work on this task broke off. / このタスクの処理は中断しました。"
_NOT_OURS = ("LEASE_LOST", "TASK_ENDED", "WRONG_VERSION")
_log = logging.getLogger("worker")
Credential = Callable[[], Mapping[str, str]]
"""The headers that say who the worker is; see workers/credentials.py."""


class Failed(Exception):
    """Raised by the work: the task has failed, and the user reads this text."""


class Question(Exception):
    """Raised by the work: the user is asked this text, and the task comes back with the answer in its history."""


class Refused(Exception):
    """The function says no: to the request, the credential, or the lease."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        super().__init__(problem.get("detail") or f"status {status}")
        self.reason = problem.get("reason")


class Work:
    """One task in this worker's hands. `cancelled` is set when there is no use in going on."""

    def __init__(self, client: "Client", leased: dict[str, Any]) -> None:
        self.text, self.history, self.attempt = leased["text"], leased["history"], leased["attempt"]
        self.task_id, self._seconds = leased["taskId"], leased["leaseSeconds"]
        self.cancelled, self.finished = threading.Event(), threading.Event()
        self._client, self._lease = client, leased["lease"]
        self._version: int | None = leased["version"]
        self._until = time.monotonic() + self._seconds
        self._writing = threading.Lock()

    def progress(self, text: str, artifact: dict[str, Any] | None = None, *, append: bool = False) -> None:
        """Tells the user how far it is, and gives them a part of the result: an artifact of A2A."""
        parts = [{"artifact": artifact, "append": append}] if artifact else []
        self.write("progress", updates=[{"status": "in_progress", "text": text}, *parts])

    def write(self, verb: str, **fields: Any) -> None:
        """Sends a write until it is taken, once. Raises Refused when the task is this worker's no more, or OSError."""
        with self._writing:
            sent_before = False
            while True:
                try:
                    self._version = self._post(verb, version=self._version, **fields)
                    return
                except Refused as refused:
                    if not sent_before or refused.reason not in ("WRONG_VERSION", "TASK_ENDED"):
                        raise
                    # Not the write was lost, but the answer to it.
                    self._version = None
                    return
                except OSError:
                    sent_before = True
                    if time.monotonic() > self._until:
                        raise
                    time.sleep(random.uniform(0.2, 1.0))

    def keep_lease(self) -> None:
        """Renews at a third of the lease's length until the work is finished, or there is no use in it."""
        pause = self._seconds / 3
        while not self.finished.wait(pause) and not self.cancelled.is_set():
            started, pause = time.monotonic(), self._seconds / 3
            try:
                self._post("renew", leaseSeconds=self._seconds)
                self._until = started + self._seconds
            except Refused:
                self.cancelled.set()
            except OSError:
                pause = min(1.0, pause)
                if time.monotonic() > self._until:
                    self.cancelled.set()

    def _post(self, verb: str, **fields: Any) -> int:
        answer = self._client.post(f"/v1/tasks/{self.task_id}:{verb}", {"lease": self._lease, **fields})
        assert answer is not None, "every write is answered"
        if answer["cancelRequested"]:
            self.cancelled.set()
        return int(answer["version"])


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect is an answer like any other: urllib would take the credential along, wherever it leads."""

    def redirect_request(self, *_: Any) -> None:
        """Nowhere."""


class Client:
    """Works for the tasks function at `url`, on `roles`, or on all that the credential has."""

    def __init__(
        self,
        url: str,
        credential: Credential,
        *,
        roles: Sequence[str] = (),
        lease_seconds: int = 60,
        wait_seconds: int = 30,
    ) -> None:
        self._url, self._credential = url.rstrip("/"), credential
        self._open = urllib.request.build_opener(_NoRedirects).open
        self._ask = {"roles": list(roles), "leaseSeconds": lease_seconds, "waitSeconds": wait_seconds}

    def run(self, do: Callable[[Work], str], *, stopping: threading.Event | None = None) -> None:
        """Does one task after the other until `stopping`. What `do` returns is the answer. Raises Refused."""
        stopping = stopping or threading.Event()
        failures = 0
        while not stopping.is_set():
            asked = time.monotonic()
            try:
                leased = self.post("/v1/tasks:lease", self._ask)
            except OSError as problem:
                _log.warning("no work to be had: %s", problem)
                failures = min(failures + 1, 6)
                stopping.wait(random.uniform(0.25, 0.5) * 2**failures)
                continue
            failures = 0
            if leased:
                self._work(Work(self, leased), do)
            elif time.monotonic() - asked < 1:
                stopping.wait(random.uniform(1.0, 3.0))  # So many wait already that this one was not held.

    def post(self, path: str, value: object) -> dict[str, Any] | None:
        """The answer; None for no content. Raises Refused, or OSError: then nobody can say, and to try again is right."""
        headers = {"Content-Type": "application/json", **self._credential()}
        request = urllib.request.Request(self._url + path, json.dumps(value).encode(), headers)
        try:
            with self._open(request, timeout=90) as answer:
                return json.loads(answer.read() or b"null")  # type: ignore[no-any-return]
        except http.client.HTTPException as error:
            raise OSError("the answer broke off") from error
        except urllib.error.HTTPError as error:
            with error:
                body = error.read()
            if error.code >= 500 or error.code in (408, 429):
                raise OSError(f"status {error.code}") from None
            problem = "problem+json" in error.headers.get("Content-Type", "")
            raise Refused(error.code, json.loads(body) if problem else {}) from None

    def _work(self, work: Work, do: Callable[[Work], str]) -> None:
        threading.Thread(target=work.keep_lease, daemon=True).start()
        try:
            verb, fields = _outcome(work, do)
            if not work.cancelled.is_set():
                _report(work, verb, fields)
        except (OSError, Refused) as problem:
            _log.warning("task %s is given up: %s", work.task_id, problem)
        finally:
            work.finished.set()


def _report(work: Work, verb: str, fields: dict[str, str]) -> None:
    try:
        work.write(verb, **fields)
    except Refused as refused:
        if refused.reason in _NOT_OURS:
            raise
        # Done again, it would be refused again.
        _log.error("what the work on task %s came to was not taken: %s", work.task_id, refused)
        work.write("fail", reason=_BROKE_OFF)


def _outcome(work: Work, do: Callable[[Work], str]) -> tuple[str, dict[str, str]]:
    try:
        text = do(work)
        if not isinstance(text, str) or not text:
            raise TypeError("the work has to return a text that is not empty")
        return "complete", {"text": text}
    except Question as question:
        return "requireInput", {"text": str(question)}
    except Failed as failed:
        return "fail", {"reason": str(failed)}
    except Exception:
        _log.exception("the work on task %s failed", work.task_id)
        return "fail", {"reason": _BROKE_OFF}
    except BaseException:
        # This program is being ended: the next worker need not wait for the lease to run out.
        with contextlib.suppress(OSError, Refused):
            work.write("release")
        raise
