"""The documents of a task: its record, its log, and chunks of bodies that exceed one document.

A document holds 1 MiB at most, and a commit 10 MiB: larger bodies are written first, under a name that nothing refers to yet.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import convert, structs

from a2a_hub.a2a.model import Task
from a2a_hub.runtime.ids import random_hex
from a2a_hub.task_store.firestore_client import Contention, Database, Fields
from a2a_hub.task_store.log_watch import Sized
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
_IMPOSSIBLE_ID = re.compile(r"\.{1,2}|__.*__|.*/.*|", re.DOTALL)
_LONGEST_ID_BYTES = 1_000
_LONGEST_KEY = 300

Body = bytes | list[Any]
"""Bytes, or the name and number of the chunks that hold them."""


def possible_id(task_id: str) -> bool:
    """Return True if a document can have this id; no task has any other."""
    return len(task_id.encode()) <= _LONGEST_ID_BYTES and not _IMPOSSIBLE_ID.fullmatch(task_id)


def index_key(text: str) -> str:
    """Return the text, or a digest of one that is too long for an index."""
    return text if len(text) <= _LONGEST_KEY else f"sha256:{digest(text)}"


def digest(text: str) -> str:
    """Return a document name for any text: owners and keys may hold characters that a name may not."""
    return hashlib.sha256(text.encode()).hexdigest()


def record_fields(record: TaskRecord) -> Fields:
    """Return the fields of a record's document: the record's own, and those of queries."""
    return {
        **structs.asdict(record),
        "state": str(record.state),
        "owner_key": index_key(record.owner),
        "context_key": index_key(record.context_id),
        "due_at": record.due_at,
    }


def read_record(fields: Fields) -> TaskRecord:
    """Return the record in a document; those of older versions have fewer fields."""
    return convert(fields, TaskRecord)


class Bodies:
    """The bodies of a task, of any size, in and below its document."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, task: DocumentReference, body: bytes, *, inline: int = _INLINE_BYTES) -> Body:
        """Store the chunks of a large body; return the value for the document that refers to it."""
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
        """Return a stored body. Raise Contention if it has been replaced since."""
        if isinstance(body, bytes):
            return body
        references = [_chunk(task, body[0], at) for at in range(body[1])]
        found = self._database.read(*references)
        if not all(found[reference.path].exists for reference in references):
            raise Contention
        return b"".join(found[reference.path].get("body") for reference in references)

    def delete(self, task: DocumentReference, bodies: Iterable[Body | None]) -> None:
        """Delete the chunks of unreferenced bodies; leftovers are deleted with the task."""
        chunked = [body for body in bodies if isinstance(body, list)]
        references = [_chunk(task, body[0], at) for body in chunked for at in range(body[1])]
        delete_all(self._database, references)


class Snapshots:
    """The snapshots of tasks: in the record while small, else a body of its own, followed by the tail of the log."""

    def __init__(self, database: Database, bodies: Bodies) -> None:
        self._database = database
        self._bodies = bodies
        self._cache = SnapshotCache()

    def task(self, document: DocumentReference, fields: Fields, record: TaskRecord) -> Task:
        """Return the task at the record's version."""
        if record.snapshot_version == record.version:
            return read_task(self._bodies.get(document, fields["snapshot"]))
        version, task = self._cache.nearest(record)
        if task is None:
            version, task = record.snapshot_version, read_task(self._bodies.get(document, fields["snapshot"]))
        entries = read_log(self._database, self._bodies, document, after=version, limit=record.version - version)
        task = apply_events(task, (entry.event for entry, _ in entries))
        self._cache.put(record, task)
        return task

    def store(self, document: DocumentReference, record: TaskRecord, task: Task) -> tuple[TaskRecord, Fields]:
        """Store a snapshot if one is due; return the record and the changed fields."""
        if record.size > _INLINE_BYTES:
            self._cache.put(record, task)
            if not snapshot_due(record):
                return record, {}
        snapshot = self._bodies.put(document, task_bytes(task))
        updated = structs.replace(record, snapshot_version=record.version, snapshot_size=record.size)
        return updated, {"snapshot": snapshot}


def add_entries(batch: WriteBatch, document: DocumentReference, version: int, bodies: Sequence[Body]) -> None:
    """Add entries after `version` to a commit, as many as fit in each document, which has the number of its last one."""
    log, sequence = document.collection("log"), version
    for packed in _packs(bodies):
        sequence += len(packed)
        fields = {"body": packed[0]} if len(packed) == 1 else {"bodies": packed}
        batch.create(log.document(f"{sequence:09d}"), {"sequence": sequence, **fields})


def _packs(bodies: Sequence[Body]) -> Iterator[list[Body]]:
    pack: list[Body] = []
    for body in bodies:
        size = sum(map(len, pack)) + len(body)
        if pack and (isinstance(body, list) or isinstance(pack[0], list) or size > CHUNK_BYTES):
            yield pack
            pack = []
        pack.append(body)
    if pack:
        yield pack


def read_log(
    database: Database,
    bodies: Bodies,
    document: DocumentReference,
    *,
    after: int,
    limit: int,
    documents: int | None = None,
) -> list[Sized]:
    """Return the entries after the sequence number `after` with their sizes, from at most so many documents."""
    query = database.where(document.collection("log"), ("sequence", ">", after))
    found: list[Sized] = []
    for one in database.query(query.order_by("sequence").limit(documents or limit)):
        fields = one.to_dict()
        packed = fields.get("bodies") or [bodies.get(document, fields["body"])]
        found += _sized(packed, last=fields["sequence"], after=after)
    return found[:limit]


def listed_entries(fields: Mapping[str, Any], *, after: int) -> list[Sized]:
    """Return the entries after the sequence number `after` in a listed document of a log, but not those in chunks."""
    body = fields["body"].bytes_value
    packed = [value.bytes_value for value in fields["bodies"].array_value.values] or ([body] if body else [])
    return _sized(packed, last=fields["sequence"].integer_value, after=after)


def _sized(packed: Sequence[bytes], *, last: int, after: int) -> list[Sized]:
    numbered = enumerate(packed, start=last - len(packed) + 1)
    return [(Entry(sequence, read_event(body)), len(body)) for sequence, body in numbered if sequence > after]


def delete_all(database: Database, references: Sequence[DocumentReference]) -> None:
    """Delete documents in batches."""
    for start in range(0, len(references), _DELETIONS_PER_COMMIT):
        batch = database.batch()
        for reference in references[start : start + _DELETIONS_PER_COMMIT]:
            batch.delete(reference)
        database.commit(batch)


def _chunk(task: DocumentReference, name: str, at: int) -> DocumentReference:
    chunk: DocumentReference = task.collection("chunks").document(f"{name}-{at:04d}")
    return chunk
