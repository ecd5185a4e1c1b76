"""The task store of a deployed hub: a Firestore database (native mode), shared by all instances.

Concurrency is optimistic: a commit is conditional on the documents it was computed from, and the second of two writers reads
again. Queries need the indices of `firestore.indexes.json`.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import math
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from a2a_hub.task_store import firestore_push
from a2a_hub.task_store import firestore_records as queries
from a2a_hub.task_store.firestore_client import Contention, Database, retried
from a2a_hub.task_store.firestore_documents import (
    CHUNK_BYTES,
    Body,
    add_entries,
    digest,
    possible_id,
    read_log,
    record_fields,
)
from a2a_hub.task_store.firestore_listener import LogListener
from a2a_hub.task_store.firestore_push import FirestorePushStore
from a2a_hub.task_store.firestore_records import Found, Records, TaskNumbers, found_record
from a2a_hub.task_store.log_watch import LogWatch, Sized
from a2a_hub.task_store.store import (
    MAX_CONVERSATION_BYTES,
    AlreadyRunning,
    Entry,
    Lease,
    NewTask,
    Page,
    Position,
    QuotaClaim,
    StoredTask,
    TaskExists,
    TaskQuery,
    TooLarge,
    Unavailable,
    UnfinishedTask,
    Usage,
)
from a2a_hub.task_store.store_base import Change
from a2a_hub.task_store.task_log import apply_events
from a2a_hub.task_store.task_record import (
    DEFAULT_TASK_BYTES,
    Addition,
    check_append,
    new_record,
    page,
    record_after,
    stored_task,
    unfinished_task,
    with_lease,
)

if TYPE_CHECKING:
    from google.cloud.firestore import DocumentReference

_READ_SECONDS = 8.0
_DOCUMENTS_PER_READ = 10
_INLINE_BYTES_PER_COMMIT = 2_000_000


class FirestoreTaskStore(FirestorePushStore):
    """The store in a Firestore database. The client is connected on first use. Claims of one counter are one document."""

    def __init__(
        self,
        *,
        project: str,
        database: str,
        clock: Callable[[], float],
        new_token: Callable[[], str],
        max_task_bytes: int = DEFAULT_TASK_BYTES,
        read_seconds: float = _READ_SECONDS,
    ) -> None:
        self._database = Database(project, database, read_seconds=read_seconds)
        self._records = Records(self._database)
        super().__init__(clock=clock, new_token=new_token, max_task_bytes=max_task_bytes)
        self._numbers = TaskNumbers(self._database, clock)
        listener = LogListener(self._database, self._records.version)
        self._watch = LogWatch(
            listener, functools.partial(self._read, limit=sys.maxsize, documents=_DOCUMENTS_PER_READ)
        )

    def _create(self, new: NewTask, entry: bytes) -> StoredTask:
        document = self._records.document(new.task.id)
        request = self._records.request(new.owner, new.request_key) if new.request_key else None
        config = firestore_push.reference(self._database, new.push) if new.push else None
        conditions = list(filter(None, (request, config)))
        number: int | None = None

        def attempt() -> StoredTask:
            nonlocal number
            found, now = self._database.read(*conditions), self._clock()
            running = self._records.running(new.request_key, found[request.path], now=now) if request else None
            if running:
                raise AlreadyRunning(running)
            if document in conditions and found[document.path].exists:
                raise TaskExists(new.task.id)
            number = number or self._numbers.take(new.owner)
            record = new_record(new, number=number, size=len(entry), now=now)
            body = self._records.bodies.put(document, entry, inline=CHUNK_BYTES)
            record, snapshot_field = self._records.snapshots.store(document, record, new.task)
            payload = self._records.bodies.put(document, new.payload)
            batch = self._database.batch()
            configs = 0
            if new.push and config:
                configs = firestore_push.put(batch, found[config.path], new.push, stored=0, version=1, delivered=0)
            add_entries(batch, document, 0, [body])
            if request:
                self._database.put(batch, found[request.path], {"task_id": record.id})
            fields = {**record_fields(record), **snapshot_field, "work": payload, "configs_stored": configs}
            batch.create(document, fields)
            # Few ids are taken: only a second attempt looks.
            conditions.append(document)
            written = self._database.commit(batch)
            self._records.hold(document, written[-1].update_time, fields, record)
            return stored_task(record, new.task, new.payload)

        return self._database.with_retries(attempt)

    @retried
    def get(self, task_id: str, *, owner: str | None) -> StoredTask | None:
        found = self._records.find(task_id)
        if found is None or owner not in (None, found.record.owner):
            return None
        return self._records.stored(found)

    def numbered(self, owner: str, number: int) -> StoredTask | None:
        return self._records.first(queries.numbered(self._database, owner, number))

    @retried
    def running(self, owner: str, request_key: str) -> StoredTask | None:
        if not request_key:
            return None
        request = self._database.read_one(self._records.request(owner, request_key))
        return self._records.running(request_key, request, now=self._clock())

    def waiting(self, owner: str, context_id: str) -> StoredTask | None:
        return self._records.first(queries.waiting(self._database, owner, context_id))

    def _append(self, task_id: str, added: Addition) -> tuple[StoredTask, bool]:
        events, push = added.events, added.push
        bodies: builtins.list[Body] | None = None
        new_payload: Body | None = None

        def attempt(found: Found) -> tuple[StoredTask, bool]:
            nonlocal bodies, new_payload
            record, document, now = found.record, found.reference, self._clock()
            check_append(record, added, now=now, max_bytes=self._max_task_bytes)
            task = apply_events(self._records.snapshots.task(document, found.fields, record), events)
            payload = self._records.bodies.get(document, found.fields["work"])
            if bodies is None:
                bodies = self._put_entries(document, added.bodies)
            if added.payload is not None and added.payload != payload:
                payload = added.payload
                new_payload = new_payload or self._records.bodies.put(document, payload)
            after = record_after(record, task, added, now=now)
            after, changes = self._records.snapshots.store(document, after, task) if events else (after, {})
            if new_payload is not None:
                changes["work"] = new_payload
            replaced = [found.fields[name] for name in changes]
            configs = found.fields["configs_stored"]
            batch = self._database.batch()
            add_entries(batch, document, record.version, bodies)
            if added.request_key:
                self._records.rename_request(batch, record, after)
            if events and configs:
                firestore_push.mark_behind(self._database, batch, task_id, after.version)
            if push:
                before = self._database.read_one(firestore_push.reference(self._database, push))
                configs = firestore_push.put(
                    batch, before, push, stored=configs, version=after.version, delivered=record.version
                )
                changes["configs_stored"] = configs
            self._records.commit(batch, found, after, changes)
            # Committed: a failure from here on must not repeat the append.
            with contextlib.suppress(Contention, Unavailable):
                self._records.bodies.delete(document, replaced)
            return stored_task(after, task, payload), bool(configs and (events or push))

        return self._records.with_lease(task_id, added.lease, attempt)

    def _change(self, task_id: str, lease: str | None, change: Change) -> StoredTask:
        def attempt(found: Found) -> StoredTask:
            return self._records.change(found, change(found.record, self._clock()))

        return self._records.with_lease(task_id, lease, attempt)

    def entries(self, task_id: str, *, after: int, limit: int = 1000) -> builtins.list[Entry]:
        return [entry for entry, _ in self._read(task_id, after, limit=limit)]

    @retried
    def list(self, owner: str, query: TaskQuery, *, size: int, after: Position | None) -> Page:
        chosen = queries.newest(self._database, owner, query)
        total, _ = self._database.count(chosen)
        read = self._database.query(queries.page(self._database, chosen, limit=size + 1, after=after))
        found = [found_record(one) for one in read]
        return page([one.record for one in found], map(self._records.stored, found), size=size, total=total)

    @retried
    def lease(self, holder: str, *, seconds: float, roles: Sequence[str], task_id: str | None = None) -> Lease | None:
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
        leased = with_lease(found.record, holder=holder, token=self._new_token(), until=now + seconds)
        stored = self._records.change(found, leased)
        return Lease(stored=stored, token=leased.token)

    def due(self, roles: Sequence[str] | None, *, limit: int) -> builtins.list[str]:
        found = queries.due(self._database, roles, now=self._clock(), limit=limit, fields=["id", "due_at"])
        return [one.get("id") for one in found]

    def next_due(self, roles: Sequence[str] | None) -> float | None:
        due_at = queries.next_due(self._database, roles)
        return None if due_at is None else max(due_at, self._clock())

    def unfinished(self, *, limit: int) -> builtins.list[UnfinishedTask]:
        found = queries.due(self._database, None, now=math.inf, limit=limit)
        return [unfinished_task(found_record(one).record) for one in found]

    def purge(self, *, ended_before: float, limit: int) -> int:
        found = self._database.query(queries.ended(self._database, before=ended_before, limit=limit))
        for snapshot in found:
            self._purge_task(snapshot.id, ended_before)
        for name in ("conversations", "claims"):
            self._purge_expired(name, limit)
        return len(found)

    @retried
    def _purge_task(self, task_id: str, ended_before: float) -> None:
        one = self._records.find(task_id)
        # The client may have answered meanwhile.
        if one and 0 < one.record.ended_at < ended_before:
            self._records.delete(one)

    def usage(self, owner: str) -> Usage:
        return queries.usage(self._database, owner)

    def conversation(self, owner: str, context_id: str) -> bytes | None:
        found = self._database.read_one(self._conversation(owner, context_id))
        return found.get("data") if found.exists and found.get("expires_at") > self._clock() else None

    @retried
    def put_conversation(self, owner: str, context_id: str, data: bytes, *, expires_at: float) -> None:
        if len(data) > MAX_CONVERSATION_BYTES:
            raise TooLarge(context_id)
        batch = self._database.batch()
        batch.set(self._conversation(owner, context_id), {"data": data, "expires_at": expires_at})
        self._database.commit(batch)

    @retried
    def claim_quota(self, counter: str, holder: str, *, amount: int, limit: int, expires_at: float) -> int:
        reference = self._database.collection("claims").document(digest(counter))
        now, before = self._clock(), self._database.read_one(reference)
        valid = [claim for claim in _claims(before) if claim.expires_at > now and claim.holder != holder]
        granted = max(0, min(amount, limit - sum(claim.amount for claim in valid)))
        mine = QuotaClaim(counter=counter, holder=holder, amount=granted, expires_at=expires_at)
        after = [*valid, mine] if granted else valid
        if after != _claims(before):
            batch = self._database.batch()
            claims = [asdict(claim) for claim in after]
            last = max((claim.expires_at for claim in after), default=0.0)
            self._database.put(batch, before, {"counter": counter, "claims": claims, "expires_at": last})
            self._database.commit(batch)
        return granted

    def quota_claims(self, prefix: str, *, limit: int) -> builtins.list[QuotaClaim]:
        conditions = ("counter", ">=", prefix), ("counter", "<", prefix + chr(0x10FFFF))
        counters = self._database.where(self._database.collection("claims"), *conditions)
        found = self._database.query(counters.order_by("counter").limit(limit))
        now = self._clock()
        claims = (claim for one in found for claim in sorted(_claims(one), key=lambda claim: claim.holder))
        return [claim for claim in claims if claim.expires_at > now][:limit]

    @retried
    def _purge_expired(self, name: str, limit: int) -> None:
        expired = self._database.where(self._database.collection(name), ("expires_at", "<=", self._clock()))
        batch = self._database.batch()
        for one in self._database.query(expired.order_by("expires_at").limit(limit).select([])):
            batch.delete(one.reference, option=self._database.unchanged_since(one))
        self._database.commit(batch)

    def _conversation(self, owner: str, context_id: str) -> DocumentReference:
        name = digest(f"{len(owner)}:{owner}:{context_id}")
        return self._database.collection("conversations").document(name)

    def close(self) -> None:
        self._watch.close()
        self._database.close()

    def _put_entries(self, document: DocumentReference, entries: Sequence[bytes]) -> builtins.list[Body]:
        bodies, inline = [], 0
        for entry in entries:
            fits = inline + len(entry) <= _INLINE_BYTES_PER_COMMIT
            bodies.append(self._records.bodies.put(document, entry, inline=CHUNK_BYTES if fits else 0))
            inline += len(entry) if isinstance(bodies[-1], bytes) else 0
        return bodies

    @retried
    def _read(self, task_id: str, after: int, *, limit: int, documents: int | None = None) -> builtins.list[Sized]:
        if not possible_id(task_id):
            return []
        document, bodies = self._records.document(task_id), self._records.bodies
        return read_log(self._database, bodies, document, after=after, limit=limit, documents=documents)


def _claims(snapshot: Any) -> list[QuotaClaim]:
    return [QuotaClaim(**one) for one in snapshot.get("claims")] if snapshot.exists else []
