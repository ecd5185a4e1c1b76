"""Firestore with optimistic concurrency: conditional commits, retried after a conflict."""

from __future__ import annotations

import contextlib
import functools
import random
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

from a2a_hub.task_store.store import Contended, Unavailable

if TYPE_CHECKING:
    from google.cloud.firestore import Client, CollectionReference, DocumentReference, WriteBatch

Fields = dict[str, Any]
_Result = TypeVar("_Result")
_Arguments = ParamSpec("_Arguments")
_CALL_SECONDS = 10.0
_CONTENTION_SECONDS = 20.0
_LONGEST_PAUSE_SECONDS = 0.5


class Contention(Exception):
    """A conflict: a document that the change is based on has changed since it was read."""


class Database:
    """One database of a project. The client is imported and created on first use."""

    def __init__(
        self,
        project: str,
        database: str,
        *,
        read_seconds: float,
        contention_seconds: float = _CONTENTION_SECONDS,
    ) -> None:
        """Reads are retried for `read_seconds` of an outage, changes for `contention_seconds` of conflicts."""
        self._project = project
        self._database = database
        self._read_seconds = read_seconds
        self._contention_seconds = contention_seconds
        self._lock = threading.Lock()
        self._client: Client | None = None

    @property
    def client(self) -> Client:
        """The client, created late, also because gRPC does not survive a fork. Thread-safe."""
        with self._lock:
            if self._client is None:
                from google.cloud.firestore import Client

                self._client = Client(project=self._project, database=self._database)
            return self._client

    def collection(self, name: str) -> CollectionReference:
        """Return a collection at the root."""
        return self.client.collection(name)

    def read_one(self, reference: DocumentReference) -> Any:
        """Return a snapshot of the document."""
        return self.read(reference)[reference.path]

    def read(self, *references: DocumentReference) -> dict[str, Any]:
        """Return consistent snapshots of the documents, by path."""
        if not references:
            return {}
        with as_unavailable():
            found = self.client.get_all(list(references), retry=self._retry(), timeout=_CALL_SECONDS)
            return {snapshot.reference.path: snapshot for snapshot in found}

    def query(self, query: Any) -> list[Any]:
        """Return the snapshots of the documents that match a query."""
        with as_unavailable():
            return list(query.stream(retry=self._retry(), timeout=_CALL_SECONDS))

    def count(self, query: Any, *, sum_of: str = "") -> tuple[int, int]:
        """Return the number of documents that match a query, and the sum of a field."""
        aggregation = query.count(alias="count")
        if sum_of:
            aggregation.sum(sum_of, alias="sum")
        with as_unavailable():
            found = {
                one.alias: int(one.value) for one in aggregation.get(retry=self._retry(), timeout=_CALL_SECONDS)[0]
            }
            return found["count"], found.get("sum", 0)

    def increment(self, reference: DocumentReference, field: str, by: int) -> int:
        """Return the field after its increment, which conflicts with no other."""
        from google.cloud.firestore import Increment

        batch = self.batch()
        batch.set(reference, {field: Increment(by)}, merge=True)
        return int(self.commit(batch)[0].transform_results[0].integer_value)

    def unchanged_since(self, snapshot: Any) -> Any:
        """Return the precondition that the document has not changed since the snapshot."""
        return self.client.write_option(last_update_time=snapshot.update_time)

    def where(self, query: Any, *conditions: tuple[str, str, Any]) -> Any:
        """Return the query with further conditions: field, operator and value."""
        from google.cloud.firestore import FieldFilter

        for condition in conditions:
            query = query.where(filter=FieldFilter(*condition))
        return query

    def batch(self) -> WriteBatch:
        """Return a batch: writes that are committed together or not at all."""
        return self.client.batch()

    def put(self, batch: WriteBatch, before: Any, fields: Fields) -> None:
        """Add a write to the batch, on the condition that the document has not changed since it was read."""
        if before.exists:
            batch.update(before.reference, fields, option=self.unchanged_since(before))
        else:
            batch.create(before.reference, fields)

    def commit(self, batch: WriteBatch) -> list[Any]:
        """Commit once, because a lost commit may have taken effect; return the result of each write.

        Raise Contention if a precondition fails.
        """
        from google.api_core import exceptions

        with as_unavailable():
            try:
                return list(batch.commit(retry=None, timeout=_CALL_SECONDS))
            except (exceptions.Conflict, exceptions.FailedPrecondition, exceptions.NotFound) as error:
                raise Contention from error

    def with_retries(self, attempt: Callable[[], _Result]) -> _Result:
        """Return what `attempt` returns, which reads and commits; call it again after a Contention."""
        deadline = time.monotonic() + self._contention_seconds
        pause = 0.005
        while True:
            try:
                return attempt()
            except Contention as contention:
                if time.monotonic() > deadline:
                    raise Contended("others write all the time") from contention
            time.sleep(random.uniform(0, pause))  # noqa: S311 - nobody gains by guessing it
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    def close(self) -> None:
        """Close the connection; the next use opens another."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()  # type: ignore[no-untyped-call]

    def _retry(self) -> Any:
        from google.api_core import exceptions, retry

        transient = retry.if_exception_type(exceptions.ServerError, exceptions.TooManyRequests)
        return retry.Retry(predicate=transient, initial=0.05, maximum=1.0, timeout=self._read_seconds)


class _User(Protocol):
    _database: Database


_Self = TypeVar("_Self", bound=_User)


def retried(
    method: Callable[Concatenate[_Self, _Arguments], _Result],
) -> Callable[Concatenate[_Self, _Arguments], _Result]:
    """Make each call of a method an attempt of `Database.with_retries`."""

    @functools.wraps(method)
    def call(self: _Self, /, *arguments: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        return self._database.with_retries(lambda: method(self, *arguments, **named))

    return call


@contextlib.contextmanager
def as_unavailable() -> Iterator[None]:
    """Translate Google's exceptions into Unavailable, with a text for the log."""
    from google.api_core.exceptions import GoogleAPIError
    from google.auth.exceptions import GoogleAuthError

    try:
        yield
    except (GoogleAPIError, GoogleAuthError) as error:
        raise Unavailable(f"{type(error).__name__}: {error}") from error
