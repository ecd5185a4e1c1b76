"""Starts turns: in this process or for somebody else, stored or not yet, and never the same request twice."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from shared.a2a.agent import Agent
from shared.a2a.errors import A2AError
from shared.a2a.model import Message, Task, TaskState
from shared.a2a.reply import Mint
from shared.task_store.store import (
    HUB,
    AlreadyRunning,
    NewTask,
    StoredTask,
    TaskExists,
    TaskStore,
    TooLarge,
    Unavailable,
)
from shared.tasks.configs import PushConfigs
from shared.tasks.earlier_turns import before_turn
from shared.tasks.opened import Opened
from shared.tasks.opener import too_large
from shared.tasks.recorder import Recorder
from shared.tasks.run import Run, Runs
from shared.tasks.updates import status_update, updates
from shared.tasks.work import read_work
from shared.threads import Threads

_MOST_ATTEMPTS = 5


class Starter:
    """Starts opened turns. `wake` tells a role's workers of a task, and the hub's runner where `runs_at_once` is false."""

    def __init__(
        self,
        agent: Agent,
        store: TaskStore,
        configs: PushConfigs,
        *,
        runs: Runs,
        recorder: Recorder,
        threads: Threads,
        mint: Mint,
        wake: Callable[[str, str], None],
        runs_at_once: bool,
    ) -> None:
        self._agent = agent
        self._store = store
        self._configs = configs
        self._runs = runs
        self._recorder = recorder
        self._threads = threads
        self._mint = mint
        self._wake = wake
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
            run, is_new = self._runs.start(key, lambda: self._run(opened, may_answer=True))
            opened.joined = not is_new
            return run
        runs_here = self._runs_at_once and not opened.turn.role
        lease = self._mint.new_id() if runs_here else ""
        try:
            task = self._create(opened, opened.first, lease=lease)
        except AlreadyRunning as running:
            opened.join(running.stored, before=before_turn(self._store, running.stored))
            return running.stored
        except TooLarge:
            raise too_large() from None
        if runs_here:
            return self._run_recorded(opened, task, lease, key)
        self._wake(opened.turn.role, task.task.id)
        return task

    def store_late(self, run: Run, opened: Opened) -> None:
        """Stores a run that goes on, beside it: whoever waits for the answer need not wait for the store. Where another instance
        was sooner with the same request, the run is given up, and `opened.stored` is that one's task.
        """
        lease = self._mint.new_id()

        def create() -> StoredTask | None:
            try:
                return self._create(opened, opened.first, lease=lease)
            except AlreadyRunning as running:
                opened.joined, opened.stored = True, running.stored
                run.give_up(instead=running.stored.task.id)
                return None
            except Unavailable:
                return self._create_patiently(opened, lease)
            except TooLarge:
                return None

        self._record_beside(run, create, opened, lease)

    def store_beside(self, run: Run, opened: Opened) -> None:
        """Stores a run from its first event on, while it is streamed; a Message alone is not stored."""
        lease = self._mint.new_id()

        def create() -> StoredTask | None:
            return None if isinstance(run.relay.first(), Message) else self._create_patiently(opened, lease)

        self._record_beside(run, create, opened, lease)

    def store_settled(self, opened: Opened, task: Task) -> None:
        """Stores a turn that ended before it was stored. Where the store is away, that is no failure of one at its end, nor of
        one that a person reads, whose conversation goes on without a task.
        """
        try:
            self._create(opened, task, lease="", joins=False)
        except TaskExists:
            pass
        except (TooLarge, Unavailable):
            if not (task.status.state.terminal or opened.call.for_ui):
                raise

    def _record_beside(
        self, run: Run, create: Callable[[], StoredTask | None], opened: Opened, lease: str
    ) -> None:
        def record() -> None:
            stored = create()
            if stored is not None:
                self._recorder.record(run, stored, lease, work=opened.work)

        self._threads.run(lambda: self._recorder.contained(run, record))

    def _create_patiently(self, opened: Opened, lease: str) -> StoredTask:
        """The task as it was stored, for the same request to join; or beside that one's task, where it was stored sooner, since
        somebody knows this one already.
        """

        def create() -> StoredTask:
            try:
                with contextlib.suppress(AlreadyRunning):
                    return self._create(opened, opened.first, lease=lease)
                return self._create(opened, opened.first, lease=lease, joins=False)
            except TaskExists:
                # An attempt whose answer was lost: the same request that runs already may be this one.
                stored = self._store.get(opened.first.id, owner=opened.owner)
                if stored is None:
                    raise
                return stored

        return self._recorder.patience.wait_for(create)

    def run_again(self, task_id: str, *, request_id: str, record: dict[str, object]) -> TaskState | None:
        """Runs a task that nobody runs to the end of its turn; its state then, or None where there was nothing to run.

        Raises LeaseLost and TaskEnded where the store took so long that the lease ran out meanwhile.
        """
        if self._recorder.is_recording(task_id):
            # The lease ran out because this process stood still, the clock was set or the store was away; it is taken again.
            return None
        seconds = self._recorder.times.seconds
        lease = self._store.lease(request_id, seconds=seconds, roles=(HUB,), task_id=task_id)
        if lease is None:
            return None
        stored = lease.stored
        work = read_work(stored.work)
        call = work.call(stored.task, request_id=request_id, record=record)
        if stored.cancel_requested:
            canceled = status_update(stored.task, TaskState.CANCELED, self._mint.timestamp())
            self._store.append(task_id, [canceled], lease=lease.token)
            self._agent.cancel(call)
            return TaskState.CANCELED
        if stored.attempt > _MOST_ATTEMPTS:
            self._store.append(task_id, [self._recorder.failure(stored.task)], lease=lease.token)
            return TaskState.FAILED
        try:
            turn = self._agent.send(work.request, call)
        except A2AError as refusal:
            said = self._recorder.failure(stored.task, refusal.message)
            self._store.append(task_id, [said], lease=lease.token)
            return TaskState.FAILED
        opened = Opened(work.request, work.request, call, turn, stored.task, stored=stored)
        run, _ = self._runs.start(None, lambda: self._run(opened, may_answer=False))
        self._recorder.record(run, stored, lease.token, work=opened.work)
        now = self._store.get(task_id, owner=None)
        return now.task.status.state if now else None

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
            self._wake(opened.turn.role, stored.task.id)
            return stored
        lease = self._store.lease(
            opened.call.request_id,
            seconds=self._recorder.times.seconds,
            roles=(HUB,),
            task_id=stored.task.id,
        )
        # Without a lease, the runner was sooner.
        return stored if lease is None else self._run_recorded(opened, lease.stored, lease.token, None)

    def _run_recorded(self, opened: Opened, stored: StoredTask, lease: str, key: str | None) -> Run:
        run, _ = self._runs.start(key, lambda: self._run(opened, may_answer=False))
        self._threads.run(lambda: self._recorder.record(run, stored, lease, work=opened.work))
        return run

    def _run(self, opened: Opened, *, may_answer: bool) -> Run:
        events = updates(
            opened.turn.events,
            opened.first,
            cancellation=opened.call.cancellation,
            timestamp=self._mint.timestamp,
            may_answer=may_answer,
        )
        return Run(opened.call, events, tell=self._agent.cancel, threads=self._threads)

    def _create(self, opened: Opened, task: Task, *, lease: str, joins: bool = True) -> StoredTask:
        """Raises AlreadyRunning where it `joins` the same request's task; TaskExists, TooLarge, Unavailable."""
        new = NewTask(
            task=task,
            owner=opened.owner,
            role=opened.turn.role,
            work=opened.work(),
            request_key=opened.key() if joins else "",
            lease=lease,
            lease_seconds=self._recorder.times.seconds,
            push=self._configs.with_message(opened.webhook, opened.call.version, task_id=task.id),
        )
        opened.stored = self._store.create(new)
        return opened.stored
