"""Who runs a task, in Firestore."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from a2a_hub.task_store import firestore_queries as queries
from a2a_hub.task_store.firestore_client import Database
from a2a_hub.task_store.firestore_records import Found, Heads, head_of
from a2a_hub.task_store.store import Lease, StoredTask, TaskEnded
from a2a_hub.task_store.task_record import TaskRecord, check_lease, with_lease, without_lease


class FirestoreLeases:
    """The part of TaskStore that gives tasks to those who run them."""

    def __init__(
        self,
        database: Database,
        heads: Heads,
        *,
        clock: Callable[[], float],
        new_token: Callable[[], str],
    ) -> None:
        self._database = database
        self._heads = heads
        self._clock = clock
        self._new_token = new_token

    def lease(
        self, holder: str, *, seconds: float, roles: Sequence[str], task_id: str | None = None
    ) -> Lease | None:
        """Leases the task, or the one that has been due for longest, of these roles, if one is due."""

        def attempt() -> Lease | None:
            now = self._clock()
            if task_id is None:
                candidates = queries.due(self._database, roles, now=now, limit=1)
                found = head_of(candidates[0]) if candidates else None
            else:
                found = self._heads.find(task_id)
            if found is None or found.head.role not in roles:
                return None
            if found.head.due_at is None or found.head.due_at > now:
                return None
            return self._lease(
                found, with_lease(found.head, holder=holder, token=self._new_token(), until=now + seconds)
            )

        return self._database.changing(attempt)

    def due(self, roles: Sequence[str] | None, *, limit: int) -> list[str]:
        """The ids of tasks that `lease` would give out now, the longest due first."""
        found = queries.due(self._database, roles, now=self._clock(), limit=limit, fields=["id", "due_at"])
        return [one.get("id") for one in found]

    def renew(self, task_id: str, lease: str, *, seconds: float) -> Lease:
        """Prolongs a lease that has not run out."""

        def attempt() -> Lease:
            found, now = self._heads.known(task_id), self._clock()
            check_lease(found.head, lease, now=now)
            return self._lease(found, replace(found.head, lease_until=now + seconds))

        return self._database.changing(attempt)

    def release(self, task_id: str, lease: str) -> None:
        """Gives a lease back, so that the task can be leased at once; a lease that is lost is no error."""

        def attempt() -> None:
            found = self._heads.find(task_id)
            if found and found.head.token == lease:
                self._heads.change(found, without_lease(found.head))

        self._database.changing(attempt)

    def request_cancel(self, task_id: str) -> StoredTask:
        """Tells whoever runs the task that it is to end."""

        def attempt() -> StoredTask:
            found = self._heads.known(task_id)
            if found.head.state.terminal:
                raise TaskEnded(task_id)
            return self._heads.change(found, replace(found.head, cancel_requested=True))

        return self._database.changing(attempt)

    def _lease(self, one: Found, head: TaskRecord) -> Lease:
        return Lease(stored=self._heads.change(one, head), token=head.token, deadline=head.lease_until)
