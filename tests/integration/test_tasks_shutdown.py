"""SIGTERM at the tasks function: it ends within five seconds, and what it leaves is done by another instance."""

import contextlib
import http.client
import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from a2a_hub.a2a.model import TaskPushNotificationConfig, TaskState, Version
from a2a_hub.identity.principal import HUB_FUNCTION, Principal
from a2a_hub.queue.wakeups import WEBHOOKS_TOPIC, Wakeup, push_body, topic_of
from a2a_hub.runtime.ids import new_id
from a2a_hub.task_store.sqlite import SqliteTaskStore
from a2a_hub.task_store.store import HUB, PushConfig
from tests.contract.task_store.stores import created, status
from tests.fakes.http_server import Exchange, HttpServer
from tests.fakes.signatures import TASKS_SETTINGS, signed
from tests.fakes.webhook_receiver import PATIENCE_SECONDS, Receiver
from tests.integration.gates import Gate, function

_MAX_SECONDS = 5.0
_WORKER = "token-of-all-roles"
# The queues' side of a deployment: work is done inside requests. Nothing listens at the emulator's address.
_IN_REQUESTS = {"WAKEUPS": "pubsub", "GOOGLE_CLOUD_PROJECT": "demo", "PUBSUB_EMULATOR_HOST": "127.0.0.1:9"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteTaskStore]:
    store = SqliteTaskStore(tmp_path / "tasks.db", clock=time.time, new_token=new_id)
    yield store
    store.close()


def _settings(folder: Path, **more: str) -> dict[str, str]:
    return {
        **TASKS_SETTINGS,
        "HUB_DEV_TOKEN": _WORKER,
        "HUB_PUBLIC_URL": "https://hub.example.com",
        "HUB_URL": "http://127.0.0.1:9",
        "IAM_CREDENTIALS": "none",
        "TASK_STORE": f"sqlite:{folder}/tasks.db",
        "WEBHOOK_ALLOWED_HOSTS": "127.0.0.1",
        "WEBHOOK_POLL_SECONDS": "0.05",
        **more,
    }


def _register(store: SqliteTaskStore, url: str) -> None:
    """A task with entries 1 and 2, of which a config is to be told."""
    id_ = created(store).task.id
    store.append(id_, [status(id_, TaskState.COMPLETED)])
    config = TaskPushNotificationConfig(url=url, id="p", task_id=id_)
    store.put_config(PushConfig(config=config, version=Version.V1_0), delivered=0)


def _seconds_to_end(tasks: Gate) -> float:
    """Return the seconds that the process takes to end after SIGTERM."""
    began = time.monotonic()
    os.kill(tasks.pid, signal.SIGTERM)
    os.waitid(os.P_PID, tasks.pid, os.WEXITED | os.WNOWAIT)
    return time.monotonic() - began


def _wake(tasks: Gate, topic: str, task_id: str) -> int:
    body = push_body(Wakeup(topic, task_id), message_id="1")
    return tasks.ask("POST", "/wakeups", body, _signed(body)).status


def _signed(body: bytes) -> Mapping[str, str]:
    return signed(Principal(subject=HUB_FUNCTION), "POST", "/wakeups", body, function="hub", audience="tasks")


@pytest.mark.parametrize("settings", [{}, _IN_REQUESTS], ids=["beside requests", "in a request"])
def test_a_notification_that_is_being_sent_is_sent_again_by_the_next_instance(
    store: SqliteTaskStore, tmp_path: Path, settings: dict[str, str]
) -> None:
    came, stopped = threading.Event(), threading.Event()

    def behave(exchange: Exchange) -> None:
        if stopped.is_set():
            exchange.answer(200)
        else:
            came.set()
            exchange.wait_until_left()

    with Receiver(behave=behave) as receiver:
        _register(store, receiver.url)
        with function("tasks", tmp_path, **_settings(tmp_path, WEBHOOK_TIMEOUT_SECONDS="60", **settings)) as tasks:
            answers: list[int] = []
            asked = threading.Thread(target=lambda: answers.append(_wake(tasks, WEBHOOKS_TOPIC, "t")))
            if settings:
                asked.start()
            assert came.wait(PATIENCE_SECONDS)
            seconds = _seconds_to_end(tasks)
            if settings:
                asked.join()
                # The queue sends the wake-up again.
                assert answers == [503]
        stopped.set()
        began = time.monotonic()
        with function("tasks", tmp_path, **_settings(tmp_path)):
            receiver.await_sequences([1, 1, 2])
        # It does not wait for the end of a claim of three minutes.
        assert time.monotonic() - began < PATIENCE_SECONDS
    assert seconds < _MAX_SECONDS


def test_a_run_on_the_hub_is_left_to_the_end_of_its_lease(store: SqliteTaskStore, tmp_path: Path) -> None:
    asked, task_id = threading.Event(), created(store).task.id

    def hangs(exchange: Exchange) -> None:
        asked.set()
        exchange.wait_until_left()

    with HttpServer(hangs) as hub:
        settings = _settings(tmp_path, HUB_URL=hub.url, **_IN_REQUESTS)
        with function("tasks", tmp_path, **settings) as tasks:
            answers: list[int] = []
            waiting = threading.Thread(target=lambda: answers.append(_wake(tasks, topic_of(HUB), task_id)))
            waiting.start()
            assert asked.wait(PATIENCE_SECONDS)
            assert _seconds_to_end(tasks) < _MAX_SECONDS
            waiting.join()
    # Nobody has leased it: the queue sends the wake-up again.
    assert answers == [503]


def test_a_worker_that_waits_and_a_connection_that_idles_hold_up_nothing(
    store: SqliteTaskStore, tmp_path: Path
) -> None:
    assert store.next_due(["developer"]) is None
    with function("tasks", tmp_path, **_settings(tmp_path)) as tasks:
        idle, waiting = (http.client.HTTPConnection("127.0.0.1", tasks.port, timeout=30) for _ in range(2))
        with contextlib.closing(idle), contextlib.closing(waiting):
            lease = b'{"roles": ["developer"], "waitSeconds": 25}'
            waiting.request("POST", "/v1/tasks:lease", lease, {"Authorization": f"Bearer {_WORKER}"})
            idle.request("GET", "/health")
            assert idle.getresponse().read()
            assert _seconds_to_end(tasks) < _MAX_SECONDS
            with contextlib.suppress(OSError, http.client.HTTPException):
                # It asks the next instance.
                assert waiting.getresponse().status in (204, 503)
