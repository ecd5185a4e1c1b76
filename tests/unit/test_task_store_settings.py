"""Which task store the settings name, and everything that is wrong with them at once."""

import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from a2a_hub.runtime.ids import new_id
from a2a_hub.settings.reader import Settings, SettingsError
from a2a_hub.task_store.factory import GuardedStore, open_store
from a2a_hub.task_store.firestore import FirestoreTaskStore
from a2a_hub.task_store.settings import StoreSettings, read
from a2a_hub.task_store.sqlite_recovery import ignore
from a2a_hub.task_store.task_record import DEFAULT_TASK_BYTES
from tests.contract.task_store.stores import created


def _read(environ: Mapping[str, str]) -> StoreSettings | None:
    settings = Settings(environ)
    found = read(settings)
    settings.check()
    return found


def _problems(environ: Mapping[str, str]) -> list[str]:
    with pytest.raises(SettingsError) as refused:
        _read(environ)
    return [line.strip() for line in str(refused.value).splitlines()[1:]]


def test_no_tasks_are_kept_unless_somebody_says_where() -> None:
    assert _read({}) is None
    assert _read({"TASK_STORE": "none"}) is None


def test_an_sqlite_file_is_named_with_its_path(tmp_path: Path) -> None:
    file = tmp_path / "a:b" / "tasks.db"
    found = _read({"TASK_STORE": f"sqlite:{file}"})
    assert found == StoreSettings(file=file, max_task_bytes=DEFAULT_TASK_BYTES)
    assert found
    store = open_store(found, now=lambda: 1000.0, new_id=lambda: "an id", report=ignore)
    assert store.next_due(None) is None
    assert created(store).created_at == 1000.0
    store.close()
    assert file.is_file()


@pytest.mark.parametrize(
    ("value", "database"),
    [("firestore", "(default)"), ("firestore:(default)", "(default)"), ("firestore:tasks-1", "tasks-1")],
)
def test_a_firestore_database_is_the_projects_default_unless_named(value: str, database: str) -> None:
    found = _read({"TASK_STORE": value, "GOOGLE_CLOUD_PROJECT": "p", "TASK_MOST_BYTES": "50000"})
    assert found == StoreSettings(project="p", database=database, max_task_bytes=50_000)
    assert found
    store = open_store(found, now=time.time, new_id=new_id, report=ignore)
    assert isinstance(store, GuardedStore)
    assert isinstance(store.behind, FirestoreTaskStore)
    store.close()


@pytest.mark.parametrize("value", ["sqlite", "sqlite:", "none:x", "redis:x", "firestore:No", "firestore:a/b", ":"])
def test_anything_else_is_no_store(value: str) -> None:
    problems = _problems({"TASK_STORE": value, "GOOGLE_CLOUD_PROJECT": "p"})
    assert problems == ["TASK_STORE must be none, sqlite:PATH, firestore, or firestore:DATABASE"]


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    problems = _problems({"TASK_STORE": f"sqlite:{tmp_path}"})
    assert problems == [f"TASK_STORE names a folder: name a file in it, such as {tmp_path.name}/tasks.db"]


def test_an_instance_of_cloud_run_keeps_no_tasks_in_a_file_of_its_own(tmp_path: Path) -> None:
    problems = _problems({"TASK_STORE": f"sqlite:{tmp_path / 'tasks.db'}", "K_SERVICE": "hub"})
    assert problems == ["TASK_STORE must be firestore on Google Cloud: an instance's files go with the instance"]


def test_all_that_is_wrong_is_said_at_once() -> None:
    problems = _problems({"TASK_STORE": "firestore", "TASK_MOST_BYTES": "1"})
    assert [problem.split()[0] for problem in problems] == ["TASK_MOST_BYTES", "GOOGLE_CLOUD_PROJECT"]
