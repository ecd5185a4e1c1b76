"""Open the configured task store."""

from collections.abc import Callable

from a2a_hub.task_store.settings import StoreSettings
from a2a_hub.task_store.store import Store


def open_store(settings: StoreSettings, *, clock: Callable[[], float], new_token: Callable[[], str]) -> Store:
    """Open the store; only the chosen one is imported. Raise WrongFile."""
    if settings.file is not None:
        from a2a_hub.task_store.sqlite import SqliteTaskStore

        return SqliteTaskStore(
            settings.file, clock=clock, new_token=new_token, most_task_bytes=settings.most_task_bytes
        )
    from a2a_hub.task_store.firestore import FirestoreTaskStore

    return FirestoreTaskStore(
        project=settings.project,
        database=settings.database,
        clock=clock,
        new_token=new_token,
        most_task_bytes=settings.most_task_bytes,
    )
