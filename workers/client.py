"""The client of a pull worker: `Client.run` calls a function for each task and reports its result (docs/workers.md)."""

import contextlib
import http.client
import json
import logging
import random
import signal
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

Credential = Callable[[], Mapping[str, str]]
"""Returns the headers that authenticate the worker."""
_METADATA = "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/identity"
SETTINGS_HELP = (
    "Two settings come from the environment: TASKS_URL, the address of the tasks function, and WORKER_TOKEN, this worker's "
    "token. Without a token, the worker signs in with the Google Cloud account that it runs as."
)
_UNFINISHED = "The work on this task broke off. / このタスクの処理は中断しました。"
_SOON_SECONDS, _LONGEST_HELD_SECONDS = 1.0, 60
_NOT_HELD = ("LEASE_LOST", "TASK_ENDED", "WRONG_VERSION")
_log = logging.getLogger("worker")


class Refused(Exception):
    """The function's rejection of a request, credential or lease."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        super().__init__(problem.get("detail") or f"status {status}")
        self.reason = problem.get("reason")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A handler that follows no redirects: urllib would send the credential to any host."""

    def redirect_request(self, *_: Any) -> None:
        """Follow no redirect."""


class TasksFunction:
    """The tasks function at `url`, called with the credential."""

    def __init__(self, url: str, credential: Credential) -> None:
        self._url, self._credential = url.rstrip("/"), credential
        self._open = urllib.request.build_opener(_NoRedirects).open

    def post(self, path: str, value: object) -> dict[str, Any]:
        """Return the answer, empty for no content. Raise Refused, or OSError if the outcome is unknown and a retry is right."""
        headers = {"Content-Type": "application/json", **self._credential()}
        request = urllib.request.Request(self._url + path, json.dumps(value).encode(), headers)
        try:
            with self._open(request, timeout=90) as answer:
                return json.loads(answer.read() or b"{}")  # type: ignore[no-any-return]
        except (http.client.HTTPException, ValueError) as error:
            raise OSError("the answer broke off, or is no JSON") from error
        except urllib.error.HTTPError as error:
            with error:
                body = error.read()
            if error.code >= 500 or error.code in (408, 429):
                raise OSError(f"status {error.code}") from None
            problem: Any = {}
            with contextlib.suppress(ValueError):
                problem = json.loads(body)
            raise Refused(error.code, problem if isinstance(problem, dict) else {}) from None


class Lease:
    """The lease on a task, renewed in a thread. `abandoned` is set when the lease is lost or the task was cancelled."""

    def __init__(self, function: TasksFunction, leased: dict[str, Any]) -> None:
        self.abandoned, self._finished = threading.Event(), threading.Event()
        self._function, self._lease, self._path = function, leased["lease"], f"/v1/tasks/{leased['taskId']}"
        self._seconds, self._version = leased["leaseSeconds"], leased["version"]
        self._until = time.monotonic() + self._seconds
        self._writing = threading.Lock()

    def __enter__(self) -> Self:
        threading.Thread(target=self._renew_until_finished, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._finished.set()

    def write(self, verb: str, **fields: Any) -> None:
        """Send a write with retries; it takes effect once. Raise Refused if the lease is lost, or OSError."""
        with self._writing:
            sent_before = False
            while True:
                try:
                    self._version = self._post(verb, version=self._version, **fields)
                    return
                except Refused as refused:
                    if not sent_before or refused.reason not in ("WRONG_VERSION", "TASK_ENDED"):
                        raise
                    # The write took effect; only its answer was lost.
                    self._version = None
                    return
                except OSError:
                    sent_before = True
                    if time.monotonic() > self._until:
                        self.abandoned.set()
                        raise
                    time.sleep(random.uniform(0.2, 1.0))

    def _renew_until_finished(self) -> None:
        """Renew at a third of the lease's length until the work is finished or abandoned.

        Meanwhile the function holds the answer, and gives it when the task is cancelled.
        """
        third = self._seconds / 3
        held, pause = min(int(third), _LONGEST_HELD_SECONDS), min(third, _SOON_SECONDS)
        while not self._finished.wait(pause) and not self.abandoned.is_set():
            started = time.monotonic()
            try:
                self._post("renew", leaseSeconds=self._seconds, waitSeconds=held)
                self._until = started + self._seconds
            except Refused:
                self.abandoned.set()
            except OSError:
                if time.monotonic() > self._until:
                    self.abandoned.set()
            # At once after an answer that was held; else a while later, for there was no place to wait.
            pause = max(0.0, min(third, _SOON_SECONDS) - (time.monotonic() - started))

    def _post(self, verb: str, **fields: Any) -> int:
        answer = self._function.post(f"{self._path}:{verb}", {"lease": self._lease, **fields})
        if answer["cancelRequested"]:
            self.abandoned.set()
        return int(answer["version"])


def static_token(token: str) -> Credential:
    """Return the credential of a client in the function's table (CLIENTS_FILE)."""
    return lambda: {"Authorization": f"Bearer {token}"}


def google_account(audience: str, *, metadata_url: str = _METADATA) -> Credential:
    """Return the credential of this program's Google Cloud account, with the function's address as the audience."""
    query = urllib.parse.urlencode({"audience": audience})
    request = urllib.request.Request(f"{metadata_url}?{query}", headers={"Metadata-Flavor": "Google"})

    def headers() -> Mapping[str, str]:
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                bearer = f"Bearer {answer.read().decode()}"
        except OSError as problem:
            raise OSError(f"there is no Google account, and WORKER_TOKEN is not set ({problem})") from problem
        # Cloud Run checks the second one and leaves the first one to the function.
        return {"Authorization": bearer, "X-Serverless-Authorization": bearer}

    return headers


def from_environment(environ: Mapping[str, str]) -> Credential:
    """Return the credential of `WORKER_TOKEN`, if set, else of the account, for the function at `TASKS_URL`."""
    token = environ.get("WORKER_TOKEN", "")
    return static_token(token) if token else google_account(environ["TASKS_URL"].rstrip("/"))


class Failed(Exception):
    """An exception for work to raise: it fails the task, and the user reads its text."""


class Question(Exception):
    """An exception for work to raise: the user is asked its text, and the task returns with the answer in its history."""


class Work:
    """One leased task. `cancelled` is set when the work should stop."""

    def __init__(self, leased: dict[str, Any], lease: Lease) -> None:
        self.task_id, self.attempt = leased["taskId"], leased["attempt"]
        self.text, self.history = leased["text"], leased["history"]
        self.cancelled, self._lease = lease.abandoned, lease

    def progress(self, text: str, artifact: dict[str, Any] | None = None, *, append: bool = False) -> None:
        """Report progress to the user, with a part of the result if there is one: an A2A artifact."""
        parts = [{"artifact": artifact, "append": append}] if artifact else []
        self._lease.write("progress", updates=[{"status": "in_progress", "text": text}, *parts])


class Client:
    """A worker for the tasks function at `url`, on `roles` or on all that the credential has."""

    def __init__(
        self,
        url: str,
        credential: Credential,
        *,
        roles: Sequence[str] = (),
        lease_seconds: int = 60,
        wait_seconds: int = 30,
    ) -> None:
        self._function = TasksFunction(url, credential)
        self._request = {"roles": list(roles), "leaseSeconds": lease_seconds, "waitSeconds": wait_seconds}

    def run(self, do: Callable[[Work], str], *, stopping: threading.Event | None = None) -> None:
        """Work on one task after the other until `stopping`. The result of `do` is the answer. Raise Refused."""
        stopping = stopping or threading.Event()
        failures = 0
        while not stopping.is_set():
            started = time.monotonic()
            try:
                leased = self._function.post("/v1/tasks:lease", self._request)
            except OSError as problem:
                _log.warning("no task could be leased: %s", problem)
                failures = min(failures + 1, 6)
                stopping.wait(random.uniform(0.25, 0.5) * 2**failures)
                continue
            failures = 0
            if leased:
                self._work(leased, do)
            elif time.monotonic() - started < 1:
                stopping.wait(random.uniform(1.0, 3.0))  # Too many workers wait for this one to be held.

    def _work(self, leased: dict[str, Any], do: Callable[[Work], str]) -> None:
        try:
            with Lease(self._function, leased) as lease:
                work = Work(leased, lease)
                verb, fields = _outcome(work, lease, do)
                if not lease.abandoned.is_set():
                    _report(work, lease, verb, fields)
        except (OSError, Refused) as problem:
            _log.warning("task %s is abandoned: %s", leased["taskId"], problem)


def _outcome(work: Work, lease: Lease, do: Callable[[Work], str]) -> tuple[str, dict[str, str]]:
    try:
        text = do(work)
        if not isinstance(text, str) or not text:
            raise TypeError("the work has to return a text that is not empty")
        return "complete", {"text": text}
    except Question as question:
        return "requireInput", {"text": str(question)}
    except Failed as failed:
        return "fail", {"reason": str(failed)}
    except Exception as problem:
        if isinstance(problem, Refused) and problem.reason in _NOT_HELD:
            raise
        _log.exception("the work on task %s failed", work.task_id)
        return "fail", {"reason": _UNFINISHED}
    except BaseException:
        # This program is ending: the next worker need not wait until the lease expires.
        with contextlib.suppress(OSError, Refused):
            lease.write("release")
        raise


def _report(work: Work, lease: Lease, verb: str, fields: dict[str, str]) -> None:
    try:
        lease.write(verb, **fields)
    except Refused as refused:
        if refused.reason in _NOT_HELD:
            raise
        # Repeated, it would be rejected again.
        _log.error("the result of task %s was rejected: %s", work.task_id, refused)
        lease.write("fail", reason=_UNFINISHED)


def run_worker(do: Callable[[Work], str], *, roles: Sequence[str], environ: Mapping[str, str]) -> None:
    """Run a worker as a program until SIGTERM. Exit with 1 without an address, or if the function rejects the credential."""
    url = environ.get("TASKS_URL", "")
    if not url.startswith(("http://", "https://")):
        sys.exit(f"TASKS_URL is {url!r}: it has to be the address of the tasks function, which `make run` prints")
    logging.basicConfig()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    try:
        Client(url, from_environment(environ), roles=roles).run(do)
    except Refused as refused:
        sys.exit(f"the tasks function rejects this worker: {refused}")
    except KeyboardInterrupt:
        sys.exit(130)
