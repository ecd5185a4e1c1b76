"""The writes of a worker under its lease, and the errors that only they raise."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from msgspec import Struct

from a2a_hub.a2a.errors import TASK_NOT_FOUND, A2AError, ErrorKind, invalid_field
from a2a_hub.a2a.model import Event, TaskState
from a2a_hub.queue.wakeups import topic_of
from a2a_hub.task_store.store import (
    LeaseLost,
    StoredTask,
    StoreError,
    TaskEnded,
    TaskStore,
    TooLarge,
    UnknownTask,
    WrongVersion,
)
from functions.tasks.workers import wire
from functions.tasks.workers.identity import Worker
from functions.tasks.workers.leasing import WorkerWaits
from functions.tasks.workers.wire import progress_events, result_events, status_event, worker_status

# The store's errors as those of the API: the kind, the text for the worker, and the invalid fields.
_ERRORS: dict[type[StoreError], tuple[ErrorKind, str, tuple[tuple[str, str], ...]]] = {
    LeaseLost: (
        ErrorKind("LEASE_LOST", -32600, 409, "FAILED_PRECONDITION", "The lease is no longer the task's"),
        (
            "This lease ran out, was given back, or ended with the task's turn: drop this work, another worker may have it. "
            "Renew before leaseSeconds have passed"
        ),
        (("lease", "is not the task's lease"),),
    ),
    TaskEnded: (
        ErrorKind("TASK_ENDED", -32600, 409, "FAILED_PRECONDITION", "The task has ended"),
        "The task has ended, or was cancelled: drop this work",
        (),
    ),
    WrongVersion: (
        ErrorKind("WRONG_VERSION", -32600, 409, "ABORTED", "The task has another version by now"),
        "The task has grown since this version: where the same request was sent before, it was taken then",
        (("version", "is not the task's version"),),
    ),
    TooLarge: (
        ErrorKind("TASK_TOO_LARGE", -32600, 413, "FAILED_PRECONDITION", "The task would grow too large"),
        "The task would grow larger than a task may be: send less, or put the result elsewhere and send its URL",
        (),
    ),
}
# A cancellation reaches a worker that waits within two seconds, whichever instance it waits at.
_CANCEL_POLL_SECONDS = 1.0


class LeaseOperations(Struct, frozen=True):
    """The writes of workers. A requested cancellation takes effect with the next write, except with a result."""

    store: TaskStore
    waits: WorkerWaits

    def renew(self, worker: Worker, task_id: str, request: wire.Renew) -> wire.WriteResult:
        """Extend the lease; or end the task, if its cancellation was requested, or is while the worker waits."""
        self._require(worker, task_id)
        with _store_errors(task_id):
            try:
                stored = self.store.renew(task_id, request.lease, seconds=request.lease_seconds)
            except LeaseLost:
                self._require(worker, task_id)  # the task may have ended meanwhile
                raise
        if request.wait_seconds and not stored.cancel_requested:
            stored = self._wait_for_change(stored, wait_seconds=request.wait_seconds) or stored
        return self._unless_cancelled(stored, request.lease, lambda: stored)

    def _wait_for_change(self, stored: StoredTask, *, wait_seconds: float) -> StoredTask | None:
        """Wait until the task is cancelled or its turn has ended, and return it then."""

        def poll() -> StoredTask | None:
            now = self.store.get(stored.task.id, owner=None)
            return now if now and (now.cancel_requested or now.task.status.state.settled) else None

        return self.waits.until(
            poll, topics=[topic_of(stored.role)], seconds=wait_seconds, max_poll_seconds=_CANCEL_POLL_SECONDS
        )

    def progress(self, worker: Worker, task_id: str, request: wire.Progress) -> wire.WriteResult:
        """Append the updates to the task's log."""
        stored = self._require(worker, task_id)
        events = list(progress_events(stored.task, request.updates))
        if events:
            stored = self._append(stored, events, request)
        else:
            with _store_errors(task_id):
                stored = self.store.append(task_id, (), lease=request.lease)
        return self._unless_cancelled(stored, request.lease, lambda: stored)

    def complete(self, worker: Worker, task_id: str, request: wire.Complete) -> wire.WriteResult:
        """End the task with its result, even during a cancellation: finished work is kept."""
        if not request.text and not request.artifacts:
            raise invalid_field("text", "must be there, or artifacts: the user gets them as the answer")
        stored = self._require(worker, task_id)
        events = result_events(stored, request.text, request.artifacts)
        return _result(self._append(stored, events, request))

    def fail(self, worker: Worker, task_id: str, request: wire.Fail) -> wire.WriteResult:
        """End the task in failure, with the reason for its owner."""
        return self._end(worker, task_id, request, TaskState.FAILED, _required("reason", request.reason))

    def require_input(self, worker: Worker, task_id: str, request: wire.RequireInput) -> wire.WriteResult:
        """End the lease and wait for the client; the task becomes due again with the answer."""
        state = TaskState.AUTH_REQUIRED if request.auth else TaskState.INPUT_REQUIRED
        return self._end(worker, task_id, request, state, _required("text", request.text))

    def release(self, worker: Worker, task_id: str, request: wire.LeasedRequest) -> wire.WriteResult:
        """Release the lease, so that another worker can take the task at once."""
        stored = self._require(worker, task_id)

        def released() -> StoredTask:
            with _store_errors(task_id):
                self.store.release(task_id, request.lease)
            return stored

        return self._unless_cancelled(stored, request.lease, released, leased=False)

    def _end(
        self, worker: Worker, task_id: str, request: wire.LeasedRequest, state: TaskState, text: str
    ) -> wire.WriteResult:
        stored = self._require(worker, task_id)
        status = status_event(stored.task, state, text)
        return self._unless_cancelled(stored, request.lease, lambda: self._append(stored, [status], request))

    def _unless_cancelled(
        self, stored: StoredTask, lease: str, do: Callable[[], StoredTask], *, leased: bool = True
    ) -> wire.WriteResult:
        if not stored.cancel_requested or stored.task.status.state.terminal:
            return _result(do(), leased=leased)
        canceled = status_event(stored.task, TaskState.CANCELED)
        with _store_errors(stored.task.id):
            return _result(self.store.append(stored.task.id, [canceled], lease=lease))

    def _append(self, stored: StoredTask, events: Sequence[Event], request: wire.LeasedRequest) -> StoredTask:
        with _store_errors(stored.task.id):
            return self.store.append(stored.task.id, events, lease=request.lease, expected_version=request.version)

    def _require(self, worker: Worker, task_id: str) -> StoredTask:
        stored = self.store.get(task_id, owner=None)
        if stored is None or not worker.may_work_on(stored.role):
            raise _not_found(task_id)
        if stored.task.status.state.terminal:
            raise _error(TaskEnded)
        return stored


@contextmanager
def _store_errors(task_id: str) -> Iterator[None]:
    """Translate the store's errors into those of the API."""
    try:
        yield
    except UnknownTask:
        raise _not_found(task_id) from None
    except tuple(_ERRORS) as error:
        raise _error(type(error)) from None


def _error(of: type[StoreError]) -> A2AError:
    kind, text, fields = _ERRORS[of]
    return A2AError(kind, text, fields=fields)


def _not_found(task_id: str) -> A2AError:
    return A2AError(TASK_NOT_FOUND, metadata={"taskId": task_id[:200]})


def _required(name: str, text: str) -> str:
    if not text.strip():
        raise invalid_field(name, "must say something: the user reads it")
    return text


def _result(stored: StoredTask, *, leased: bool = True) -> wire.WriteResult:
    return wire.WriteResult(
        task_id=stored.task.id,
        status=worker_status(stored.task.status.state, leased=leased),
        version=stored.version,
        cancel_requested=stored.cancel_requested,
    )
