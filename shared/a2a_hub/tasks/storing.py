"""Stores turns: before they run, beside their runs, or when they have ended."""

import contextlib
from collections.abc import Callable

from a2a_hub.a2a.model import Message, Task
from a2a_hub.runtime.threads import Threads
from a2a_hub.task_store.store import (
    AlreadyRunning,
    NewTask,
    StoredTask,
    TaskExists,
    TaskStore,
    TooLarge,
    Unavailable,
)
from a2a_hub.tasks.opened import Opened
from a2a_hub.tasks.push_configs import PushConfigs
from a2a_hub.tasks.recorder import Recorder
from a2a_hub.tasks.run import Run


class Storing:
    """`threads` is where a run is stored beside it, so that whoever waits for its answer need not wait for the store."""

    def __init__(
        self,
        store: TaskStore,
        configs: PushConfigs,
        recorder: Recorder,
        *,
        threads: Threads,
        new_id: Callable[[], str],
    ) -> None:
        self._store = store
        self._configs = configs
        self._recorder = recorder
        self._threads = threads
        self._new_id = new_id

    def create(self, opened: Opened, task: Task, *, lease: str, joins: bool = True) -> StoredTask:
        """Raises AlreadyRunning where it `joins` the same request's task; TaskExists, TooLarge, Unavailable."""
        new = NewTask(
            task=task,
            owner=opened.owner,
            role=opened.turn.role,
            payload=opened.payload(),
            request_key=opened.key() if joins else "",
            lease=lease,
            lease_seconds=self._recorder.times.seconds,
            push=self._configs.with_message(opened.webhook, opened.call.version, task_id=task.id),
        )
        try:
            opened.stored = self._store.create(new)
        except Unavailable:
            # Only the answer may be lost; who is told to send it again would have it done twice.
            opened.stored = self._store.get(task.id, owner=opened.owner)
            if opened.stored is None:
                raise
        return opened.stored

    def record(self, run: Run, stored: StoredTask, lease: str, opened: Opened) -> None:
        """Records the run of a task that is stored, beside it."""
        self._threads.run(lambda: self._recorder.record(run, stored, lease, payload=opened.payload))

    def store_late(self, run: Run, opened: Opened) -> None:
        """Stores a run that goes on, beside it. Where another instance was sooner with the same request, the run is given up,
        and `opened.stored` is that one's task.
        """
        lease = self._new_id()

        def create() -> StoredTask | None:
            try:
                return self.create(opened, opened.first, lease=lease)
            except AlreadyRunning as running:
                opened.joined, opened.stored = True, running.stored
                run.give_up(instead=running.stored.task.id)
                return None
            except Unavailable:
                return self._create_patiently(opened, lease)
            except TooLarge:
                return None

        self._create_beside(run, create, opened, lease)

    def store_beside(self, run: Run, opened: Opened) -> None:
        """Stores a run from its first event on, while it is streamed; a Message alone is not stored."""
        lease = self._new_id()

        def create() -> StoredTask | None:
            return None if isinstance(run.relay.first(), Message) else self._create_patiently(opened, lease)

        self._create_beside(run, create, opened, lease)

    def store_settled(self, opened: Opened, task: Task) -> None:
        """Stores a turn that ended before it was stored. Where the store is away, that is no failure of one at its end, nor of
        one that a person reads, whose conversation goes on without a task.
        """
        try:
            self.create(opened, task, lease="", joins=False)
        except TaskExists:
            pass
        except (TooLarge, Unavailable):
            if not (task.status.state.terminal or opened.call.for_ui):
                raise

    def _create_beside(self, run: Run, create: Callable[[], StoredTask | None], opened: Opened, lease: str) -> None:
        def record() -> None:
            stored = create()
            if stored is not None:
                self._recorder.record(run, stored, lease, payload=opened.payload)

        self._threads.run(lambda: self._recorder.guarded(run, record))

    def _create_patiently(self, opened: Opened, lease: str) -> StoredTask:
        """The task as it was stored, for the same request to join; or beside that one's task, where it was stored sooner, since
        somebody knows this one already.
        """

        def create() -> StoredTask:
            try:
                with contextlib.suppress(AlreadyRunning):
                    return self.create(opened, opened.first, lease=lease)
                return self.create(opened, opened.first, lease=lease, joins=False)
            except TaskExists:
                # An attempt whose answer was lost: the same request that runs already may be this one.
                stored = self._store.get(opened.first.id, owner=opened.owner)
                if stored is None:
                    raise
                return stored

        return self._recorder.retry.call(create)
