"""Which task store a function uses: `TASK_STORE` is `none`, `sqlite:PATH`, or `firestore` (or `firestore:DATABASE`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from shared.settings import Settings

if TYPE_CHECKING:
    from shared.task_store.firestore import FirestoreTaskStore
    from shared.task_store.sqlite import SqliteTaskStore

_NAME = "TASK_STORE"
_DEFAULT_DATABASE = "(default)"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings:
    """One of the two: an SQLite file, or a Firestore database of a project."""

    file: Path | None = None
    project: str = ""
    database: str = ""


def read(settings: Settings) -> StoreSettings | None:
    """The store's settings; None keeps no tasks."""
    value = settings.text(_NAME, "none")
    kind, _, rest = value.partition(":")
    match kind:
        case "none" if not rest:
            return None
        case "sqlite" if rest:
            return StoreSettings(file=Path(rest))
        case "firestore":
            project = settings.optional("GOOGLE_CLOUD_PROJECT")
            if project is None:
                settings.problem(
                    "GOOGLE_CLOUD_PROJECT", f"must name the project of the database: {_NAME} is firestore"
                )
            return StoreSettings(project=project or "", database=rest or _DEFAULT_DATABASE)
        case _:
            settings.problem(_NAME, "must be none, sqlite:PATH, firestore, or firestore:DATABASE")
            return None


def open_store(
    settings: StoreSettings, *, clock: Callable[[], float], new_token: Callable[[], str]
) -> SqliteTaskStore | FirestoreTaskStore:
    """The store; it implements TaskStore and PushStore. Only the one that is used is imported."""
    if settings.file is not None:
        from shared.task_store.sqlite import SqliteTaskStore

        return SqliteTaskStore(settings.file, clock=clock, new_token=new_token)
    from shared.task_store.firestore import FirestoreTaskStore

    return FirestoreTaskStore(
        project=settings.project, database=settings.database, clock=clock, new_token=new_token
    )
