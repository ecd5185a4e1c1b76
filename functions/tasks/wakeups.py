"""Wake-ups at the tasks function: `POST /wakeups`, and the work that they ask for."""

import functools
import time

from msgspec import Struct

from a2a_hub.a2a.error_response import read_body
from a2a_hub.a2a.errors import INVALID_REQUEST, METHOD_NOT_ALLOWED, PERMISSION_DENIED, UNAVAILABLE, A2AError
from a2a_hub.http.messages import Request, Response
from a2a_hub.identity.principal import HUB_FUNCTION, Principal
from a2a_hub.queue.wakeups import SWEEPS_TOPIC, WEBHOOKS_TOPIC, BadEnvelope, Wakeup, Wakeups, read_push, topic_of
from a2a_hub.runtime.threads import Threads
from a2a_hub.task_store.store import HUB, Unavailable
from a2a_hub.telemetry.log import Record
from functions.tasks.hub_runs import Outcome
from functions.tasks.sweeps import TaskWork
from functions.tasks.workers.leasing import TopicCondition

_MOST_BYTES = 100_000
_RETRY_AFTER_SECONDS = 1
WORK_TOPICS = frozenset({topic_of(HUB), WEBHOOKS_TOPIC, SWEEPS_TOPIC})


class ThreadedWakeups(Wakeups):
    """Wake-ups of this process for itself: an implementation of Wakeups for processes that have CPU between requests."""

    def __init__(self, threads: Threads) -> None:
        self._threads = threads
        self.work: TaskWork | None = None

    def publish(self, topic: str, task_id: str, *, due_at: float | None = None) -> None:
        """Start the work in a thread, or look for it at `due_at`."""
        assert self.work is not None, "it is wired"
        if due_at is None:
            self._threads.run(functools.partial(self._do, self.work, Wakeup(topic, task_id)))
        else:
            self.work.look_at(topic, due_at)

    def close(self) -> None:
        """Do nothing."""

    def _do(self, work: TaskWork, wakeup: Wakeup) -> None:
        try:
            outcome = work.do(wakeup)
        except Unavailable:
            outcome = Outcome.FAILED
        if outcome is not Outcome.DONE:
            work.look_at(wakeup.topic, time.time() + _RETRY_AFTER_SECONDS)


class WakeupEndpoint(Struct, frozen=True):
    """The endpoint `POST /wakeups`. It wakes waiting workers, and has other work done: in the request, which lasts as long, or by
    `threads`. A duplicate costs one read. Pub/Sub, Cloud Tasks and Cloud Scheduler call as one of `accounts`.
    """

    condition: TopicCondition
    work: TaskWork
    accounts: frozenset[str]
    threads: ThreadedWakeups | None

    def handle(self, request: Request, principal: Principal, record: Record) -> Response:
        """Return the response. Raise A2AError, also for a body that is not a wake-up, and Unavailable."""
        if principal.subject != HUB_FUNCTION and principal.email not in self.accounts:
            raise A2AError(PERMISSION_DENIED, "Only the hub, and the accounts in WAKEUP_ACCOUNTS, tell of tasks here")
        if request.method != "POST":
            raise A2AError(METHOD_NOT_ALLOWED, headers={"allow": "POST"})
        body = read_body(request, _MOST_BYTES)
        try:
            wakeup = read_push(body)
        except BadEnvelope as bad:
            raise A2AError(INVALID_REQUEST, f"This is no wake-up: {bad}") from None
        record |= {"result": "woken", "taskId": wakeup.task_id, "topic": wakeup.topic}
        self.condition.notify(wakeup.topic)
        if wakeup.topic in WORK_TOPICS:
            if self.threads is not None:
                self.threads.publish(wakeup.topic, wakeup.task_id)
            elif (outcome := self.work.do(wakeup)) is not Outcome.DONE:
                # Pub/Sub and Cloud Tasks send it again, with pauses that grow.
                raise A2AError(
                    UNAVAILABLE,
                    f"This wake-up has to come again: {outcome}",
                    headers={"retry-after": str(_RETRY_AFTER_SECONDS)},
                )
        return Response(status=204)
