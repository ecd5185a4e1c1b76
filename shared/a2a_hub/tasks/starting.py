"""Starts turns: in this process or for somebody else, stored or not yet, and never the same request twice."""

from collections.abc import Callable

from a2a_hub.queue.wakeups import Wakeups, topic_of
from a2a_hub.task_store.store import HUB, AlreadyRunning, StoredTask, TaskStore, TooLarge, Unavailable
from a2a_hub.tasks.opened import Opened
from a2a_hub.tasks.opener import too_large
from a2a_hub.tasks.run import Run, Runs
from a2a_hub.tasks.storing import Storing
from a2a_hub.tasks.task_resolution import before_turn


class Starter:
    """Starts opened turns. `wakeups` reach a role's workers, and the hub's runner where `runs_at_once` is false."""

    def __init__(
        self,
        store: TaskStore,
        storing: Storing,
        runs: Runs,
        *,
        lease_seconds: float,
        new_id: Callable[[], str],
        wakeups: Wakeups,
        runs_at_once: bool,
    ) -> None:
        self._store = store
        self._storing = storing
        self._runs = runs
        self._lease_seconds = lease_seconds
        self._new_id = new_id
        self._wakeups = wakeups
        self._runs_at_once = runs_at_once

    def start(self, opened: Opened, *, stored: bool) -> Run | StoredTask:
        """The turn's run in this process, or its task that runs elsewhere. With `stored`, it is stored before it runs."""
        if opened.other is not None:
            return opened.other
        if opened.stored is not None:
            return self._go_on(opened, opened.stored)
        key = opened.key()
        run = self._runs.running(key)
        if run is not None:
            opened.joined = True
            return run
        other = self._running_elsewhere(opened, key, needed=stored)
        if other is not None:
            return other
        if not stored and not opened.turn.role:
            run, is_new = self._runs.start(key, opened, allows_message=True)
            opened.joined = not is_new
            return run
        runs_here = self._runs_at_once and not opened.turn.role
        lease = self._new_id() if runs_here else ""
        try:
            task = self._storing.create(opened, opened.first, lease=lease)
        except AlreadyRunning as running:
            opened.join(running.stored, before=before_turn(self._store, running.stored))
            return running.stored
        except TooLarge:
            raise too_large() from None
        if runs_here:
            return self._run_recorded(opened, task, lease, key)
        self._wakeups.publish(topic_of(opened.turn.role), task.task.id)
        return task

    def _running_elsewhere(self, opened: Opened, key: str, *, needed: bool) -> StoredTask | None:
        """The task of the same request. Unless it is `needed` that a task is stored, an outage of the store is no failure."""
        try:
            other = self._store.running(opened.owner, key)
            if other is not None:
                opened.join(other, before=before_turn(self._store, other))
            return other
        except Unavailable:
            if needed:
                raise
            return None

    def _go_on(self, opened: Opened, stored: StoredTask) -> Run | StoredTask:
        if opened.turn.role or not self._runs_at_once:
            self._wakeups.publish(topic_of(opened.turn.role), stored.task.id)
            return stored
        try:
            lease = self._store.lease(
                opened.call.request_id, seconds=self._lease_seconds, roles=(HUB,), task_id=stored.task.id
            )
        except Unavailable:
            # What is stored will be run: there is nothing to send again.
            return stored
        # Without a lease, the runner was sooner.
        return stored if lease is None else self._run_recorded(opened, lease.stored, lease.token, None)

    def _run_recorded(self, opened: Opened, stored: StoredTask, lease: str, key: str | None) -> Run:
        run, _ = self._runs.start(key, opened, allows_message=False)
        self._storing.record(run, stored, lease, opened)
        return run
