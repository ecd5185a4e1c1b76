"""What is SQLite's own: one file, several processes, its schema."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from a2a_hub.a2a.model import TaskState
from a2a_hub.runtime.ids import random_hex
from a2a_hub.task_store.sqlite import SqliteTaskStore
from a2a_hub.task_store.sqlite_file import SCHEMA_VERSION, Connections, WrongFile
from a2a_hub.task_store.store import HUB, StoredTask, Unavailable
from tests.contract.task_store.stores import Clock, at_once, chunk, created, status
from tests.open_files import is_held

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "tasks.db"


def _opened(file: Path) -> SqliteTaskStore:
    return SqliteTaskStore(file, clock=time.time, new_token=random_hex)


@pytest.fixture
def sqlite_store(file: Path) -> Iterator[SqliteTaskStore]:
    store = _opened(file)
    yield store
    store.close()


def _started(file: Path, payload: str, task_id: str = "") -> "subprocess.Popen[str]":
    """A process that has opened the file, and waits for a line to begin."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.contract.task_store.sqlite_process", str(file), payload, task_id],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    return process


def _said(processes: "list[subprocess.Popen[str]]") -> list[list[str]]:
    """Return what each wrote, all beginning together."""
    for process in processes:
        assert process.stdin
        process.stdin.write("\n")
        process.stdin.flush()
    said = [process.communicate(timeout=60)[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes)
    return said


def test_processes_share_the_tasks_among_themselves(file: Path, sqlite_store: SqliteTaskStore) -> None:
    ids = [created(sqlite_store).task.id for _ in range(60)]
    done = _said([_started(file, "run") for _ in range(3)])
    assert sorted(id_ for one in done for id_ in one) == sorted(ids)
    for id_ in ids:
        stored = sqlite_store.get(id_, owner=None)
        assert stored
        assert (stored.task.status.state, stored.version, stored.attempt) == (TaskState.COMPLETED, 3, 1)


def test_each_version_is_written_by_one_process(file: Path, sqlite_store: SqliteTaskStore) -> None:
    id_ = created(sqlite_store).task.id
    sqlite_store.append(id_, [chunk(id_, "first", append=False)])
    made = _said([_started(file, "grow", id_) for _ in range(3)])
    assert sorted(int(version) for one in made for version in one) == list(range(3, 33))
    stored = sqlite_store.get(id_, owner=None)
    assert stored
    assert len(stored.task.artifacts[0].parts) == 31


def test_another_process_wakes_who_waits(file: Path, sqlite_store: SqliteTaskStore) -> None:
    id_ = created(sqlite_store).task.id
    process = _started(file, "run")
    results: list[bool] = []
    thread = threading.Thread(target=lambda: results.append(sqlite_store.wait(id_, after=2, timeout_seconds=30)))
    thread.start()
    assert _said([process]) == [[id_]]
    thread.join(15)
    assert results == [True]


def test_what_a_killed_process_wrote_is_there_and_its_lease_runs_out(file: Path) -> None:
    clock = Clock()
    store = SqliteTaskStore(file, clock=clock, new_token=random_hex)
    id_ = created(store).task.id
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        inherited = store
        lease = inherited.lease("child", seconds=30, roles=[HUB])
        assert lease
        inherited.append(id_, [status(id_, TaskState.WORKING)], lease=lease.token)
        os.write(writer, b"!")
        signal.pause()
    assert os.read(reader, 1) == b"!"
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reader)
    os.close(writer)
    stored = store.get(id_, owner=None)
    assert stored
    assert stored.task.status.state is TaskState.WORKING
    assert store.due([HUB], limit=1) == []
    clock.pass_by(60)
    lease = store.lease("next", seconds=30, roles=[HUB])
    assert lease
    assert lease.stored.attempt == 2
    store.close()


def test_a_file_can_be_opened_by_many_at_once(file: Path) -> None:
    def open_and_create() -> StoredTask:
        store = _opened(file)
        try:
            return created(store)
        finally:
            store.close()

    made = at_once([open_and_create] * 8)
    assert sorted(one.number for one in made if isinstance(one, StoredTask)) == list(range(1, 9))


def test_only_its_owner_may_read_the_file(file: Path, sqlite_store: SqliteTaskStore) -> None:
    created(sqlite_store)
    assert {path.name: path.stat().st_mode & 0o077 for path in file.parent.iterdir()} == {
        "tasks.db": 0,
        "tasks.db-wal": 0,
        "tasks.db-shm": 0,
    }


def test_a_file_of_a_newer_version_is_refused(file: Path, sqlite_store: SqliteTaskStore) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()
    with pytest.raises(WrongFile, match=r"^tasks\.db was written by a newer version .* run that version"):
        _opened(file)


def test_a_file_of_something_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a database, but longer than the hundred bytes of an SQLite header" * 9)
    with pytest.raises(WrongFile, match=r"^notes\.txt is not an SQLite file") as refusal:
        _opened(text)
    assert not is_held(text), refusal
    assert text.read_text().startswith("not a database")
    foreign = tmp_path / "foreign.db"
    connection = sqlite3.connect(foreign)
    connection.execute("CREATE TABLE mine (x)")
    connection.close()
    with pytest.raises(WrongFile, match=r"^foreign\.db holds something else"):
        _opened(foreign)


def test_a_place_where_there_can_be_no_file_is_told(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.touch()
    with pytest.raises(WrongFile, match=r"^tasks\.db cannot be written \(.+\): name a file in a folder"):
        _opened(taken / "tasks.db")


def test_a_file_that_cannot_be_written_is_unavailable_and_comes_back(file: Path, sqlite_store: SqliteTaskStore) -> None:
    first = created(sqlite_store)
    connection = sqlite3.connect(file)
    connection.execute("ALTER TABLE entries RENAME TO away")
    with pytest.raises(Unavailable):
        sqlite_store.append(first.task.id, [status(first.task.id, TaskState.WORKING)])
    connection.execute("ALTER TABLE away RENAME TO entries")
    connection.close()
    assert sqlite_store.get(first.task.id, owner=None) == first
    assert sqlite_store.append(first.task.id, [status(first.task.id, TaskState.WORKING)]).version == 2


_STATEMENTS = """
SELECT updated_at, id, key FROM tasks WHERE owner = 'o' AND state = 's' AND (updated_at, id) < (1, 'x')
    ORDER BY updated_at DESC, id DESC LIMIT 50;
SELECT updated_at, id, key FROM tasks WHERE owner = 'o' AND context_id = 'c' AND updated_at >= 1
    AND state IN ('a', 'b') ORDER BY updated_at DESC, id DESC LIMIT 50;
SELECT due_at, key, id FROM tasks WHERE role = '' AND due_at <= 1 ORDER BY due_at, key LIMIT 1;
SELECT key FROM tasks WHERE owner = 'o' AND request_key = 'k' AND repeat_until > 0 AND repeat_until > 1 ORDER BY key DESC;
SELECT rowid FROM claims WHERE expires_at <= 1 LIMIT 9;
SELECT key FROM tasks WHERE ended_at > 0 AND ended_at < 1 ORDER BY ended_at LIMIT 9;
SELECT push FROM pushes WHERE behind = 1 AND next_attempt_at <= 1 AND claimed_until <= 1
    ORDER BY next_attempt_at LIMIT 9
"""


def test_a_page_is_found_by_indices_alone(file: Path, sqlite_store: SqliteTaskStore) -> None:
    """A plan that scans or sorts the table takes no longer here, but does with 100,000 tasks."""
    created(sqlite_store)
    connection = sqlite3.connect(file)
    for statement in _STATEMENTS.split(";"):
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}")]
        assert len(plan) == 1, plan
        assert "USING" in plan[0]
        assert "INDEX" in plan[0]
    connection.close()


def test_who_waits_behind_others_for_another_process_waits_no_longer_than_they_do(file: Path) -> None:
    _opened(file).close()
    connections = Connections(file, busy_seconds=0.5)

    def write() -> None:
        with connections.writing():
            pass

    with contextlib.closing(connections), contextlib.closing(connections.open()[0]) as other:
        other.execute("BEGIN IMMEDIATE")
        begun = time.monotonic()
        assert [type(each) for each in at_once([write] * 20)] == [Unavailable] * 20
        # One behind the other they would take ten seconds.
        assert time.monotonic() - begun < 6


def test_connections_that_nobody_uses_are_closed(file: Path) -> None:
    _opened(file).close()
    connections = Connections(file)
    connections.prepare()
    with contextlib.ExitStack() as stack:
        for _ in range(20):
            stack.enter_context(connections.reading())
    assert len(connections._idle) == 20
    connections._idle = [(connection, since - 60) for connection, since in connections._idle]
    with connections.reading():
        pass
    assert len(connections._idle) == 1
    connections.close()
