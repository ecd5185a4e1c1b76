"""The queries of the Firestore task store: each has its index in `firestore.indexes.json`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from a2a_hub.a2a.model import TaskState
from a2a_hub.task_store.firestore_client import Database
from a2a_hub.task_store.firestore_documents import index_key
from a2a_hub.task_store.store import Position, TaskQuery

_INTERRUPTED = tuple(state for state in TaskState if state.interrupted)
_DOWN = "DESCENDING"
_MOST_VALUES = 30
"""Firestore's limit for `in`."""


def numbered(database: Database, owner: str, number: int) -> Any:
    """The owner's task of this number."""
    return _where(
        database.collection("tasks"), ("owner_key", "==", index_key(owner)), ("number", "==", number)
    ).limit(1)


def waiting(database: Database, owner: str, context_id: str) -> Any:
    """The owner's newest task of this context that waits for its client."""
    query = newest(database, owner, TaskQuery(context_id=context_id, states=_INTERRUPTED))
    return page(database, query, limit=1, after=None)


def newest(database: Database, owner: str, query: TaskQuery) -> Any:
    """All tasks that the query is true of, the newest first: counting needs the same index as reading then."""
    conditions: list[tuple[str, str, Any]] = [("owner_key", "==", index_key(owner))]
    if query.context_id is not None:
        conditions.append(("context_key", "==", index_key(query.context_id)))
    if query.states:
        conditions.append(("state", "in", [str(state) for state in query.states]))
    if query.updated_since is not None:
        conditions.append(("updated_at", ">=", query.updated_since))
    found = _where(database.collection("tasks"), *conditions)
    return found.order_by("updated_at", direction=_DOWN).order_by("__name__", direction=_DOWN)


def page(database: Database, query: Any, *, limit: int, after: Position | None) -> Any:
    """The first of them, or those behind `after`."""
    if after:
        document = database.collection("tasks").document(after.task_id)
        query = query.start_after({"updated_at": after.updated_at, "__name__": document})
    return query.limit(limit)


def due(
    database: Database,
    roles: Sequence[str] | None,
    *,
    now: float,
    limit: int,
    fields: list[str] | None = None,
) -> list[Any]:
    """The snapshots of tasks of these roles, or of all, that can be leased, the longest due first."""
    found: list[Any] = []
    different = list(dict.fromkeys(roles or ()))
    some = [different[at : at + _MOST_VALUES] for at in range(0, len(different), _MOST_VALUES)]
    conditions = [()] if roles is None else [(("role", "in", each),) for each in some]
    for of_roles in conditions:
        query = _where(database.collection("tasks"), *of_roles, ("due_at", "<=", now))
        query = query.order_by("due_at").limit(limit)
        found += database.query(query.select(fields) if fields else query)
    return sorted(found, key=lambda one: one.get("due_at"))[:limit]


def ended(database: Database, *, before: float, limit: int) -> Any:
    """Tasks that ended before, the oldest first."""
    query = _where(database.collection("tasks"), ("ended_at", ">", 0.0), ("ended_at", "<", before))
    return query.order_by("ended_at").limit(limit)


def _where(query: Any, *conditions: tuple[str, str, Any]) -> Any:
    from google.cloud.firestore import FieldFilter

    for condition in conditions:
        query = query.where(filter=FieldFilter(*condition))
    return query
