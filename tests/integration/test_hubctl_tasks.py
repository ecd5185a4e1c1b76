"""`hubctl tasks`, on a file that a store has open."""

import io
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from a2a_hub.runtime.ids import random_hex
from a2a_hub.task_store.sqlite import SqliteTaskStore
from hubctl.main import main
from tests.contract.task_store.stores import created, ended


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tasks.db"


@pytest.fixture
def store(file: Path) -> Iterator[SqliteTaskStore]:
    store = _opened(file)
    yield store
    store.close()


def _opened(file: Path) -> SqliteTaskStore:
    return SqliteTaskStore(file, clock=time.time, new_token=random_hex)


def _ran(*arguments: str, file: Path) -> tuple[int, str]:
    out = io.StringIO()
    status = main(["tasks", *arguments], environment={"TASK_STORE": f"sqlite:{file}"}, out=out)
    return status, out.getvalue()


def test_a_backup_has_the_tasks_of_a_store_that_is_in_use(store: SqliteTaskStore, file: Path, tmp_path: Path) -> None:
    made = created(store)
    copy = tmp_path / "copy.db"
    assert _ran("backup", str(copy), file=file) == (0, f"tasks.db: 1 tasks are in {copy}\n")
    assert copy.stat().st_mode & 0o077 == 0
    created(store)
    restored = _opened(copy)
    assert restored.get(made.task.id, owner=None) == made
    assert restored.usage("owner").tasks == 1
    restored.close()


def test_a_backup_replaces_nothing(store: SqliteTaskStore, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    created(store)
    assert _ran("backup", str(file), file=file)[0] == 2
    assert "name a new file" in capsys.readouterr().err


def test_a_backup_comes_back_to_a_store_that_is_in_use_and_over_the_log_of_one_that_was_killed(
    store: SqliteTaskStore, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = created(store)
    copy, new, log = tmp_path / "copy.db", tmp_path / "new.db", file.with_name("tasks.db-wal")
    _ran("backup", str(copy), file=file)
    later = created(store)
    assert _ran("restore", str(copy), file=file) == (0, f"tasks.db has the 1 tasks of {copy}, and no others\n")
    assert (store.get(made.task.id, owner=None), store.get(later.task.id, owner=None)) == (made, None)
    for _ in range(50):
        created(store)
    killed = tmp_path / "killed.db"
    killed.write_bytes(file.read_bytes())
    killed.with_name("killed.db-wal").write_bytes(log.read_bytes())
    for each in (killed, new):
        assert _ran("restore", str(copy), file=each)[0] == 0
        again = _opened(each)
        assert again.get(made.task.id, owner=None) == made
        assert again.usage("owner").tasks == 1
        again.close()
        assert sqlite3.connect(each).execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    copy.write_bytes(b"not a database" * 100)
    assert _ran("restore", str(copy), file=file)[0] == 2
    assert f"{copy}: file is not a database" in capsys.readouterr().err
    assert store.get(made.task.id, owner=None) == made


def test_a_compacted_file_is_smaller_and_still_in_use(store: SqliteTaskStore, file: Path) -> None:
    kept = created(store)
    done = [ended(store).task.id for _ in range(300)]
    assert store.purge(ended_before=time.time() + 10, limit=1000) == len(done)
    status, said = _ran("compact", file=file)
    assert status == 0
    assert said.startswith("tasks.db: ")
    assert store.get(kept.task.id, owner=None) == kept
    assert created(store).number > kept.number


def test_a_purge_returns_space_to_the_disk(store: SqliteTaskStore, file: Path) -> None:
    for _ in range(300):
        ended(store)
    _ran("compact", file=file)
    large = file.stat().st_size
    assert store.purge(ended_before=time.time() + 10, limit=1000) == 300
    store.close()
    assert file.stat().st_size < large / 2


@pytest.mark.parametrize("value", ["none", "", "firestore", "firestore:tasks", "sqlite:/nowhere/tasks.db"])
def test_where_there_is_no_file_the_remedy_is_named(value: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tasks", "compact"], environment={"TASK_STORE": value}, out=io.StringIO()) == 2
    said = capsys.readouterr().err
    assert "gcloud firestore export" in said if value.startswith("firestore") else "--file" in said


def test_a_file_of_something_else_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("not a database" * 100)
    assert _ran("compact", file=other)[0] == 2
    assert "is no task store" in capsys.readouterr().err
