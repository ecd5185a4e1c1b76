"""What people read when they look after their tasks, and the task store does not answer."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.hub import Hub, route, streamed_text, text_of


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    """A hub whose store has lost its table of tasks while it runs, and gets it back in the end."""
    file = tmp_path / "tasks.db"
    hub = Hub(route("general", "http://127.0.0.1:9"), settings={"TASK_STORE": f"sqlite:{file}"})
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("ALTER TABLE tasks RENAME TO lost")
        yield hub
        connection.execute("ALTER TABLE lost RENAME TO tasks")


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("/tasks", "cannot be reached at the moment"),
        ("/task 3", "cannot be reached at the moment"),
        ("/キャンセル 3", "保存先に接続できません"),
    ],
)
def test_a_command_is_answered_with_a_text_though_the_store_is_away(hub: Hub, command: str, text: str) -> None:
    assert text in text_of(hub.send(command))
    assert "OperationalError SQLITE_ERROR\n" in hub.log[0]["stack_trace"]


def test_a_streamed_command_is_answered_too(hub: Hub) -> None:
    assert "cannot be reached at the moment" in streamed_text(hub.stream("/tasks"))
