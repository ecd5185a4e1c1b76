"""Wake-ups at the tasks function: `POST /wakeups`, and the background work that they start: runs on the hub, push
notifications, and sweeps of the store for missed work.
"""

import functools
import time
from collections.abc import Callable

from msgspec import Struct

from a2a_hub.a2a.error_response import read_body
from a2a_hub.a2a.errors import INVALID_REQUEST, METHOD_NOT_ALLOWED, PERMISSION_DENIED, UNAVAILABLE, A2AError
from a2a_hub.http.messages import Request, Response
from a2a_hub.identity.principal import HUB_FUNCTION, Principal
from a2a_hub.queue.wakeups import SWEEPS_TOPIC, WEBHOOKS_TOPIC, BadEnvelope, Wakeup, Wakeups, read_push, topic_of
from a2a_hub.runtime.background import Background
from a2a_hub.runtime.threads import Threads
from a2a_hub.task_store.store import HUB, Store, Unavailable
from a2a_hub.telemetry.log import Record
from functions.tasks.config import Config
from functions.tasks.hub_runs import TO_LEASE_SECONDS, HubRuns, Outcome
from functions.tasks.slots import Slots
from functions.tasks.webhooks.delivery import Deliverer
from functions.tasks.workers.leasing import Leasing, WorkerWaits

_MAX_BYTES = 100_000
_RETRY_AFTER_SECONDS = 1
_MAX_PURGED = 500
_PURGE_EVERY_SECONDS = 600.0
_ABANDONED_EVERY_SECONDS = 60.0
_RECHECK_SECONDS = 1.0
_RECHECK_IN_REQUESTS_SECONDS = 10.0
# A deployment's sweeps are requests of Cloud Scheduler, once a minute: for work that is due earlier, a wake-up is scheduled.
_SWEEP_EVERY_SECONDS = 60.0
WORK_TOPICS = frozenset({topic_of(HUB), WEBHOOKS_TOPIC, SWEEPS_TOPIC})


class TaskWork:
    """The work that wake-ups start. Sweeps run as jobs of `background`, or inside requests where that has no threads."""

    def __init__(
        self,
        store: Store,
        runs: HubRuns,
        slots: Slots,
        deliverer: Deliverer,
        leasing: Leasing,
        *,
        wakeups: Wakeups,
        background: Background,
        config: Config,
        now: Callable[[], float],
    ) -> None:
        self._store = store
        self._runs = runs
        self._slots = slots
        self._deliverer = deliverer
        self._wakeups = wakeups
        self._run_due_sweeps = background.run_due
        self._config = config
        self._now = now
        self._leasing = leasing
        every = background.every
        runs_job = every(config.sweep_seconds, self._start_due_runs, name="The sweep for tasks that nobody runs")
        deliveries_job = every(config.webhooks.poll_seconds, self._deliver, name="The delivery of push notifications")
        every(_ABANDONED_EVERY_SECONDS, self._end_abandoned, name="The sweep for tasks that no worker runs")
        every(_PURGE_EVERY_SECONDS, self._purge, name="The deletion of old tasks")
        self._jobs = {topic_of(HUB): runs_job, WEBHOOKS_TOPIC: deliveries_job}

    def run(self, wakeup: Wakeup) -> Outcome:
        """Do the work and wait for its end. Raise Unavailable."""
        if wakeup.topic == WEBHOOKS_TOPIC:
            self._deliverer.deliver_due(waits=True)
            if self._deliverer.stopped:
                return Outcome.FAILED
        elif wakeup.topic == SWEEPS_TOPIC:
            if job := self._jobs.get(wakeup.task_id):
                job.at(0.0)
            self._run_due_sweeps()
        else:
            outcome = self._runs.run(wakeup.task_id)
            if outcome is Outcome.DONE and self._slots.has_refused():
                self._jobs[topic_of(HUB)].at(0.0)
            return outcome
        return Outcome.DONE

    def schedule_sweep(self, topic: str, when: float) -> None:
        """Run the sweep of this topic no later than `when`."""
        self._jobs[topic].at(when)

    def _start_due_runs(self) -> float | None:
        """Start each due task in its own request or thread; return the time of the next sweep."""
        next_at = self._store.next_due([HUB])
        now = self._now()
        if next_at is not None and next_at <= now:
            for task_id in self._store.due([HUB], limit=2 * self._config.runs_at_once):
                if not self._slots.is_younger(task_id, TO_LEASE_SECONDS):
                    self._wakeups.publish(topic_of(HUB), task_id)
            # By then, the tasks are leased or have failed.
            next_at = now + (_RECHECK_IN_REQUESTS_SECONDS if self._config.in_requests else _RECHECK_SECONDS)
        if self._config.in_requests and next_at is not None and next_at < now + _SWEEP_EVERY_SECONDS:
            self._wakeups.publish(SWEEPS_TOPIC, topic_of(HUB), due_at=next_at)
        return next_at

    def _deliver(self) -> None:
        # Its result, a number of deliveries, must not be returned: a job returns the time of its next run.
        self._deliverer.deliver_due(waits=self._config.in_requests)

    def _end_abandoned(self) -> None:
        # Its result, a number of tasks, must not be returned: a job returns the time of its next run.
        self._leasing.end_abandoned(None)

    def _purge(self) -> None:
        while self._store.purge(ended_before=self._now() - self._config.retention_seconds, limit=_MAX_PURGED):
            pass


class ThreadedWakeups(Wakeups):
    """Wake-ups of this process for itself: an implementation of Wakeups for processes that have CPU between requests."""

    def __init__(self, threads: Threads) -> None:
        self._threads = threads
        self.work: TaskWork | None = None

    def publish(self, topic: str, task_id: str, *, due_at: float | None = None) -> None:
        """Start the work in a thread, or schedule a sweep at `due_at`."""
        assert self.work is not None, "it is wired"
        if due_at is None:
            self._threads.run(functools.partial(self._run, self.work, Wakeup(topic, task_id)))
        else:
            self.work.schedule_sweep(topic, due_at)

    def _run(self, work: TaskWork, wakeup: Wakeup) -> None:
        try:
            outcome = work.run(wakeup)
        except Unavailable:
            outcome = Outcome.FAILED
        if outcome is not Outcome.DONE:
            work.schedule_sweep(wakeup.topic, time.time() + _RETRY_AFTER_SECONDS)


class WakeupEndpoint(Struct, frozen=True):
    """The endpoint `POST /wakeups`. It wakes waiting workers; other work runs within the request, which takes as long, or in
    `threads`. A duplicate costs one read. Pub/Sub, Cloud Tasks and Cloud Scheduler call as one of `accounts`.
    """

    waits: WorkerWaits
    work: TaskWork
    accounts: frozenset[str]
    threads: ThreadedWakeups | None

    def handle(self, request: Request, principal: Principal, record: Record) -> Response:
        """Return the response. Raise A2AError, also for a body that is not a wake-up, and Unavailable."""
        if principal.subject != HUB_FUNCTION and principal.email not in self.accounts:
            raise A2AError(PERMISSION_DENIED, "Only the hub, and the accounts in WAKEUP_ACCOUNTS, tell of tasks here")
        if request.method != "POST":
            raise A2AError(METHOD_NOT_ALLOWED, headers={"allow": "POST"})
        body = read_body(request, _MAX_BYTES)
        try:
            wakeup = read_push(body)
        except BadEnvelope as bad:
            raise A2AError(INVALID_REQUEST, f"This is no wake-up: {bad}") from None
        record |= {"result": "woken", "taskId": wakeup.task_id, "topic": wakeup.topic}
        self.waits.notify(wakeup.topic)
        if wakeup.topic in WORK_TOPICS:
            if self.threads is not None:
                self.threads.publish(wakeup.topic, wakeup.task_id)
            elif (outcome := self.work.run(wakeup)) is not Outcome.DONE:
                # Pub/Sub and Cloud Tasks send it again, with pauses that grow.
                raise A2AError(
                    UNAVAILABLE,
                    f"This wake-up has to come again: {outcome}",
                    headers={"retry-after": str(_RETRY_AFTER_SECONDS)},
                )
        return Response(status=204)
