"""Runs stored tasks that nobody runs: those that were only stored, and those whose process has died."""

from __future__ import annotations

from a2a_hub.a2a.agent import Agent
from a2a_hub.a2a.errors import A2AError
from a2a_hub.a2a.model import TaskState
from a2a_hub.task_store.store import HUB, TaskStore
from a2a_hub.tasks.opened import Opened
from a2a_hub.tasks.recorder import Recorder
from a2a_hub.tasks.resume_payload import read_resume_payload
from a2a_hub.tasks.run import Runs
from a2a_hub.tasks.updates import status_update


class Runner:
    """A task that was begun `most_attempts` times in one turn, and has not come to its end, has failed."""

    def __init__(
        self, agent: Agent, store: TaskStore, *, runs: Runs, recorder: Recorder, most_attempts: int
    ) -> None:
        self._agent = agent
        self._store = store
        self._runs = runs
        self._recorder = recorder
        self._most_attempts = most_attempts

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
        work = read_resume_payload(stored.work)
        call = work.call(stored.task, request_id=request_id, record=record)
        if stored.cancel_requested:
            canceled = status_update(
                stored.task, TaskState.CANCELED, self._recorder.message_factory.timestamp()
            )
            self._store.append(task_id, [canceled], lease=lease.token)
            self._agent.cancel(call)
            return TaskState.CANCELED
        if stored.attempt > self._most_attempts:
            self._store.append(task_id, [self._recorder.failure_event(stored.task)], lease=lease.token)
            return TaskState.FAILED
        try:
            turn = self._agent.send(work.request, call)
        except A2AError as refusal:
            said = self._recorder.failure_event(stored.task, refusal.message)
            self._store.append(task_id, [said], lease=lease.token)
            return TaskState.FAILED
        opened = Opened(work.request, work.request, call, turn, stored.task, stored=stored)
        run, _ = self._runs.start(None, opened, allows_message=False)
        self._recorder.record(run, stored, lease.token, work=opened.work)
        now = self._store.get(task_id, owner=None)
        return now.task.status.state if now else None
