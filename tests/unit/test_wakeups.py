"""Topics, envelopes and waits."""

import base64
import json
import threading
import time

import pytest

from a2a_hub.queue.wakeups import BadEnvelope, Wakeup, push_body, read_push, topic_of
from functions.tasks.workers.leasing import WorkerWaits

SECONDS = 30.0
_DEEP = b"[" * 100_000


def _body(data: object, **message: object) -> bytes:
    encoded = base64.b64encode(json.dumps(data).encode()).decode()
    return json.dumps({"message": {"data": encoded, **message}, "subscription": "s"}).encode()


@pytest.mark.parametrize(
    ("role", "topic"),
    [
        ("", "tasks"),
        ("writer", "tasks-writer"),
        ("qa team/1", "tasks-qa%20team%2F1"),
        ("審査", "tasks-%E5%AF%A9%E6%9F%BB"),
    ],
)
def test_each_role_has_a_topic_whose_name_pubsub_allows(role: str, topic: str) -> None:
    assert topic_of(role) == topic


def test_a_push_says_which_task_and_which_topic() -> None:
    wakeup = Wakeup("tasks-writer", "t-1")
    body = push_body(wakeup, message_id="7")
    assert read_push(body) == wakeup
    message = json.loads(body)["message"]
    assert json.loads(base64.b64decode(message["data"])) == {"taskId": "t-1"}
    assert (message["messageId"], message["attributes"]) == ("7", {"roleTopic": "tasks-writer"})


def test_what_pubsub_adds_to_a_push_is_passed_over() -> None:
    body = _body(
        {"taskId": "t", "more": [1]},
        attributes={"roleTopic": "tasks"},
        messageId="1",
        message_id="1",
        publishTime="2026-01-01T00:00:00Z",
        publish_time="2026-01-01T00:00:00Z",
        orderingKey="",
    )
    assert read_push(body) == Wakeup("tasks", "t")
    assert read_push(_body({"taskId": "t"})) == Wakeup("", "t")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"[]",
        b"\xff",
        b'{"message": null}',
        b'{"message": {}}',
        b'{"message": {"data": "%%%"}}',
        b'{"message": {"data": "\xe3\x81\x82"}}'.decode().encode("utf-8"),
        _body("text"),
        _body({"taskId": 1}),
        _body({"taskId": ""}),
        _body({"taskId": "x" * 1_001}),
        _body({"taskId": "t"}, attributes={"roleTopic": 1}),
        b'{"message": {"data": "' + base64.b64encode(b"\xff\xfe") + b'"}}',
        b'{"message": {"data": "' + base64.b64encode(_DEEP) + b'"}}',
        b'{"message": {"data": "e30=", "other": ' + _DEEP + b"}}",
    ],
)
def test_anything_else_is_no_wakeup(body: bytes) -> None:
    with pytest.raises(BadEnvelope):
        read_push(body)


def test_a_wakeup_wakes_who_waits_for_its_topic() -> None:
    waits = WorkerWaits(poll_seconds=SECONDS, at_once=1)
    looked = threading.Semaphore(0)
    work: list[str] = []

    def look() -> str | None:
        looked.release()
        return work[0] if work else None

    results: list[str | None] = []
    thread = threading.Thread(target=lambda: results.append(waits.until(look, topics=["a", "b"], seconds=SECONDS)))
    thread.start()
    assert looked.acquire(timeout=SECONDS)
    waits.notify("c")
    assert not looked.acquire(timeout=0.05)
    work.append("task")
    waits.notify("b")
    thread.join(SECONDS)
    assert results == ["task"]


def test_a_wakeup_between_looking_and_waiting_is_not_missed() -> None:
    waits = WorkerWaits(poll_seconds=SECONDS, at_once=1)
    looks = 0

    def look() -> str | None:
        nonlocal looks
        looks += 1
        if looks == 1:
            waits.notify("a")
            return None
        return "task"

    started = time.monotonic()
    assert waits.until(look, topics=["a", "a"], seconds=SECONDS) == "task"
    assert time.monotonic() - started < SECONDS
