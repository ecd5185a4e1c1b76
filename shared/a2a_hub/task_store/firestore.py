"""The task store of a deployed hub: a Firestore database (native mode), shared by all instances.

Concurrency is optimistic: a commit is conditional on the documents it was computed from, and the second of two writers reads
again. Queries need the indices of `firestore.indexes.json`.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from a2a_hub.a2a.model import Event
from a2a_hub.task_store import firestore_push
from a2a_hub.task_store import firestore_records as queries
from a2a_hub.task_store.firestore_client import Contention, Database
from a2a_hub.task_store.firestore_documents import CHUNK_BYTES, Body, add_entries, possible_id, read_log, record_fields
from a2a_hub.task_store.firestore_push import FirestorePushStore
from a2a_hub.task_store.firestore_records import Found, Records, found_record
from a2a_hub.task_store.log_watch import LogWatch, VersionReader
from a2a_hub.task_store.store import (
    AlreadyRunning,
    Entry,
    Lease,
    NewTask,
    Page,
    Position,
    PushConfig,
    StoredTask,
    TaskEnded,
    TaskExists,
    TaskQuery,
    TooLarge,
    Unavailable,
)
from a2a_hub.task_store.task_log import apply_events, event_bytes
from a2a_hub.task_store.task_record import (
    DEFAULT_TASK_BYTES,
    TaskRecord,
    check_append,
    check_lease,
    check_size,
    new_record,
    page_length,
    record_after,
    stored_task,
    with_lease,
    without_lease,
)

if TYPE_CHECKING:
    from google.cloud.firestore import DocumentReference

_POLL_SECONDS = 0.25
_POLL_SHARE = 0.5
_READ_SECONDS = 8.0
_INLINE_BYTES_PER_COMMIT = 2_000_000


class FirestoreTaskStore(FirestorePushStore):
    """The store in a Firestore database. The client is imported and connected on first use."""

    def __init__(
        self,
        *,
        project: str,
        database: str,
        clock: Callable[[], float],
        new_token: Callable[[], str],
        most_task_bytes: int = DEFAULT_TASK_BYTES,
        poll_seconds: float = _POLL_SECONDS,
        read_seconds: float = _READ_SECONDS,
    ) -> None:
        self._database = Database(project, database, read_seconds=read_seconds)
        self._records = Records(self._database)
        super().__init__(self._database, clock)
        self._new_token = new_token
        self._most_task_bytes = most_task_bytes
        self._watch = LogWatch(self._version_reader, seconds=poll_seconds, most_share=_POLL_SHARE)

    def create(self, new: NewTask) -> StoredTask:
        """Store a task, version 1."""
        entry = event_bytes(new.task)
        if len(entry) > self._most_task_bytes:
            raise TooLarge(new.task.id)
        document = self._records.document(new.task.id)
        owner = self._records.owner(new.owner)
        request = self._records.request(new.owner, new.request_key) if new.request_key else None
        config = firestore_push.reference(self._database, new.push) if new.push else None

        def attempt() -> StoredTask:
            found = self._database.read(document, owner, *filter(None, (request, config)))
            running = self._records.running(new.request_key, found[request.path]) if request else None
            if running:
                raise AlreadyRunning(running)
            if found[document.path].exists:
                raise TaskExists(new.task.id)
            numbers = found[owner.path]
            number = numbers.get("last_number") + 1 if numbers.exists else 1
            record = new_record(new, number=number, size=len(entry), now=self._clock())
            body = self._records.bodies.put(document, entry, inline=CHUNK_BYTES)
            record, snapshot_field = self._records.snapshots.store(document, record, new.task)
            payload = self._records.bodies.put(document, new.payload)
            batch = self._database.batch()
            configs = 0
            if new.push and config:
                configs = firestore_push.put(batch, found[config.path], new.push, stored=0, version=1, delivered=0)
            batch.create(
                document,
                {**record_fields(record), **snapshot_field, "work": payload, "configs_stored": configs},
            )
            add_entries(batch, document, 0, [body])
            self._database.put(batch, numbers, {"last_number": number})
            if request:
                self._database.put(batch, found[request.path], {"task_id": record.id})
            self._database.commit(batch)
            return stored_task(record, new.task, new.payload)

        made = self._database.with_retries(attempt)
        self._watch.notify(made.task.id)
        return made

    def get(self, task_id: str, *, owner: str | None) -> StoredTask | None:
        """Return the task, if it is this owner's."""

        def attempt() -> StoredTask | None:
            found = self._records.find(task_id)
            if found is None or owner not in (None, found.record.owner):
                return None
            return self._records.stored(found)

        return self._database.with_retries(attempt)

    def numbered(self, owner: str, number: int) -> StoredTask | None:
        """Return the owner's task of this number."""
        return self._database.with_retries(
            lambda: self._records.first(lambda: queries.numbered(self._database, owner, number))
        )

    def running(self, owner: str, request_key: str) -> StoredTask | None:
        """Return the owner's submitted or working task of this request key."""
        if not request_key:
            return None
        reference = self._records.request(owner, request_key)
        return self._database.with_retries(
            lambda: self._records.running(request_key, self._database.read(reference)[reference.path])
        )

    def waiting(self, owner: str, context_id: str) -> StoredTask | None:
        """Return the owner's newest interrupted task of this context."""
        return self._database.with_retries(
            lambda: self._records.first(lambda: queries.waiting(self._database, owner, context_id))
        )

    def append(
        self,
        task_id: str,
        events: Sequence[Event],
        *,
        lease: str | None = None,
        expected_version: int | None = None,
        payload: bytes | None = None,
        request_key: str = "",
        push: PushConfig | None = None,
    ) -> StoredTask:
        """Append the events in order, all or none."""
        entries = [event_bytes(event) for event in events]
        added = sum(map(len, entries))
        bodies: builtins.list[Body] | None = None
        new_payload: Body | None = None

        def attempt() -> StoredTask:
            nonlocal bodies, new_payload
            found = self._records.require(task_id)
            record, document, now = found.record, found.snapshot.reference, self._clock()
            check_append(record, events, lease=lease, expected_version=expected_version, now=now)
            check_size(record, events, added, limit=self._most_task_bytes)
            task = apply_events(self._records.snapshots.task(document, found.fields, record), events)
            old_payload = self._records.bodies.get(document, found.fields["work"])
            if bodies is None:
                bodies = self._put_entries(document, entries)
            if new_payload is None and payload is not None and payload != old_payload:
                new_payload = self._records.bodies.put(document, payload)
            after = record_after(record, task, count=len(events), added=added, now=now, request_key=request_key)
            after, snapshot_field = self._records.snapshots.store(document, after, task) if events else (after, {})
            replaced = {**snapshot_field, **({} if new_payload is None else {"work": new_payload})}
            configs = found.fields["configs_stored"]
            batch = self._database.batch()
            add_entries(batch, document, record.version, bodies)
            if request_key:
                self._records.rename_request(batch, record, after)
            if events and configs:
                firestore_push.mark_behind(self._database, batch, task_id, after.version)
            if push:
                reference = firestore_push.reference(self._database, push)
                before = self._database.read(reference)[reference.path]
                configs = firestore_push.put(
                    batch, before, push, stored=configs, version=after.version, delivered=record.version
                )
            changes = {**replaced, **({"configs_stored": configs} if push else {})}
            self._records.update(batch, found, after, changes)
            self._database.commit(batch)
            # Committed: a failure from here on must not repeat the append.
            with contextlib.suppress(Contention, Unavailable):
                self._records.bodies.delete(document, [found.fields[name] for name in replaced])
            return stored_task(after, task, old_payload if payload is None else payload)

        grown = self._database.with_retries(attempt)
        self._watch.notify(task_id)
        return grown

    def entries(self, task_id: str, *, after: int, limit: int = 1000) -> builtins.list[Entry]:
        """Return the entries after the sequence number `after`."""
        if not possible_id(task_id):
            return []
        document = self._records.document(task_id)
        return self._database.with_retries(
            lambda: read_log(self._database, self._records.bodies, document, after=after, limit=limit)
        )

    def wait(self, task_id: str, *, after: int, timeout_seconds: float) -> bool:
        """Wait for an entry after `after`, whichever process writes it."""
        return self._watch.wait(
            task_id,
            after=after,
            timeout_seconds=timeout_seconds,
            version=lambda: self._records.versions([task_id])[task_id],
        )

    def list(self, owner: str, query: TaskQuery, *, size: int, after: Position | None) -> Page:
        """Return a page of the owner's tasks after the position `after`."""

        def attempt() -> Page:
            chosen = queries.newest(self._database, owner, query)
            total = self._database.count(chosen)
            read = self._database.query(queries.page(self._database, chosen, limit=size + 1, after=after))
            found = [found_record(one) for one in read]
            most = page_length([one.record for one in found], size=size)
            tasks = tuple(self._records.stored(one) for one in found[:most])
            last = found[most - 1].record if most < len(found) else None
            return Page(tasks=tasks, next=Position(last.updated_at, last.id) if last else None, total=total)

        return self._database.with_retries(attempt)

    def lease(self, holder: str, *, seconds: float, roles: Sequence[str], task_id: str | None = None) -> Lease | None:
        """Lease the named task, or the one of these roles that has been due longest."""

        def attempt() -> Lease | None:
            now = self._clock()
            if task_id is None:
                candidates = queries.due(self._database, roles, now=now, limit=1)
                found = found_record(candidates[0]) if candidates else None
            else:
                found = self._records.find(task_id)
            if found is None or found.record.role not in roles:
                return None
            if found.record.due_at is None or found.record.due_at > now:
                return None
            return self._lease(
                found, with_lease(found.record, holder=holder, token=self._new_token(), until=now + seconds)
            )

        return self._database.with_retries(attempt)

    def due(self, roles: Sequence[str] | None, *, limit: int) -> builtins.list[str]:
        """Return the ids of the tasks that `lease` would lease now, longest due first."""
        found = queries.due(self._database, roles, now=self._clock(), limit=limit, fields=["id", "due_at"])
        return [one.get("id") for one in found]

    def renew(self, task_id: str, lease: str, *, seconds: float) -> Lease:
        """Extend a valid lease to `seconds` from now."""

        def attempt() -> Lease:
            found, now = self._records.require(task_id), self._clock()
            check_lease(found.record, lease, now=now)
            return self._lease(found, replace(found.record, lease_until=now + seconds))

        return self._database.with_retries(attempt)

    def release(self, task_id: str, lease: str) -> None:
        """Release the lease, so that the task is due at once; a lost lease is no error."""

        def attempt() -> None:
            found = self._records.find(task_id)
            if found and found.record.token == lease:
                self._records.change(found, without_lease(found.record))

        self._database.with_retries(attempt)

    def request_cancel(self, task_id: str) -> StoredTask:
        """Request the cancellation of the task."""

        def attempt() -> StoredTask:
            found = self._records.require(task_id)
            if found.record.state.terminal:
                raise TaskEnded(task_id)
            return self._records.change(found, replace(found.record, cancel_requested=True))

        return self._database.with_retries(attempt)

    def purge(self, *, ended_before: float, limit: int) -> int:
        """See `TaskStore.purge`."""
        found = self._database.query(queries.ended(self._database, before=ended_before, limit=limit))

        def delete(task_id: str) -> None:
            one = self._records.find(task_id)
            # The client may have answered meanwhile.
            if one and 0 < one.record.ended_at < ended_before:
                self._records.delete(one)

        for snapshot in found:
            self._database.with_retries(functools.partial(delete, snapshot.id))
        return len(found)

    def close(self) -> None:
        """Close the connections."""
        self._watch.close()
        self._database.close()

    def _put_entries(self, document: DocumentReference, entries: Sequence[bytes]) -> builtins.list[Body]:
        bodies, inline = [], 0
        for entry in entries:
            fits = inline + len(entry) <= _INLINE_BYTES_PER_COMMIT
            bodies.append(self._records.bodies.put(document, entry, inline=CHUNK_BYTES if fits else 0))
            inline += len(entry) if isinstance(bodies[-1], bytes) else 0
        return bodies

    @contextlib.contextmanager
    def _version_reader(self) -> Iterator[VersionReader]:
        def read(task_ids: Sequence[str]) -> Mapping[str, int] | None:
            try:
                return self._records.versions(task_ids)
            except Unavailable:
                return None

        yield read

    def _lease(self, one: Found, record: TaskRecord) -> Lease:
        return Lease(stored=self._records.change(one, record), token=record.token, deadline=record.lease_until)
