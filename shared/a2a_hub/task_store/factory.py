"""Opens the task store that the settings name; apart from them, since reading settings needs no store's client."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from a2a_hub.task_store.push import PushStore
from a2a_hub.task_store.settings import StoreSettings
from a2a_hub.task_store.store import TaskStore


class Store(TaskStore, PushStore, Protocol):
    """A store of tasks that keeps their push configs too."""


def open_store(settings: StoreSettings, *, clock: Callable[[], float], new_token: Callable[[], str]) -> Store:
    """The store. Only the one that is used is imported. Raises WrongFile."""
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
