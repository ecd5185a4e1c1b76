"""A store whose operations are spans of the request that waits for them."""

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from a2a_hub.task_store.store import Store
from a2a_hub.telemetry import tracing


class _TracedStore:
    def __init__(self, store: Store, system: str) -> None:
        self._store = store
        self._system = system

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._store, name)
        return self._traced(name, member) if callable(member) else member

    def _traced(self, name: str, operation: Callable[..., Any]) -> Callable[..., Any]:
        about = {"db.system.name": self._system, "db.operation.name": name}

        @wraps(operation)
        def call(*args: Any, **kwargs: Any) -> Any:
            with tracing.child(f"store {name}", about):
                return operation(*args, **kwargs)

        return call


def traced(store: Store, system: str) -> Store:
    """Return the store with spans, or as it is without telemetry."""
    return cast("Store", _TracedStore(store, system)) if tracing.is_on() else store
