"""Run due tasks on the hub: queued ones, those that a hub handed over, and those whose process died."""

import time
from collections.abc import Mapping
from enum import StrEnum
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct, field

from a2a_hub.a2a.model import TaskState
from a2a_hub.http.client import HttpClient, HttpFailure, fetch
from a2a_hub.http.messages import JSON, CancellationGroup
from a2a_hub.identity.authentication import PRINCIPAL_HEADER
from a2a_hub.identity.principal import TASKS_FUNCTION, Principal
from a2a_hub.identity.service_tokens import ServiceTokens, TokenUnavailable
from a2a_hub.identity.signed_principal import PrincipalSigner
from a2a_hub.queue.wakeups import Wakeups, topic_of
from a2a_hub.task_store.store import HUB, StoredTask, TaskStore
from a2a_hub.telemetry.log import Log
from functions.tasks.slots import Slots

_PATH = "/internal/tasks:run"
TO_LEASE_SECONDS = 30.0
"""The time that the hub takes to lease a task at most: one that is due after it is one whose run died silently."""
# A run that was to end hands over within this time, and answers.
_TO_END_SECONDS = 30.0
_RUNNABLE = (TaskState.SUBMITTED, TaskState.WORKING)


class Outcome(StrEnum):
    """The outcome of a wake-up: nothing is left to do for it, or it has to come again."""

    DONE = "done"
    BUSY = "busy"
    FAILED = "failed"


def run_slots(at_once: int) -> Slots:
    """Return the slots for `at_once` runs, by whether they are of lost work: a turn whose process died, or handed over.

    Fresh work and lost work keep a quarter of them each.
    """
    kept = min(max(1, at_once // 4), at_once - 1)
    return Slots(at_once, at_once - kept)


class HubRuns(Struct, frozen=True):
    """The runs on the hub: one request for each, which lasts as long as the task's turn, or `longest_seconds`.

    The lease in the store makes sure that a task runs once, so a wake-up that comes twice costs a read.
    """

    store: TaskStore
    hub_url: str
    http: HttpClient
    signer: PrincipalSigner
    tokens: ServiceTokens | None
    wakeups: Wakeups
    slots: Slots
    longest_seconds: float
    log: Log
    _calls: CancellationGroup = field(default_factory=CancellationGroup)

    def stop(self) -> None:
        """Wait for no hub any more: the process ends. A wake-up follows when the lease of the hub ends."""
        self._calls.cancel()

    def run(self, task_id: str) -> Outcome:
        """Have the hub run the task if it is due, and wait for the end. Raise Unavailable."""
        stored = self._due(task_id)
        if stored is None:
            return Outcome.DONE
        if self._calls.cancelled:
            return Outcome.FAILED
        # A hub that has its slot died without a word.
        slot = self.slots.acquire(task_id, stored.attempt > 0, replaces=True)
        if slot is None:
            return Outcome.BUSY
        try:
            status = self._run_on_hub(task_id)
            if status == 200:
                return Outcome.DONE
            self.log.line("WARNING", "The hub did not run a task", taskId=task_id, upstreamStatus=status)
        except (HttpFailure, TokenUnavailable) as failure:
            self.log.line("WARNING", "The hub could not be asked to run a task", taskId=task_id, cause=str(failure))
        finally:
            self.slots.release(slot)
        return self._after_failure(task_id)

    def _due(self, task_id: str) -> StoredTask | None:
        stored = self.store.get(task_id, owner=None)
        if stored is None or stored.role != HUB or stored.task.status.state not in _RUNNABLE:
            return None
        return stored if stored.lease_until <= time.time() else None

    def _after_failure(self, task_id: str) -> Outcome:
        """A hub that died during the run still holds the lease: another one can go on when it has run out."""
        stored = self.store.get(task_id, owner=None)
        if stored is None or stored.lease_until <= time.time():
            return Outcome.FAILED
        self.wakeups.publish(topic_of(HUB), task_id, due_at=stored.lease_until)
        return Outcome.DONE

    def _run_on_hub(self, task_id: str) -> int:
        """Return the status of the hub's answer. Raise HttpFailure or TokenUnavailable."""
        body = msgspec.json.encode({"taskId": task_id, "seconds": self.longest_seconds})
        longest, headers = self.longest_seconds + _TO_END_SECONDS, self._headers(body)
        url = self.hub_url + _PATH
        with self._calls.call() as cancellation:
            answer, _ = fetch(
                self.http,
                "POST",
                url,
                headers=headers,
                body=body,
                seconds=longest,
                retries=0,
                cancellation=cancellation,
            )
        return answer.status

    def _headers(self, body: bytes) -> Mapping[str, str]:
        signed = self.signer.sign(Principal(subject=TASKS_FUNCTION), method="POST", path=_PATH, body=body)
        headers = {"content-type": JSON, PRINCIPAL_HEADER: signed}
        if self.tokens is not None:
            audience = "{0.scheme}://{0.netloc}".format(urlsplit(self.hub_url))
            headers["authorization"] = f"Bearer {self.tokens.id_token(audience)}"
        return headers
