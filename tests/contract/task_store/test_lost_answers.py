"""What is stored though the store's answer is lost is stored once, with its webhook, and is done once."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import (
    SendMessageConfiguration,
    SendMessageRequest,
    Task,
    TaskPushNotificationConfig,
    TaskState,
)
from a2a_hub.a2a.refusal import TemporaryRefusal
from a2a_hub.a2a.reply import Piece, Question, Text
from a2a_hub.task_store.store import Unavailable, WrongVersion
from tests.contract.task_store.stores import Clock, Store, created, status, webhook
from tests.fakes.task_instance import (
    PATIENCE_SECONDS,
    Instance,
    a_call,
    a_request,
    events_of,
    settled,
    tasks,
    terminal,
    text_of,
    until,
)

URL = "https://receiver.example/hook"
_LEASE_SECONDS = 30.0


def ask(call: Call) -> Iterator[Piece]:
    """Has to know one thing more."""
    yield Text("answer") if call.task and call.task.turn > 1 else Question("Which?")


def answer(_: Call) -> Iterator[Piece]:
    yield Text("answer")


def with_webhook(text: str, *, task_id: str | None = None, at_once: bool = False) -> SendMessageRequest:
    """The same message each time."""
    config = TaskPushNotificationConfig(url=URL)
    configuration = SendMessageConfiguration(task_push_notification_config=config, return_immediately=at_once)
    return a_request(text, configuration, message_id="the-same", task_id=task_id)


def urls(store: Store, task_id: str) -> list[str]:
    return [each.push.config.url for each in store.configs(task_id)]


def test_an_answer_that_is_appended_again_is_there_once_with_its_webhook(store: Store, other: Store) -> None:
    id_ = created(store, state=TaskState.INPUT_REQUIRED).task.id
    working = status(id_, TaskState.WORKING)
    store.append(id_, [working], expected_version=1, push=webhook(id_))
    with pytest.raises(WrongVersion):
        other.append(id_, [working], expected_version=1, push=webhook(id_, "another"))
    assert [(each.push, each.delivered) for each in other.configs(id_)] == [(webhook(id_), 1)]
    assert len(other.entries(id_, after=0)) == 2


@pytest.mark.parametrize("streaming", [True, False], ids=["streamed", "waited for"])
@pytest.mark.parametrize("runs_at_once", [True, False], ids=["run at once", "queued"])
@pytest.mark.parametrize("follows", [True, False], ids=["follow-up", "first"])
@pytest.mark.parametrize("away", [True, False], ids=["sent again", "looked for"])
def test_a_message_that_was_stored_though_the_answer_was_lost_is_stored_and_done_once(
    store: Store,
    clock: Clock,
    tmp_path: Path,
    away: bool,
    follows: bool,
    runs_at_once: bool,
    streaming: bool,
) -> None:
    script = ask if follows else answer
    instance = Instance(tmp_path, script, store=store, runs_at_once=runs_at_once, lease_seconds=_LEASE_SECONDS)
    request = with_webhook("this", task_id=waiting(instance) if follows else None)

    def send() -> str:
        call = a_call(streaming=streaming)
        if not streaming:
            said = instance.kept.send(request, call)
            return said.id if isinstance(said, Task) else text_of(said)
        events = list(events_of(instance.kept.stream(request, call)))
        return text_of(settled(instance, tasks(instance)[0].id)) if events else ""

    far, asked = instance.far, instance.agent.asked
    far.loses_answer_to, far.away_once_lost = "append" if follows else "create", away
    with ThreadPoolExecutor() as threads:
        if away:
            with pytest.raises(Unavailable):
                send()
            far.away = False
        looked = far.ended["running"] + far.ended["create"]
        answered = threads.submit(send)
        assert far.lost.wait(PATIENCE_SECONDS)
        until(lambda: not away or far.ended["running"] + far.ended["create"] > looked)
        (task,) = tasks(instance)
        if away and runs_at_once and not follows:
            # It was made with a lease, and somebody may work under that.
            assert instance.run_again(task.id) is None
            clock.pass_by(_LEASE_SECONDS + 1)
        if away or not runs_at_once:
            instance.run_again(task.id)
        assert answered.result(PATIENCE_SECONDS) in ("answer", task.id)
    done = settled(instance, task.id)
    assert (text_of(done), instance.agent.asked) == ("answer", asked + 1)
    assert len(terminal(instance, task.id)) == 1
    assert urls(store, task.id) == [URL]
    assert [message.message_id for message in done.history].count("the-same") == 1


def test_a_person_is_not_told_to_send_again_what_was_stored(store: Store, tmp_path: Path) -> None:
    instance = Instance(tmp_path, ask, store=store)
    request = with_webhook("this", task_id=waiting(instance))
    instance.far.loses_answer_to = "append"
    assert text_of(instance.kept.send(request, a_call(text_only=True))) == "answer"


def test_a_person_whose_answer_may_not_be_stored_reads_so_and_no_error(store: Store, tmp_path: Path) -> None:
    instance = Instance(tmp_path, ask, store=store)
    request = with_webhook("this", task_id=waiting(instance))
    sending, far = instance.kept, instance.far
    far.loses_answer_to, far.away_once_lost = "append", True
    for start, streaming in ((sending.send, False), (sending.stream, True)):
        with pytest.raises(TemporaryRefusal) as refused:
            start(request, a_call(text_only=True, streaming=streaming))
        assert set(refused.value.texts.values()) == {"The store is away."}


def test_an_answer_is_worked_on_though_the_store_does_not_say_who_may(
    store: Store, clock: Clock, tmp_path: Path
) -> None:
    instance = Instance(tmp_path, ask, store=store, lease_seconds=_LEASE_SECONDS)
    task_id = waiting(instance)
    instance.far.loses_answer_to = "lease"
    instance.kept.send(with_webhook("this", task_id=task_id, at_once=True), a_call())
    assert instance.far.lost.is_set()
    clock.pass_by(_LEASE_SECONDS + 1)
    instance.run_again(task_id)
    assert text_of(settled(instance, task_id)) == "answer"


def waiting(instance: Instance) -> str:
    """A task that asked something."""
    task = instance.send("hello", at_once=True)
    assert isinstance(task, Task)
    if not instance.runs_at_once:
        instance.run_again(task.id)
    assert settled(instance, task.id).status.state is TaskState.INPUT_REQUIRED
    return task.id
