"""The deliverer as it is wired for production goes to no address that is not public, whatever a name resolves to."""

import socket
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.a2a.model import TaskPushNotificationConfig, Version
from a2a_hub.queue.wakeups import NoWakeups
from a2a_hub.runtime.ids import new_id
from a2a_hub.task_store.sqlite import SqliteTaskStore
from a2a_hub.task_store.store import Delivery, PushConfig
from a2a_hub.telemetry.log import Log
from functions.tasks.config import read
from functions.tasks.webhooks.delivery import deliverer
from tests.contract.task_store.stores import created
from tests.fakes.http_server import HttpServer
from tests.fakes.signatures import TASKS_SETTINGS
from tests.fakes.webhook_receiver import PATIENCE_SECONDS

NAME = "receiver.example.com"


def _resolve_to(addresses: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on, NAME stands for these addresses on this machine."""
    really = socket.getaddrinfo

    def getaddrinfo(host: Any, port: Any, *more: Any, **options: Any) -> Any:
        if host != NAME:
            return really(host, port, *more, **options)
        return [found for address in addresses for found in really(address, port, *more, **options)]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


def _attempted(store: SqliteTaskStore, task_id: str) -> Delivery:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        (delivery,) = store.configs(task_id)
        if delivery.failures or delivery.delivered:
            return delivery
        assert time.monotonic() < deadline, "nothing was attempted"
        time.sleep(0.005)


@pytest.mark.parametrize(
    ("addresses", "allowed", "connections", "dead"),
    [
        (["127.0.0.1"], "", 0, "the host is not at public addresses alone"),
        (["::ffff:127.0.0.1"], "", 0, "the host is not at public addresses alone"),
        (["93.184.216.34", "127.0.0.1"], "", 0, "the host is not at public addresses alone"),
        (["127.0.0.1"], NAME, 1, "the TLS handshake failed: what answers does not speak TLS"),
    ],
)
def test_a_name_that_became_an_inner_address_is_not_connected_to(
    addresses: Sequence[str],
    allowed: str,
    connections: int,
    dead: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = {
        **TASKS_SETTINGS,
        "HUB_URL": "http://127.0.0.1:9",
        "IAM_CREDENTIALS": "none",
        "TASK_STORE": f"sqlite:{tmp_path}/tasks.db",
        "WEBHOOK_ALLOWED_HOSTS": allowed,
        "WEBHOOK_ATTEMPTS": "1",
    }
    store = SqliteTaskStore(tmp_path / "tasks.db", clock=time.time, new_token=new_id)
    log = Log(lambda _: None, clock=time.monotonic, new_id=new_id, function="tasks")
    _resolve_to(addresses, monkeypatch)
    with HttpServer(lambda _: None, greeting=b"no TLS\r\n") as inside:
        task_id = created(store).task.id
        url = f"https://{NAME}:{inside.port}/hook"
        config = TaskPushNotificationConfig(url=url, id="p", task_id=task_id)
        store.put_config(PushConfig(config=config, version=Version.V1_0), delivered=0)
        deliverer(read(settings), store, log, NoWakeups()).deliver_due()
        assert _attempted(store, task_id).dead == dead
        assert inside.connections == connections
    store.close()
