"""Files that are damaged, gone, replaced, or of an older version."""

import contextlib
import os
import shutil
import signal
import sqlite3
import threading
import time
from pathlib import Path

import pytest

from a2a_hub.a2a.model import TaskState
from a2a_hub.runtime.ids import random_hex
from a2a_hub.task_store import sqlite_file
from a2a_hub.task_store.sqlite import SqliteTaskStore
from a2a_hub.task_store.sqlite_file import Connections, WrongFile
from a2a_hub.task_store.sqlite_recovery import APPLICATION_ID
from a2a_hub.task_store.store import StoredTask, TaskQuery, Unavailable, Usage
from tests.contract.task_store.stores import chunk, created, status
from tests.contract.task_store.test_following import Follower

LONG_SECONDS = 30.0


class Opened:
    """A store and what it has reported."""

    def __init__(self, file: Path) -> None:
        self.reports: list[str] = []
        self.store = SqliteTaskStore(file, clock=time.time, new_token=random_hex, report=self._report)

    def _report(self, severity: str, message: str) -> None:
        assert severity == "ERROR"
        self.reports.append(message)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tasks.db"


def _aside(file: Path) -> list[Path]:
    return [path for path in sorted(file.parent.glob("tasks.db.*")) if not path.name.endswith(("-wal", "-shm"))]


def _filled(file: Path, *, tasks: int = 50) -> bytes:
    store = Opened(file).store
    for _ in range(tasks):
        id_ = created(store).task.id
        store.append(id_, [chunk(id_, "x" * 1000, append=False)])
    store.close()
    return file.read_bytes()


@pytest.mark.parametrize("damage", ["no header", "only half of it", "no pages", "something else"])
def test_a_damaged_file_is_set_aside_and_a_new_one_is_begun(file: Path, damage: str) -> None:
    content = _filled(file)
    changed = {
        "no header": bytes(4096) + content[4096:],
        "only half of it": content[: len(content) // 2],
        "no pages": content[:2048] + b"\xff" * (len(content) - 2048),
        "something else": b"what is this?" * 1000,
    }[damage]
    file.write_bytes(changed)
    opened = Opened(file)
    try:
        # Some damage shows only in use.
        for _ in range(20):
            with_trouble(opened.store)
        assert _created_at_last(opened.store)
        assert opened.store.usage("owner").tasks == 1
    finally:
        opened.store.close()
    (aside,) = _aside(file)
    assert aside.read_bytes() == changed
    assert any("which is damaged" in report and aside.name in report for report in opened.reports)


def with_trouble(store: SqliteTaskStore) -> None:
    """Whatever reads."""
    try:
        store.list("owner", TaskQuery(context_id="c"), size=50, after=None)
        store.due(None, limit=10)
    except Unavailable:
        pass


def _created_at_last(store: SqliteTaskStore) -> StoredTask:
    for _ in range(3):
        try:
            return created(store, owner="owner")
        except Unavailable:
            continue
    return created(store, owner="owner")


def test_a_file_that_is_deleted_while_it_is_used_is_followed_by_a_new_one(file: Path) -> None:
    opened = Opened(file)
    store = opened.store
    lost = created(store).task.id
    follower = Follower(store, lost, after=0)
    follower.read(1)
    file.unlink()
    made = created(store)
    assert (store.get(lost, owner=None), store.get(made.task.id, owner=None)) == (None, made)
    assert any("is gone" in report for report in opened.reports)
    while not follower.reader.gone:
        # Who was woken is not woken again until it has looked.
        assert follower.reader.take() == []
        assert follower.reader.gone or follower.woken.wait(LONG_SECONDS)
        follower.woken.clear()
    store.close()
    again = Opened(file)
    assert again.store.get(made.task.id, owner=None) == made
    assert again.reports == []
    again.store.close()


def test_a_file_that_is_replaced_while_it_is_used_is_used_from_then_on(file: Path) -> None:
    _filled(file, tasks=3)
    backup = Path(shutil.copy(file, file.with_name("backup")))
    opened, other = Opened(file), Opened(file)
    created(opened.store)
    backup.rename(file)
    assert opened.store.usage("owner").tasks == 3
    made = created(other.store)
    assert opened.store.get(made.task.id, owner=None) == made
    assert opened.store.usage("owner").tasks == 4
    for each in (opened, other):
        assert any("replaced" in report for report in each.reports)
        each.store.close()
    with sqlite3.connect(file) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_a_path_that_cannot_be_used_for_a_while_is_reported_once(file: Path) -> None:
    opened = Opened(file)
    file.unlink()
    file.mkdir()
    for _ in range(3):
        with pytest.raises(Unavailable):
            opened.store.usage("owner")
    file.rmdir()
    assert created(opened.store)
    assert len([report for report in opened.reports if "is gone" in report]) == 1
    opened.store.close()


def test_a_file_that_another_process_holds_at_the_start_is_refused_with_the_cause(file: Path) -> None:
    _filled(file, tasks=0)
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as lock:
        lock.execute("BEGIN EXCLUSIVE")
        with pytest.raises(WrongFile, match=r"tasks\.db cannot be used \(database is locked\)"):
            Connections(file, busy_seconds=0.0).prepare()


def _killed_with_a_log(file: Path) -> str:
    """A process has stored a task and was killed: its changes are in the log."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        store = Opened(file).store
        id_ = created(store).task.id
        for _ in range(5):
            store.append(id_, [status(id_, TaskState.WORKING)])
        os.write(writer, id_.encode())
        signal.pause()
    id_ = os.read(reader, 100).decode()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reader)
    os.close(writer)
    return id_


def test_a_connection_that_is_in_use_while_its_file_is_replaced_is_not_used_again(file: Path) -> None:
    _filled(file, tasks=0)
    in_use = contextlib.ExitStack()
    connections = Connections(file, report=lambda *_: in_use.close())
    connections.prepare()
    in_use.enter_context(connections.reading())
    file.unlink()
    try:
        for number in range(2):
            # The transaction before ends while the new file is prepared.
            with connections.writing() as connection:
                connection.execute("INSERT INTO numbers VALUES (?, 1)", (f"owner {number}",))
        with contextlib.closing(sqlite3.connect(file)) as another:
            assert another.execute("SELECT count(*) FROM numbers").fetchone() == (2,)
    finally:
        connections.close()


def test_a_log_that_a_killed_process_left_loses_nothing_and_is_not_reported(file: Path) -> None:
    _filled(file)
    id_ = _killed_with_a_log(file)
    opened = Opened(file)
    stored = opened.store.get(id_, owner=None)
    assert stored
    assert stored.version == 6
    assert opened.reports == []
    opened.store.close()


@pytest.mark.parametrize("damage", ["gone", "cut", "header", "middle"])
def test_changes_that_were_lost_with_the_log_are_reported(file: Path, damage: str) -> None:
    _filled(file)
    _killed_with_a_log(file)
    log = file.with_name("tasks.db-wal")
    content = bytearray(log.read_bytes())
    at = {"header": 20, "middle": len(content) // 2}.get(damage, 0)
    content[at : at + 4] = b"\xff\xff\xff\xff"
    if damage == "gone":
        log.unlink()
    elif damage == "cut":
        log.write_bytes(b"")
    else:
        log.write_bytes(content)
    opened = Opened(file)
    assert any("lost its newest changes" in report for report in opened.reports)
    assert created(opened.store)
    opened.store.close()


def test_a_file_of_the_first_version_keeps_its_tasks(file: Path) -> None:
    connection = sqlite3.connect(file)
    connection.executescript(sqlite_file.statements_to(1))
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("PRAGMA user_version = 1")
    task = b'{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_SUBMITTED"}}}'
    connection.execute(
        "INSERT INTO tasks VALUES (1, 't', 'owner', 1, 'c', 'TASK_STATE_SUBMITTED', 1, ?, 0, 0, '', '', 0, '', '', 0, 0,"
        " 1.0, 1.0, 0, 1.0)",
        (len(task),),
    )
    connection.execute("INSERT INTO entries VALUES (?, ?)", ((1 << 24) + 1, task))
    connection.execute("INSERT INTO counts VALUES ('owner', 'TASK_STATE_SUBMITTED', 1)")
    connection.execute("INSERT INTO numbers VALUES ('owner', 1)")
    connection.commit()
    connection.close()
    store = Opened(file).store
    stored = store.get("t", owner="owner")
    assert stored
    assert (stored.number, stored.task.status.state) == (1, TaskState.SUBMITTED)
    assert store.usage("owner") == Usage(tasks=1, size_bytes=len(task), active=1)
    assert store.list("owner", TaskQuery(context_id="c"), size=9, after=None).total == 1
    assert store.lease("w", seconds=30, roles=[""])
    assert created(store).number == 2
    store.close()


def test_many_who_find_a_damaged_file_set_it_aside_once(file: Path) -> None:
    _filled(file)
    file.write_bytes(bytes(10_000))
    opened: list[Opened] = []
    threads = [threading.Thread(target=lambda: opened.append(Opened(file))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG_SECONDS)
    assert len(_aside(file)) == 1
    numbers = [created(one.store).number for one in opened]
    assert sorted(numbers) == [1, 2, 3, 4, 5, 6]
    for one in opened:
        one.store.close()
