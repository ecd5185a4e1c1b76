"""Start tasks on the hub that no process runs: queued ones, and those whose process died."""

import functools
import threading
from collections.abc import Mapping
from urllib.parse import urlsplit

import msgspec

from a2a_hub.http.client import Budget, HttpClient, HttpFailure
from a2a_hub.http.messages import JSON
from a2a_hub.identity.principal import TASKS_FUNCTION, Principal
from a2a_hub.identity.service_tokens import ServiceTokens, TokenUnavailable
from a2a_hub.identity.signed_principal import HEADER, PrincipalSigner
from a2a_hub.runtime.threads import Threads
from a2a_hub.task_store.store import HUB, TaskStore
from a2a_hub.telemetry.log import Log

_PATH = "/internal/tasks:run"
_MOST_AT_ONCE = 16
_LONGEST_SECONDS = 3500.0
# A task that is due again although the hub was called is one whose run died silently.
_REPEAT_AFTER_SECONDS = 30.0
_CONNECT_SECONDS = 5.0
_MOST_BYTES = 64_000


class HubRunStarter:
    """The starter of hub runs: one request to the hub per due task, which lasts as long as the task's turn."""

    def __init__(
        self,
        store: TaskStore,
        *,
        hub_url: str,
        http: HttpClient,
        signer: PrincipalSigner,
        tokens: ServiceTokens | None,
        log: Log,
        threads: Threads,
        repeat_after_seconds: float = _REPEAT_AFTER_SECONDS,
    ) -> None:
        self._store = store
        self._url = hub_url + _PATH
        self._http = http
        self._signer = signer
        self._tokens = tokens
        self._audience = "{0.scheme}://{0.netloc}".format(urlsplit(hub_url))
        self._log = log
        self._threads = threads
        self._lock = threading.Lock()
        self._repeat_after_seconds = repeat_after_seconds
        self._requested_at: dict[str, float] = {}

    def start_due(self) -> int:
        """Start a run for each due task and return their number."""
        started = 0
        for task_id in self._store.due([HUB], limit=_MOST_AT_ONCE):
            now = self._http.clock()
            with self._lock:
                before = self._requested_at.get(task_id)
                if before is None and len(self._requested_at) >= _MOST_AT_ONCE:
                    continue
                if before is not None and now - before < self._repeat_after_seconds:
                    continue
                self._requested_at[task_id] = now
            self._threads.run(functools.partial(self._run_logged, task_id, now))
            started += 1
        return started

    def _run_logged(self, task_id: str, requested_at: float) -> None:
        try:
            self._run_on_hub(task_id)
        except (HttpFailure, TokenUnavailable) as failure:
            # The task stays due; the next sweep finds it.
            self._log.line("WARNING", "The hub could not be asked to run a task", taskId=task_id, cause=str(failure))
        finally:
            with self._lock:
                if self._requested_at.get(task_id) == requested_at:
                    del self._requested_at[task_id]

    def _run_on_hub(self, task_id: str) -> None:
        answer = self._http.request(
            "POST",
            self._url,
            headers=self._headers(),
            body=msgspec.json.encode({"taskId": task_id}),
            budget=Budget(
                deadline=self._http.clock() + _LONGEST_SECONDS,
                connect_seconds=_CONNECT_SECONDS,
                idle_seconds=_LONGEST_SECONDS,
                max_bytes=_MOST_BYTES,
            ),
        )
        answer.read()
        if answer.status != 200:
            self._log.line("WARNING", "The hub did not run a task", taskId=task_id, upstreamStatus=answer.status)

    def _headers(self) -> Mapping[str, str]:
        principal = Principal(subject=TASKS_FUNCTION)
        headers = {"content-type": JSON, HEADER: self._signer.sign(principal, method="POST", path=_PATH)}
        if self._tokens is not None:
            headers["authorization"] = f"Bearer {self._tokens.id_token(self._audience)}"
        return headers
