"""The work that nobody waits for: runs on the hub, push notifications, and looking in the store for what was missed."""

from collections.abc import Callable

from a2a_hub.queue.wakeups import SWEEPS_TOPIC, WEBHOOKS_TOPIC, Wakeup, Wakeups, topic_of
from a2a_hub.runtime.background import Background
from a2a_hub.task_store.store import HUB, Store
from functions.tasks.config import Config
from functions.tasks.hub_runs import HubRuns, Outcome, RunSlots
from functions.tasks.webhooks.delivery import Deliverer
from functions.tasks.workers.leasing import Leasing

_MOST_PURGED = 500
_PURGE_EVERY_SECONDS = 600.0
_ABANDONED_EVERY_SECONDS = 60.0
_AGAIN_SECONDS = 1.0
_AGAIN_IN_REQUESTS_SECONDS = 10.0
# The sweeps of a deployment are requests of Cloud Scheduler, once a minute: what is due before the next is woken for.
_SWEPT_EVERY_SECONDS = 60.0


class TaskWork:
    """The work that wake-ups ask for. Its sweeps are jobs of `background`, or of requests where that has no threads."""

    def __init__(
        self,
        store: Store,
        runs: HubRuns,
        slots: RunSlots,
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
        self._leasing = leasing
        self._wakeups = wakeups
        self._run_due_sweeps = background.run_due
        self._config = config
        self._now = now
        every = background.every
        runs_job = every(config.sweep_seconds, self._start_due_runs, name="The sweep for tasks that nobody runs")
        deliveries_job = every(config.webhooks.poll_seconds, self._deliver, name="The delivery of push notifications")
        every(_ABANDONED_EVERY_SECONDS, self._end_abandoned, name="The sweep for tasks that no worker runs")
        every(_PURGE_EVERY_SECONDS, self._purge, name="The deletion of old tasks")
        self._jobs = {topic_of(HUB): runs_job, WEBHOOKS_TOPIC: deliveries_job}

    def do(self, wakeup: Wakeup) -> Outcome:
        """Do the work and wait for its end. Raise Unavailable."""
        match wakeup.topic:
            case topic if topic == WEBHOOKS_TOPIC:
                self._deliverer.deliver_due(waits=True)
            case topic if topic == SWEEPS_TOPIC:
                if job := self._jobs.get(wakeup.task_id):
                    job.at(0.0)
                self._run_due_sweeps()
            case _:
                outcome = self._runs.run(wakeup.task_id)
                if outcome is Outcome.DONE and self._slots.has_refused():
                    self._jobs[topic_of(HUB)].at(0.0)
                return outcome
        return Outcome.DONE

    def look_at(self, topic: str, when: float) -> None:
        """Run the sweep of this topic no later than `when`."""
        self._jobs[topic].at(when)

    def _start_due_runs(self) -> float | None:
        """Start what is due, each in a request or thread of its own; return when to look again."""
        next_at = self._store.next_due([HUB])
        now = self._now()
        if next_at is not None and next_at <= now:
            for task_id in self._store.due([HUB], limit=2 * self._config.runs_at_once):
                if not self._slots.is_requested(task_id):
                    self._wakeups.publish(topic_of(HUB), task_id)
            # By then they are leased, or have failed.
            next_at = now + (_AGAIN_IN_REQUESTS_SECONDS if self._config.in_requests else _AGAIN_SECONDS)
        if self._config.in_requests and next_at is not None and next_at < now + _SWEPT_EVERY_SECONDS:
            self._wakeups.publish(SWEEPS_TOPIC, topic_of(HUB), due_at=next_at)
        return next_at

    def _deliver(self) -> None:
        self._deliverer.deliver_due(waits=self._config.in_requests)

    def _end_abandoned(self) -> None:
        self._leasing.end_abandoned(None)

    def _purge(self) -> None:
        while self._store.purge(ended_before=self._now() - self._config.retention_seconds, limit=_MOST_PURGED):
            pass
