"""Push notification configs and their deliveries in Firestore."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from a2a_hub.task_store.firestore_client import Database, Fields, retried
from a2a_hub.task_store.firestore_documents import delete_all, digest, possible_id
from a2a_hub.task_store.store import Delivery, PushConfig, UnknownTask
from a2a_hub.task_store.store_base import StoreBase

if TYPE_CHECKING:
    from google.cloud.firestore import DocumentReference, WriteBatch

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(PushConfig)
_STATE = ("delivered", "failures", "next_attempt_at", "dead")


def configs_of(database: Database, task_id: str) -> list[Any]:
    """Return the snapshots of a task's configs, in the order of their creation."""
    if not possible_id(task_id):
        return []
    found = database.query(database.where(database.collection("pushes"), ("task_id", "==", task_id)))
    return sorted(found, key=lambda one: one.get("place"))


def mark_behind(database: Database, batch: WriteBatch, task_id: str, version: int) -> None:
    """Mark every live config as behind, as part of the commit that appends."""
    for one in configs_of(database, task_id):
        fields = _with_due({**one.to_dict(), "version": version})
        batch.update(one.reference, fields, option=database.unchanged_since(one))


def reference(database: Database, push: PushConfig) -> DocumentReference:
    """Return the reference of the config's document."""
    name = _name(push.config.task_id or "", push.config.id or "")
    return database.collection("pushes").document(name)


def put(batch: WriteBatch, before: Any, push: PushConfig, *, stored: int, version: int, delivered: int) -> int:
    """Add the config to a commit, in the place of `before`; return the task's new number of stored configs.

    The number always changes, so that a concurrent append conflicts, reads again and sees the config.
    """
    fields = {
        "task_id": push.config.task_id,
        "place": before.get("place") if before.exists else stored + 1,
        "push": _encoder.encode(push),
        "version": version,
        **_state(Delivery(push, delivered)),
        "claimed_until": 0.0,
    }
    batch.set(before.reference, _with_due(fields))
    return stored + 1


class FirestorePushStore(StoreBase):
    """The push notification configs of a Firestore store. Each document holds its task's version, for one query."""

    _database: Database

    def put_config(self, push: PushConfig, *, delivered: int) -> None:
        task_id = push.config.task_id or ""
        if not possible_id(task_id):
            raise UnknownTask(task_id)
        task = self._database.collection("tasks").document(task_id)
        config = reference(self._database, push)

        def attempt() -> None:
            found = self._database.read(task, config)
            record, before = found[task.path], found[config.path]
            if not record.exists:
                raise UnknownTask(task_id)
            stored, version = record.get("configs_stored"), record.get("version")
            batch = self._database.batch()
            stored = put(batch, before, push, stored=stored, version=version, delivered=delivered)
            batch.update(task, {"configs_stored": stored}, option=self._database.unchanged_since(record))
            self._database.commit(batch)

        self._database.with_retries(attempt)
        self._undelivered(task_id)

    def configs(self, task_id: str) -> list[Delivery]:
        return [_delivery(one.to_dict()) for one in configs_of(self._database, task_id)]

    @retried
    def delete_config(self, task_id: str, config_id: str) -> None:
        delete_all(self._database, [self._database.collection("pushes").document(_name(task_id, config_id))])

    def due_deliveries(self, *, limit: int) -> list[Delivery]:
        pushes = self._database.collection("pushes")
        query = self._database.where(pushes, ("due_at", "<=", self._clock()))
        return [_delivery(one.to_dict()) for one in self._database.query(query.order_by("due_at").limit(limit))]

    def claim_delivery(self, delivery: Delivery, *, seconds: float) -> bool:
        now = self._clock()

        def change(fields: Fields) -> Fields | None:
            due_at = fields["due_at"]
            if _delivery(fields) != delivery or due_at is None or due_at > now:
                return None
            return {**fields, "claimed_until": now + seconds}

        return self._change_delivery(delivery, change)

    def save_delivery(self, delivery: Delivery) -> None:
        def change(fields: Fields) -> Fields | None:
            if _delivery(fields).push != delivery.push:
                return None
            delivered = max(delivery.delivered, fields["delivered"])
            return {**fields, **_state(delivery), "delivered": delivered, "claimed_until": 0.0}

        self._change_delivery(delivery, change)

    @retried
    def _change_delivery(self, delivery: Delivery, change: Callable[[Fields], Fields | None]) -> bool:
        before = self._database.read_one(reference(self._database, delivery.push))
        after = change(before.to_dict()) if before.exists else None
        if after is None:
            return False
        batch = self._database.batch()
        batch.update(before.reference, _with_due(after), option=self._database.unchanged_since(before))
        self._database.commit(batch)
        return True


def _with_due(fields: Fields) -> Fields:
    behind = not fields["dead"] and fields["delivered"] < fields["version"]
    due_at = max(fields["next_attempt_at"], fields["claimed_until"]) if behind else None
    return {**fields, "due_at": due_at}


def _name(task_id: str, config_id: str) -> str:
    """Return a document name for two ids, which may hold characters that a name may not."""
    return digest(f"{len(task_id)}:{task_id}:{config_id}")


def _state(delivery: Delivery) -> Fields:
    return {name: getattr(delivery, name) for name in _STATE}


def _delivery(fields: Fields) -> Delivery:
    return Delivery(_decoder.decode(fields["push"]), *(fields[name] for name in _STATE))
