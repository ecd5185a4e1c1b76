"""Run stored tasks that no process runs: queued ones, and those whose process died."""

from a2a_hub.a2a.agent import Agent
from a2a_hub.a2a.errors import A2AError
from a2a_hub.a2a.model import TaskState
from a2a_hub.task_store.store import HUB, TaskStore
from a2a_hub.tasks.opened import Opened
from a2a_hub.tasks.recorder import Recorder
from a2a_hub.tasks.resume_payload import decode_resume_payload
from a2a_hub.tasks.run import Runs
from a2a_hub.tasks.updates import status_update


class Runner:
    """The runner of stored tasks. A task fails after `most_attempts` starts in one turn without an end."""

    def __init__(self, agent: Agent, store: TaskStore, *, runs: Runs, recorder: Recorder, most_attempts: int) -> None:
        self._agent = agent
        self._store = store
        self._runs = runs
        self._recorder = recorder
        self._most_attempts = most_attempts

    def run_again(self, task_id: str, *, request_id: str, record: dict[str, object]) -> TaskState | None:
        """Run a task to the end of its turn. Return its state then, or None if there was nothing to run.

        Raise LeaseLost or TaskEnded if the lease expired while the store was slow.
        """
        if self._recorder.is_recording(task_id):
            # The lease expired in a pause of this process, a clock change or an outage; the recorder takes it again.
            return None
        seconds = self._recorder.times.seconds
        lease = self._store.lease(request_id, seconds=seconds, roles=(HUB,), task_id=task_id)
        if lease is None:
            return None
        stored = lease.stored
        payload = decode_resume_payload(stored.payload)
        call = payload.call(stored.task, request_id=request_id, record=record)
        if stored.cancel_requested:
            canceled = status_update(stored.task, TaskState.CANCELED, self._recorder.message_factory.timestamp())
            self._store.append(task_id, [canceled], lease=lease.token)
            self._agent.cancel(call)
            return TaskState.CANCELED
        if stored.attempt > self._most_attempts:
            self._store.append(task_id, [self._recorder.failure_event(stored.task)], lease=lease.token)
            return TaskState.FAILED
        try:
            turn = self._agent.send(payload.request, call)
        except A2AError as refusal:
            failed = self._recorder.failure_event(stored.task, refusal.message)
            self._store.append(task_id, [failed], lease=lease.token)
            return TaskState.FAILED
        opened = Opened(payload.request, payload.request, call, turn, stored.task, stored=stored)
        run, _ = self._runs.start(None, opened, allows_message=False)
        self._recorder.record(run, stored, lease.token, payload=opened.payload)
        now = self._store.get(task_id, owner=None)
        return now.task.status.state if now else None
