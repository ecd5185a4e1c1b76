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
            problem: Any = {}
            with error, contextlib.suppress(ValueError):
                problem = json.loads(error.read())
            if error.code >= 500 or error.code in (408, 429):
                raise OSError(f"status {error.code}") from None
            raise Refused(error.code, problem if isinstance(problem, dict) else {}) from None


class Lease:
    """The lease on a task, renewed in a thread. `abandoned` is set when the lease is lost or the task was cancelled."""

    def __init__(self, function: TasksFunction, leased: dict[str, Any]) -> None:
        self.abandoned, self._finished = threading.Event(), threading.Event()
        self._function, self._lease, self._path = function, leased["lease"], f"/v1/tasks/{leased['taskId']}"
        self._seconds, self._version = leased["leaseSeconds"], leased["version"]
        self._writing = threading.Lock()

    def __enter__(self) -> Self:
        threading.Thread(target=self._renew_until_finished, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._finished.set()

    def write(self, verb: str, **fields: Any) -> None:
        """Send a write, again and again while the lease lasts; it takes effect once. Raise Refused, or OSError."""
        sent_before = False
        with self._writing:
            while True:
                try:
                    self._version = self._post(verb, version=self._version, **fields)
                    return
                except Refused as refused:
                    if sent_before and refused.reason in ("WRONG_VERSION", "TASK_ENDED"):
                        # The write took effect; only its answer was lost.
                        self._version = None
                        return
                    if refused.reason in ("WRONG_VERSION", "TASK_ENDED", "LEASE_LOST"):
                        self.abandoned.set()
                    raise
                except OSError:
                    sent_before = True
                    if self.abandoned.wait(random.uniform(0.2, 1.0)):
                        raise

    def _renew_until_finished(self) -> None:
        """Renew at a third of the lease's length: so long the function holds the answer, unless the task is cancelled."""
        third, until = self._seconds / 3, time.monotonic() + self._seconds
        while not self._finished.wait(min(third, 1.0)) and not self.abandoned.is_set():
            started = time.monotonic()
            try:
                self._post("renew", leaseSeconds=self._seconds, waitSeconds=min(int(third), 60))
                until = started + self._seconds
            except Refused:
                self.abandoned.set()
            except OSError:
                if started > until:
                    self.abandoned.set()

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
        while not stopping.is_set():
            started, leased = time.monotonic(), {}
            try:
                leased = self._function.post("/v1/tasks:lease", self._request)
            except OSError as problem:
                _log.warning("no task could be leased: %s", problem)
            if leased:
                self._work(leased, do)
            elif time.monotonic() - started < 1:
                # The function is away, or too many workers wait for this one to be held.
                stopping.wait(random.uniform(1.0, 3.0))

    def _work(self, leased: dict[str, Any], do: Callable[[Work], str]) -> None:
        with Lease(self._function, leased) as lease:
            try:
                verb, fields = _outcome(Work(leased, lease), do)
                if not lease.abandoned.is_set():
                    lease.write(verb, **fields)
            except Exception as problem:
                if lease.abandoned.is_set():
                    _log.warning("task %s is abandoned: %s", leased["taskId"], problem)
                    return
                # Repeated, it would fail again.
                _log.exception("the work on task %s failed", leased["taskId"])
                with contextlib.suppress(OSError, Refused):
                    lease.write("fail", reason=_UNFINISHED)
            except BaseException:
                # This program is ending: the next worker need not wait until the lease expires.
                with contextlib.suppress(OSError, Refused):
                    lease.write("release")
                raise


def _outcome(work: Work, do: Callable[[Work], str]) -> tuple[str, dict[str, str]]:
    try:
        return "complete", {"text": do(work)}
    except Question as question:
        return "requireInput", {"text": str(question)}
    except Failed as failed:
        return "fail", {"reason": str(failed)}


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
