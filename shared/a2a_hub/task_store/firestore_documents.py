"""The documents of a task: its head with what is small, its log, and chunks of what would not fit into one document.

A document holds 1 MiB at most, and a commit 10 MiB: what is larger is written beforehand, under a name that
nothing refers to yet.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import structs

from a2a_hub.a2a.model import Task, TaskState
from a2a_hub.runtime.ids import random_hex
from a2a_hub.task_store.firestore_client import Contention, Database, Fields
from a2a_hub.task_store.store import Entry
from a2a_hub.task_store.task_log import SnapshotCache, apply_events, read_event, read_task, task_bytes
from a2a_hub.task_store.task_record import TaskRecord, snapshot_due

if TYPE_CHECKING:
    from google.cloud.firestore import DocumentReference, WriteBatch

CHUNK_BYTES = 900_000
_INLINE_BYTES = 200_000
# Less than the 4 MiB that a gRPC server takes by default; Firestore itself takes 10.
_CHUNKS_PER_COMMIT = 3
_DELETIONS_PER_COMMIT = 300
_FIELDS = TaskRecord.__struct_fields__
_IMPOSSIBLE_ID = re.compile(r"\.{1,2}|__.*__|.*/.*|", re.DOTALL)
_LONGEST_ID_BYTES = 1_000
_LONGEST_KEY = 300

Body = bytes | list[Any]
"""Bytes, or the name and the number of the chunks that hold them."""


def possible_id(task_id: str) -> bool:
    """Whether a document can have this id: whatever else a caller asks for does not exist."""
    return len(task_id.encode()) <= _LONGEST_ID_BYTES and not _IMPOSSIBLE_ID.fullmatch(task_id)


def index_key(text: str) -> str:
    """What stands for the text in an index, whose values cannot be of any length."""
    return text if len(text) <= _LONGEST_KEY else f"sha256:{digest(text)}"


def digest(text: str) -> str:
    """A name for a document: owners and keys may hold what a name may not."""
    return hashlib.sha256(text.encode()).hexdigest()


def record_fields(record: TaskRecord) -> Fields:
    """The fields of a head's document: the head's own, and those that questions are asked about."""
    return {
        **structs.asdict(record),
        "state": str(record.state),
        "owner_key": index_key(record.owner),
        "context_key": index_key(record.context_id),
        "due_at": record.due_at,
    }


def read_record(fields: Fields) -> TaskRecord:
    """The head in a document."""
    values = {name: fields[name] for name in _FIELDS}
    return TaskRecord(**{**values, "state": TaskState(values["state"])})


class Bodies:
    """Bytes of any size in, and below, a task's document."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, task: DocumentReference, body: bytes, *, inline: int = _INLINE_BYTES) -> Body:
        """What to keep in a document, after the rest is stored."""
        if len(body) <= inline:
            return body
        name = random_hex()
        chunks = [body[at : at + CHUNK_BYTES] for at in range(0, len(body), CHUNK_BYTES)]
        for start in range(0, len(chunks), _CHUNKS_PER_COMMIT):
            batch = self._database.batch()
            for at, chunk in enumerate(chunks[start : start + _CHUNKS_PER_COMMIT], start=start):
                batch.create(_chunk(task, name, at), {"body": chunk})
            self._database.commit(batch)
        return [name, len(chunks)]

    def get(self, task: DocumentReference, body: Body) -> bytes:
        """What was put. Raises Changed where somebody has replaced it since."""
        if isinstance(body, bytes):
            return body
        references = [_chunk(task, body[0], at) for at in range(body[1])]
        found = self._database.read(*references)
        if not all(found[reference.path].exists for reference in references):
            raise Contention
        return b"".join(found[reference.path].get("body") for reference in references)

    def delete(self, task: DocumentReference, bodies: Iterable[Body | None]) -> None:
        """Deletes what nothing refers to any longer; what is left behind goes with its task."""
        chunked = [body for body in bodies if isinstance(body, list)]
        references = [_chunk(task, body[0], at) for body in chunked for at in range(body[1])]
        delete_all(self._database, references)


class Snapshots:
    """What logs fold to: in the head itself while it is small, else in a snapshot, with the tail of the log behind it."""

    def __init__(self, database: Database, bodies: Bodies) -> None:
        self._database = database
        self._bodies = bodies
        self._remembered = SnapshotCache()

    def task(self, document: DocumentReference, fields: Fields, record: TaskRecord) -> Task:
        """The task at the head's version."""
        if record.snapshot_version == record.version:
            return read_task(self._bodies.get(document, fields["snapshot"]))
        key = (record.id, record.created_at)
        version, task = self._remembered.nearest(key, record)
        if task is None:
            version, task = (
                record.snapshot_version,
                read_task(self._bodies.get(document, fields["snapshot"])),
            )
        entries = read_log(
            self._database, self._bodies, document, after=version, limit=record.version - version
        )
        task = apply_events(task, (entry.event for entry in entries))
        self._remembered.remember(key, record, task)
        return task

    def keep(self, document: DocumentReference, record: TaskRecord, task: Task) -> tuple[TaskRecord, Fields]:
        """The head and the field that keep the fold, where that is due."""
        if record.size > _INLINE_BYTES:
            self._remembered.remember((record.id, record.created_at), record, task)
            if not snapshot_due(record):
                return record, {}
        snapshot = self._bodies.put(document, task_bytes(task))
        kept = structs.replace(record, snapshot_version=record.version, snapshot_size=record.size)
        return kept, {"snapshot": snapshot}


def add_entries(batch: WriteBatch, document: DocumentReference, version: int, bodies: Sequence[Body]) -> None:
    """The log goes on behind `version`."""
    for sequence, body in enumerate(bodies, start=version + 1):
        batch.create(
            document.collection("log").document(f"{sequence:09d}"), {"sequence": sequence, "body": body}
        )


def read_log(
    database: Database, bodies: Bodies, document: DocumentReference, *, after: int, limit: int
) -> list[Entry]:
    """The log from behind the sequence number `after`."""
    from google.cloud.firestore import FieldFilter

    query = document.collection("log").where(filter=FieldFilter("sequence", ">", after))
    found = database.query(query.order_by("sequence").limit(limit))
    return [Entry(one.get("sequence"), read_event(bodies.get(document, one.get("body")))) for one in found]


def delete_all(database: Database, references: Sequence[DocumentReference]) -> None:
    """Deletes documents, many at a time."""
    for start in range(0, len(references), _DELETIONS_PER_COMMIT):
        batch = database.batch()
        for reference in references[start : start + _DELETIONS_PER_COMMIT]:
            batch.delete(reference)
        database.commit(batch)


def _chunk(task: DocumentReference, name: str, at: int) -> DocumentReference:
    chunk: DocumentReference = task.collection("chunks").document(f"{name}-{at:04d}")
    return chunk
