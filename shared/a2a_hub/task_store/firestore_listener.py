"""Listen to the logs of all followed tasks of this process: one stream of Firestore, with a target on it for each task.

cloud.google.com/firestore/docs/reference/rpc/google.firestore.v1#google.firestore.v1.Firestore.Listen
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from a2a_hub.task_store.firestore_client import Database, as_unavailable
from a2a_hub.task_store.firestore_documents import digest, listed_entries, possible_id
from a2a_hub.task_store.log_watch import LogWatch
from a2a_hub.task_store.store import Unavailable

if TYPE_CHECKING:
    from google.cloud.firestore_v1.types import ListenRequest

_SHORTEST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 5.0
_END_SECONDS = 1.0


class _Target:
    """A followed log: the documents that Firestore lists from the one with entry `after` on, and the unreported ones of them."""

    def __init__(self, number: int, task_id: str, after: int) -> None:
        self.number = number
        self.task_id = task_id
        self.after = after
        self.listed = False
        self.reset()

    def reset(self) -> None:
        """Expect the whole list again."""
        self.current = self.checked = False
        self.names: set[str] = set()
        self.unreported: list[Any] = []


class LogListener:
    """A source of new entries. Its stream exists from the first followed task on, until it breaks while none is followed."""

    def __init__(self, database: Database, read_version: Callable[[str], int]) -> None:
        """`read_version` returns 0 for an unknown task. Raises Unavailable."""
        self._database = database
        self._read_version = read_version
        self._lock = threading.Lock()
        self._tasks: dict[str, _Target] = {}
        self._targets: dict[int, _Target] = {}
        self._last_number = 0
        self._stream: _Stream | None = None

    def start(self, watch: LogWatch) -> None:
        self._watch = watch

    def add(self, task_id: str, *, after: int) -> None:
        with self._lock:
            self._last_number += 1
            target = _Target(self._last_number, task_id, after)
            self._tasks[task_id] = self._targets[target.number] = target
            if self._stream is None:
                self._stream = _Stream(self)
            else:
                self._stream.requests.put(self._to_add(target))

    def remove(self, task_id: str) -> None:
        with self._lock:
            target = self._tasks.pop(task_id)
            del self._targets[target.number]
            if self._stream:
                self._stream.requests.put(self._request(remove_target=target.number))

    def close(self) -> None:
        with self._lock:
            stream, self._stream = self._stream, None
        if stream:
            stream.end()

    def is_needed(self, stream: _Stream) -> bool:
        """Return False for a stream that is broken while no task is followed, and forget it."""
        with self._lock:
            if not self._tasks and self._stream is stream:
                self._stream = None
            return self._stream is stream

    def connect(self, stream: _Stream) -> Any:
        """Return the responses on a new connection with all targets. Raise Unavailable for a stream that has been ended."""
        client = self._database.client
        with self._lock:
            if stream is not self._stream:
                raise Unavailable("ended")
            stream.requests = queue.SimpleQueue()
            for target in self._targets.values():
                target.reset()
                stream.requests.put(self._to_add(target))
        return client._firestore_api.listen(iter(stream.requests.get, None), metadata=client._rpc_metadata, retry=None)

    def _to_add(self, target: _Target) -> ListenRequest:
        from google.cloud.firestore_v1.types import Target

        # No task has an impossible id, nor a digest of one.
        name = target.task_id if possible_id(target.task_id) else digest(target.task_id)
        log = self._database.collection("tasks").document(name).collection("log")
        query = self._database.where(log, ("sequence", ">=", target.after))
        listed = Target.QueryTarget(parent=log.parent._document_path, structured_query=query._to_protobuf())
        return self._request(add_target=Target(query=listed, target_id=target.number))

    def _request(self, **change: Any) -> ListenRequest:
        from google.cloud.firestore_v1.types import ListenRequest

        return ListenRequest(database=self._database.client._database_string, **change)

    def handle(self, response: Any) -> None:
        """Collect changed documents until Firestore says that they are consistent. Raise Unavailable for a refused target."""
        message = response._pb
        match message.WhichOneof("response_type"):
            case "document_change":
                document = message.document_change.document
                for target in self._of(message.document_change.target_ids):
                    target.names.add(document.name)
                    target.unreported.append(document)
            case "document_delete" | "document_remove" as kind:
                removal = getattr(message, kind)
                for target in self._of(removal.removed_target_ids):
                    target.names.discard(removal.document)
            case "target_change":
                self._change(message.target_change)

    def _change(self, change: Any) -> None:
        kinds = type(change)
        targets = self._of(change.target_ids)
        match change.target_change_type:
            case kinds.REMOVE if change.cause.code and targets:
                raise Unavailable(f"Listen: {change.cause.code} {change.cause.message}")
            case kinds.RESET:
                for target in targets:
                    target.reset()
            case kinds.CURRENT:
                for target in targets:
                    target.current = True
            case kinds.NO_CHANGE if not change.target_ids:
                for target in list(self._targets.values()):
                    self._report(target)

    def _report(self, target: _Target) -> None:
        if not target.current:
            return
        if target.unreported:
            documents, target.unreported, target.listed = target.unreported, [], True
            target.after = max(target.after, *(document.fields["sequence"].integer_value for document in documents))
            known = self._watch.version(target.task_id)
            entries = [sized for document in documents for sized in listed_entries(document.fields, after=known)]
            self._watch.advance(target.task_id, target.after, entries)
        elif not target.names and not target.checked:
            # Only a deletion takes documents from a log.
            is_gone = target.listed or self._read_version(target.task_id) == 0
            target.checked = True
            if is_gone:
                self._watch.advance(target.task_id, 0)

    def _of(self, numbers: Iterable[int]) -> list[_Target]:
        return [self._targets[number] for number in numbers if number in self._targets]


class _Stream:
    """A thread that keeps up a connection while it is needed, with growing pauses during an outage."""

    def __init__(self, listener: LogListener) -> None:
        self.requests: queue.SimpleQueue[ListenRequest | None] = queue.SimpleQueue()
        self._listener = listener
        self._ended = threading.Event()
        self._responses: Any = None
        self.thread = threading.Thread(target=self._run, name="task-store-listener", daemon=True)
        self.thread.start()

    def end(self) -> None:
        """End the connection, by its cancellation only if the service does not end it, and then the thread."""
        self._ended.set()
        self.requests.put(None)
        self.thread.join(_END_SECONDS)
        if self._responses is not None:
            self._responses.cancel()

    def _run(self) -> None:
        pause = _SHORTEST_PAUSE_SECONDS
        while not self._ended.is_set() and self._listener.is_needed(self):
            with contextlib.suppress(Unavailable), as_unavailable():
                self._responses = self._listener.connect(self)
                if self._ended.is_set():
                    self._responses.cancel()
                for response in self._responses:
                    if self._ended.is_set():
                        break
                    self._listener.handle(response)
                    pause = _SHORTEST_PAUSE_SECONDS
            self.requests.put(None)
            self._ended.wait(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
