"""What can be wrong with a worker's request, beside what can be wrong with any: each a problem with its own word."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from a2a_hub.a2a.errors import TASK_NOT_FOUND, A2AError, ErrorKind, invalid_field
from a2a_hub.a2a.model import Event, TaskState
from a2a_hub.task_store.store import (
    LeaseLost,
    StoredTask,
    TaskEnded,
    TaskStore,
    TooLarge,
    UnknownTask,
    WrongVersion,
)
from functions.tasks.workers import wire
from functions.tasks.workers.events import Events
from functions.tasks.workers.identity import Worker
from functions.tasks.workers.wire import worker_status

LEASE_LOST = ErrorKind(
    "LEASE_LOST", -32600, 409, "FAILED_PRECONDITION", "The lease is no longer the task's", a2a=False
)
TASK_ENDED = ErrorKind("TASK_ENDED", -32600, 409, "FAILED_PRECONDITION", "The task has ended", a2a=False)
WRONG_VERSION = ErrorKind(
    "WRONG_VERSION", -32600, 409, "ABORTED", "The task has another version by now", a2a=False
)
TASK_TOO_LARGE = ErrorKind(
    "TASK_TOO_LARGE", -32600, 413, "FAILED_PRECONDITION", "The task would grow too large", a2a=False
)


def lease_lost() -> A2AError:
    """The lease in the request is not the one that the task has."""
    return A2AError(
        LEASE_LOST,
        "This lease ran out, was given back, or ended with the task's turn: drop this work, another worker may have it. "
        "Renew before leaseSeconds have passed",
        fields=(("lease", "is not the task's lease"),),
    )


def task_ended() -> A2AError:
    """Nothing can be added any more."""
    return A2AError(TASK_ENDED, "The task has ended, or was cancelled: drop this work")


def wrong_version() -> A2AError:
    """The request was written for another version."""
    return A2AError(
        WRONG_VERSION,
        "The task has grown since this version: where the same request was sent before, it was taken then",
        fields=(("version", "is not the task's version"),),
    )


def too_large() -> A2AError:
    """What a task may hold is bounded."""
    return A2AError(
        TASK_TOO_LARGE,
        "The task would grow larger than a task may be: send less, or put the result elsewhere and send its URL",
    )


class LeaseOperations:
    """The writes. A cancellation that was asked for ends the task with the next of them, except with a result."""

    def __init__(self, store: TaskStore, events: Events) -> None:
        self._store = store
        self._events = events

    def renew(self, worker: Worker, task_id: str, sent: wire.Renew) -> wire.Answer:
        """The lease lasts longer; or the task has ended, where that was asked for."""
        self._found(worker, task_id)
        with _refusals(task_id):
            stored = self._store.renew(task_id, sent.lease, seconds=sent.lease_seconds).stored
        return self._unless_cancelled(stored, sent.lease, lambda: stored)

    def progress(self, worker: Worker, task_id: str, sent: wire.Progress) -> wire.Answer:
        """The updates are in the task's log."""
        stored = self._found(worker, task_id)
        events = self._events.of_progress(stored.task, sent.updates)
        if events:
            stored = self._append(stored, events, sent)
        else:
            with _refusals(task_id):
                stored = self._store.append(task_id, (), lease=sent.lease)
        return self._unless_cancelled(stored, sent.lease, lambda: stored)

    def complete(self, worker: Worker, task_id: str, sent: wire.Complete) -> wire.Answer:
        """The task has ended with its result, even where it was being cancelled: what is done is not thrown away."""
        if not sent.text and not sent.artifacts:
            raise invalid_field("text", "must be there, or artifacts: the user gets them as the answer")
        stored = self._found(worker, task_id)
        events = self._events.of_result(stored, sent.text, sent.artifacts)
        return _answer(self._append(stored, events, sent))

    def fail(self, worker: Worker, task_id: str, sent: wire.Fail) -> wire.Answer:
        """The task has failed, and its owner can read why."""
        reason = _required("reason", sent.reason)
        stored = self._found(worker, task_id)
        return self._unless_cancelled(
            stored,
            sent.lease,
            lambda: self._append(stored, [self._events.status(stored.task, TaskState.FAILED, reason)], sent),
        )

    def require_input(self, worker: Worker, task_id: str, sent: wire.RequireInput) -> wire.Answer:
        """The task waits for its client, and nobody holds it; with the answer it is due again."""
        text = _required("text", sent.text)
        stored = self._found(worker, task_id)
        state = TaskState.AUTH_REQUIRED if sent.auth else TaskState.INPUT_REQUIRED
        return self._unless_cancelled(
            stored,
            sent.lease,
            lambda: self._append(stored, [self._events.status(stored.task, state, text)], sent),
        )

    def release(self, worker: Worker, task_id: str, sent: wire.LeasedRequest) -> wire.Answer:
        """Another worker can have the task at once."""
        stored = self._found(worker, task_id)

        def released() -> StoredTask:
            with _refusals(task_id):
                self._store.release(task_id, sent.lease)
            return stored

        return self._unless_cancelled(stored, sent.lease, released, leased=False)

    def _unless_cancelled(
        self, stored: StoredTask, lease: str, do: Callable[[], StoredTask], *, leased: bool = True
    ) -> wire.Answer:
        if not stored.cancel_requested or stored.task.status.state.terminal:
            return _answer(do(), leased=leased)
        canceled = self._events.status(stored.task, TaskState.CANCELED)
        with _refusals(stored.task.id):
            return _answer(self._store.append(stored.task.id, [canceled], lease=lease))

    def _append(self, stored: StoredTask, events: Sequence[Event], sent: wire.LeasedRequest) -> StoredTask:
        with _refusals(stored.task.id):
            return self._store.append(stored.task.id, events, lease=sent.lease, expected_version=sent.version)

    def _found(self, worker: Worker, task_id: str) -> StoredTask:
        stored = self._store.get(task_id, owner=None)
        if stored is None or not worker.may_work_on(stored.role):
            raise _not_found(task_id)
        if stored.task.status.state.terminal:
            raise task_ended()
        return stored


@contextmanager
def _refusals(task_id: str) -> Iterator[None]:
    """The store's refusals, as those of the API."""
    try:
        yield
    except LeaseLost:
        raise lease_lost() from None
    except TaskEnded:
        raise task_ended() from None
    except WrongVersion:
        raise wrong_version() from None
    except TooLarge:
        raise too_large() from None
    except UnknownTask:
        raise _not_found(task_id) from None


def _not_found(task_id: str) -> A2AError:
    return A2AError(TASK_NOT_FOUND, metadata={"taskId": task_id[:200]})


def _required(name: str, text: str) -> str:
    if not text.strip():
        raise invalid_field(name, "must say something: the user reads it")
    return text


def _answer(stored: StoredTask, *, leased: bool = True) -> wire.Answer:
    return wire.Answer(
        task_id=stored.task.id,
        status=worker_status(stored.task.status.state, leased=leased),
        version=stored.version,
        cancel_requested=stored.cancel_requested,
    )
