"""Push notifications from the tasks function's own process, which may be killed at any moment."""

import hashlib
import json
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from a2a_hub.a2a.model import TaskPushNotificationConfig, TaskState, Version
from a2a_hub.runtime.ids import new_id
from a2a_hub.task_store.sqlite import SqliteTaskStore
from a2a_hub.task_store.store import PushConfig
from local.settings import key_pair
from tests.contract.task_store.stores import created, status
from tests.fakes.http_server import Exchange
from tests.fakes.signatures import TASKS_SETTINGS
from tests.fakes.webhook_receiver import PATIENCE_SECONDS, Receiver
from tests.fakes.webhook_signatures import claims_of
from tests.integration.gates import function


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteTaskStore]:
    store = SqliteTaskStore(tmp_path / "tasks.db", clock=time.time, new_token=new_id)
    yield store
    store.close()


def _settings(folder: Path, **more: str) -> dict[str, str]:
    return {
        **TASKS_SETTINGS,
        "HUB_DEV_TOKEN": "token-of-all-roles",
        "HUB_PUBLIC_URL": "https://hub.example.com",
        "HUB_URL": "http://127.0.0.1:9",
        "IAM_CREDENTIALS": "none",
        "TASK_STORE": f"sqlite:{folder}/tasks.db",
        "WEBHOOK_ALLOWED_HOSTS": "127.0.0.1",
        "WEBHOOK_POLL_SECONDS": "0.05",
        "WEBHOOK_TIMEOUT_SECONDS": "1",
        **more,
    }


def _registered(store: SqliteTaskStore, url: str) -> str:
    """The id of a task with entries 1 to 3, of which a config is to be told."""
    id_ = created(store).task.id
    store.append(id_, [status(id_, TaskState.WORKING), status(id_, TaskState.COMPLETED)])
    config = TaskPushNotificationConfig(url=url, id="p", task_id=id_)
    store.put_config(PushConfig(config=config, version=Version.V1_0), delivered=0)
    return id_


def test_what_a_killed_process_was_sending_is_sent_again_by_the_next(store: SqliteTaskStore, tmp_path: Path) -> None:
    second_came, killed = threading.Event(), threading.Event()

    def behave(exchange: Exchange) -> None:
        if exchange.received.headers["x-a2a-notification-id"].endswith("/2") and not killed.is_set():
            second_came.set()
            exchange.wait_until_left()
            return
        exchange.answer(200)

    with Receiver(behave=behave) as receiver:
        _registered(store, receiver.url)
        with function("tasks", tmp_path, **_settings(tmp_path, WEBHOOK_TIMEOUT_SECONDS="2")):
            assert second_came.wait(PATIENCE_SECONDS)
        killed.set()
        assert receiver.sequences == [1, 2]
        with function("tasks", tmp_path, **_settings(tmp_path)):
            receiver.await_sequences([1, 2, 3])
        assert receiver.sequences == [1, 2, 2, 3]


def test_a_signature_can_be_checked_with_the_keys_that_the_function_shows(
    store: SqliteTaskStore, tmp_path: Path
) -> None:
    private, _ = key_pair()
    with (
        Receiver() as receiver,
        function("tasks", tmp_path, **_settings(tmp_path, WEBHOOK_SIGNING_KEY=private)) as tasks,
    ):
        id_ = _registered(store, receiver.url)
        receiver.await_sequences([1, 2, 3])
        with urllib.request.urlopen(f"http://127.0.0.1:{tasks.port}/.well-known/jwks.json") as answer:
            key_set = json.load(answer)
    for received in receiver.received:
        token = received.headers["x-a2a-notification-signature"]
        assert received.headers["authorization"] == f"Bearer {token}"
        claims = claims_of(token, key_set)
        assert claims["request_body_sha256"] == hashlib.sha256(received.body).hexdigest()
        assert claims["jti"] == received.headers["x-a2a-notification-id"]
        assert (claims["iss"], claims["aud"]) == ("https://hub.example.com", receiver.url)
        assert claims["taskId"] == id_
