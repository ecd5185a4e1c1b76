"""Open the configured task store. Apart from its settings: a function that only reads them needs no client of Firestore."""

from collections.abc import Callable

from a2a_hub.task_store.guarded import guarded
from a2a_hub.task_store.settings import StoreSettings
from a2a_hub.task_store.store import Store


def open_store(
    settings: StoreSettings,
    *,
    clock: Callable[[], float],
    new_token: Callable[[], str],
    report: Callable[[str, str], object],
) -> Store:
    """Open the store; only the chosen one is imported. `report` takes a severity and a message. Raise WrongFile."""
    if settings.file is not None:
        from a2a_hub.task_store.sqlite import SqliteTaskStore

        store: Store = SqliteTaskStore(
            settings.file, clock=clock, new_token=new_token, most_task_bytes=settings.most_task_bytes, report=report
        )
        return guarded(store, "sqlite")
    from a2a_hub.task_store.firestore import FirestoreTaskStore

    store = FirestoreTaskStore(
        project=settings.project,
        database=settings.database,
        clock=clock,
        new_token=new_token,
        most_task_bytes=settings.most_task_bytes,
    )
    return guarded(store, "gcp.firestore")
