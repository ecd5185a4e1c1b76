"""Open the configured task store, traced, and guarded against waiting for an unavailable database. Separate from the settings,
so that a function that only reads those needs no Firestore client.
"""

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any, cast

from a2a_hub.task_store.settings import StoreSettings
from a2a_hub.task_store.store import Contended, Store, StoreError, Unavailable
from a2a_hub.telemetry import tracing

# These wait for others, or touch no database.
_NO_TRIAL = frozenset({"wait", "follow", "on_undelivered", "on_ended", "close"})
_LONG_SECONDS = 1.0
_PAUSE_SECONDS = 1.0
_LONGEST_TRIAL_SECONDS = 30.0


def open_store(
    settings: StoreSettings,
    *,
    now: Callable[[], float],
    new_id: Callable[[], str],
    report: Callable[[str, str], object],
) -> Store:
    """Open the store; only the chosen one is imported. `now` returns seconds since the epoch, `report` takes a severity and a
    message. Raise WrongFile.
    """
    opens: dict[str, Any] = {"clock": now, "new_token": new_id, "max_task_bytes": settings.max_task_bytes}
    if settings.file is not None:
        from a2a_hub.task_store.sqlite import SqliteTaskStore

        return cast("Store", GuardedStore(SqliteTaskStore(settings.file, report=report, **opens), "sqlite"))
    from a2a_hub.task_store.firestore import FirestoreTaskStore

    store = FirestoreTaskStore(project=settings.project, database=settings.database, **opens)
    return cast("Store", GuardedStore(store, "gcp.firestore"))


class GuardedStore:
    """A circuit breaker around the store `behind` it: after an operation that timed out, one operation at a time tries the
    store, and all others fail at once. Thread-safe; `clock` returns monotonic seconds.
    """

    def __init__(self, store: Store, system: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.behind = store
        self._system = system
        self._clock = clock
        self._lock = threading.Lock()
        self._is_away = False
        self._next_trial = 0.0
        self._cause: BaseException | None = None

    def __getattr__(self, name: str) -> Any:
        operation = getattr(self.behind, name)
        if tracing.is_on():
            about = {"db.system.name": self._system, "db.operation.name": name}
            operation = partial(_in_span, f"store {name}", about, operation)
        if name not in _NO_TRIAL:
            operation = partial(self._guarded, operation)
        # The next call finds it there.
        setattr(self, name, operation)
        return operation

    def _guarded(self, operation: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if self._is_away:
            self._try()
        started = self._clock()
        try:
            result = operation(*args, **kwargs)
        except StoreError as error:
            if isinstance(error, Unavailable) and not isinstance(error, Contended):
                self._failed(started, error.__cause__)
            else:
                self._is_away = False
            raise
        self._is_away = False
        return result

    def _try(self) -> None:
        """Make this operation the trial. Raise Unavailable while another trial runs, and shortly after one."""
        with self._lock:
            now = self._clock()
            if self._is_away and now < self._next_trial:
                raise Unavailable("the store has just not answered") from self._cause
            self._next_trial = now + _LONGEST_TRIAL_SECONDS

    def _failed(self, started: float, cause: BaseException | None) -> None:
        with self._lock:
            now = self._clock()
            if self._is_away or now - started >= _LONG_SECONDS:
                self._is_away, self._next_trial, self._cause = True, now + _PAUSE_SECONDS, cause


def _in_span(name: str, about: dict[str, str], operation: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    with tracing.child(name, about):
        return operation(*args, **kwargs)
