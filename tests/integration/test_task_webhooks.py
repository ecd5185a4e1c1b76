"""A webhook that comes with a message: taken together with it, or neither is."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.errors import A2AError
from a2a_hub.a2a.model import SendMessageConfiguration, Task, TaskPushNotificationConfig, TaskState
from a2a_hub.a2a.reply import Piece, Question, Text
from a2a_hub.task_store.store import Unavailable
from tests.fakes.task_instance import Instance, a_call, a_request, settled, stored, tasks


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tasks.db"


def ask(call: Call) -> Iterator[Piece]:
    """Has to know one thing more."""
    yield Text("answer") if call.task and call.task.turn > 1 else Question("Which?")


def asked(instance: Instance) -> Task:
    """A task that waits for its client."""
    task = instance.send("hello", at_once=True)
    assert isinstance(task, Task)
    return settled(instance, task.id)


def with_webhook(url: str) -> SendMessageConfiguration:
    return SendMessageConfiguration(task_push_notification_config=TaskPushNotificationConfig(url=url))


def test_a_webhook_that_is_refused_leaves_no_task_behind(file: Path) -> None:
    instance = Instance(file, ask)
    request = a_request("hello", with_webhook("https://127.0.0.1/hook"))
    with pytest.raises(A2AError, match="public address"):
        instance.kept.send(request, a_call())
    assert tasks(instance) == []


def test_a_webhook_can_come_with_a_follow_up(file: Path) -> None:
    instance = Instance(file, ask)
    task = asked(instance)
    url = "https://receiver.example/hook"
    instance.kept.send(a_request("this", with_webhook(url), task_id=task.id), a_call())
    (kept,) = instance.store.configs(task.id)
    assert kept.push.config.url == url


@pytest.mark.parametrize(
    ("url", "before", "said"),
    [("https://127.0.0.1/hook", 0, "public address"), ("https://receiver.example/hook", 10, "at most 10")],
)
def test_a_follow_up_whose_webhook_is_refused_answers_nothing(file: Path, url: str, before: int, said: str) -> None:
    instance = Instance(file, ask)
    task = asked(instance)
    for _ in range(before):
        config = TaskPushNotificationConfig(url="https://receiver.example/", task_id=task.id)
        instance.kept.operations.create_config(config, a_call())
    with pytest.raises(A2AError, match=said):
        instance.kept.send(a_request("this", with_webhook(url), task_id=task.id), a_call())
    assert settled(instance, task.id).status.state is TaskState.INPUT_REQUIRED


def test_a_task_is_never_there_without_its_webhook(file: Path) -> None:
    instance = Instance(file, ask)
    url = "https://receiver.example/hook"
    instance.far.loses_answer_to, instance.far.away_once_lost = "create", True
    with pytest.raises(Unavailable):
        instance.kept.send(a_request("hello", with_webhook(url)), a_call())
    instance.far.away = False
    (task,) = tasks(instance)
    assert [(each.push.config.url, each.delivered) for each in instance.store.configs(task.id)] == [(url, 0)]


def test_an_answer_is_never_there_without_its_webhook(file: Path) -> None:
    instance = Instance(file, ask)
    task = asked(instance)
    before = stored(instance)[0].version
    url = "https://receiver.example/hook"
    instance.far.loses_answer_to, instance.far.away_once_lost = "append", True
    with pytest.raises(Unavailable):
        instance.kept.send(a_request("this", with_webhook(url), task_id=task.id), a_call())
    instance.far.away = False
    kept = [(each.push.config.url, each.delivered) for each in instance.store.configs(task.id)]
    assert kept == [(url, before)]
