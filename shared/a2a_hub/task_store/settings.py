"""The settings of the task store: `TASK_STORE` is `none`, `sqlite:PATH`, or `firestore` (or `firestore:DATABASE`)."""

import re
from pathlib import Path

from msgspec import Struct

from a2a_hub.settings.reader import Settings
from a2a_hub.task_store.task_record import DEFAULT_TASK_BYTES

_NAME = "TASK_STORE"
_DEFAULT_DATABASE = "(default)"
# cloud.google.com/firestore/docs/manage-databases#database_id
_DATABASE_ID = r"\(default\)|[a-z][a-z0-9-]{2,61}[a-z0-9]"
_LARGEST_TASK_BYTES = 200_000_000


class StoreSettings(Struct, frozen=True, kw_only=True):
    """The store: an SQLite file, or a Firestore database of a project."""

    file: Path | None = None
    project: str = ""
    database: str = ""
    max_task_bytes: int = DEFAULT_TASK_BYTES


def read(settings: Settings) -> StoreSettings | None:
    """Read the store's settings; None stores no tasks."""
    value = settings.text(_NAME, "none")
    most = int(settings.number("TASK_MOST_BYTES", DEFAULT_TASK_BYTES, minimum=10_000, maximum=_LARGEST_TASK_BYTES))
    kind, _, rest = value.partition(":")
    match kind:
        case "none" if not rest:
            return None
        case "sqlite" if rest:
            return StoreSettings(file=_file(settings, Path(rest)), max_task_bytes=most)
        case "firestore" if re.fullmatch(_DATABASE_ID, rest or _DEFAULT_DATABASE):
            project = settings.optional("GOOGLE_CLOUD_PROJECT")
            if project is None:
                settings.problem("GOOGLE_CLOUD_PROJECT", f"must name the project of the database: {_NAME} is firestore")
            return StoreSettings(project=project or "", database=rest or _DEFAULT_DATABASE, max_task_bytes=most)
        case _:
            settings.problem(_NAME, "must be none, sqlite:PATH, firestore, or firestore:DATABASE")
            return None


def _file(settings: Settings, file: Path) -> Path:
    if file.is_dir():
        settings.problem(_NAME, f"names a folder: name a file in it, such as {file.name}/tasks.db")
    elif settings.optional("K_SERVICE"):
        settings.problem(_NAME, "must be firestore on Google Cloud: an instance's files go with the instance")
    return file
