"""Which push notification configs are taken."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from a2a_hub.a2a.errors import A2AError
from a2a_hub.a2a.model import AuthenticationInfo, Binding, TaskPushNotificationConfig, Version
from a2a_hub.a2a.operations import CREATE_PUSH_CONFIG
from a2a_hub.a2a.version_table import CODECS
from a2a_hub.runtime.ids import new_id
from a2a_hub.task_store.sqlite import SqliteTaskStore
from a2a_hub.task_store.store import StoredTask
from a2a_hub.tasks.push_configs import PushConfigs
from a2a_hub.tasks.webhook_address import WebhookAddresses
from functions.gate.header_allowlist import check_target
from tests.contract.task_store.stores import Clock, created

URL = "https://receiver.example.com/hook"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteTaskStore]:
    store = SqliteTaskStore(tmp_path / "tasks.db", clock=Clock(), new_token=new_id)
    yield store
    store.close()


def _own(scheme: str = "Bearer", credentials: str = "receivers-own") -> dict[str, AuthenticationInfo]:
    return {"authentication": AuthenticationInfo(scheme=scheme, credentials=credentials)}


def _add(store: SqliteTaskStore, **config: Any) -> TaskPushNotificationConfig:
    return _put(store, created(store), TaskPushNotificationConfig(**({"url": URL} | config)), Version.V1_0)


def _put(
    store: SqliteTaskStore, stored: StoredTask, config: TaskPushNotificationConfig, version: Version
) -> TaskPushNotificationConfig:
    configs = PushConfigs(store, addresses=WebhookAddresses([]))
    push = configs.validated(config, version, task_id=stored.task.id, with_message=False)
    store.put_config(push, delivered=stored.version)
    return push.config


def _configs(store: SqliteTaskStore, stored: StoredTask) -> list[TaskPushNotificationConfig]:
    return [each.push.config for each in store.configs(stored.task.id)]


def test_a_config_with_everything_is_taken(store: SqliteTaskStore) -> None:
    assert _add(store, id="p", token="receivers-token", **_own()).id == "p"


def test_a_receiver_is_told_of_what_comes_after_it_was_registered(store: SqliteTaskStore) -> None:
    task_id = _add(store).task_id
    (delivery,) = store.configs(str(task_id))
    assert delivery.delivered == 1
    assert store.due_deliveries(limit=10) == []


def test_a_config_without_a_name_is_the_default_one_in_0_3_and_one_of_many_in_1_0(
    store: SqliteTaskStore,
) -> None:
    stored = created(store)
    for version in (Version.V0_3, Version.V0_3, Version.V1_0, Version.V1_0):
        _put(store, stored, TaskPushNotificationConfig(url=URL), version)
    first, *others = [config.id for config in _configs(store, stored)]
    assert first == "default"
    assert len(set(others)) == 2


def test_a_task_has_so_many_configs_and_one_of_them_can_be_replaced(store: SqliteTaskStore) -> None:
    stored = created(store)
    for number in range(10):
        _put(store, stored, TaskPushNotificationConfig(url=URL, id=f"p{number}"), Version.V1_0)
    with pytest.raises(A2AError, match="at most 10"):
        _put(store, stored, TaskPushNotificationConfig(url=URL), Version.V1_0)
    _put(store, stored, TaskPushNotificationConfig(url=f"{URL}/new", id="p3"), Version.V1_0)
    assert [config.url for config in _configs(store, stored)].count(f"{URL}/new") == 1
    assert len(_configs(store, stored)) == 10


@pytest.mark.parametrize(
    ("field", "config"),
    [
        ("url", {"url": "https://user:password@receiver.example.com/"}),
        ("url", {"url": "https://user@receiver.example.com/"}),
        ("url", {"url": "https://receiver.example.com:99999/"}),
        ("url", {"url": "https://[::1/"}),
        ("url", {"url": "https:///hook"}),
        ("url", {"url": "https://receiver .example.com/"}),
        ("url", {"url": "https://receiver.example.com/hook\n"}),
        ("url", {"url": "https://receiver.example.com/\x00"}),
        ("url", {"url": "file:///etc/passwd"}),
        ("url", {"url": "gopher://receiver.example.com/"}),
        ("url", {"url": "hook"}),
        ("url", {"url": "http://receiver.example.com/hook"}),
        ("url", {"url": "https://169.254.169.254/"}),
        ("url", {"url": "https://receiver.example.com/" + "a" * 2000}),
        ("id", {"id": "p\r\nx: y"}),
        ("id", {"id": "p" * 501}),
        ("token", {"token": "token\r\nx-injected: yes"}),
        ("token", {"token": "t" * 2001}),
        ("token", {"token": "tökèn"}),
        ("authentication.scheme", _own(scheme="Bearer\n")),
        ("authentication.scheme", _own(scheme="")),
        ("authentication.scheme", _own(scheme="Bearer receivers-own")),
        ("authentication.scheme", _own(scheme="B" * 2001)),
        ("authentication.credentials", _own(credentials="own\r\nhost: inside")),
        ("authentication.credentials", _own(credentials="c" * 2001)),
    ],
)
def test_what_could_not_be_sent_or_may_not_is_refused_with_the_field(
    store: SqliteTaskStore, field: str, config: dict[str, Any]
) -> None:
    with pytest.raises(A2AError) as raised:
        _add(store, **config)
    assert [name for name, _ in raised.value.fields] == [field]
    assert store.due_deliveries(limit=10) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet=st.sampled_from("/.;%\\:~aA2e-_ ?#+@é"), min_size=1, max_size=8))
@example("a/b")
@example("a%2Fb")
@example("..")
@example(499 * "x" + ".")
def test_a_config_has_an_id_with_which_its_path_passes_the_gate_or_is_refused(store: SqliteTaskStore, id_: str) -> None:
    configs = PushConfigs(store, addresses=WebhookAddresses([]))
    path = f"/tenant/tasks/{new_id()}/pushNotificationConfigs/"
    try:
        check_target(path + quote(id_, safe=":~"), path + id_)
    except A2AError:
        with pytest.raises(A2AError, match="id"):
            configs.validated(
                TaskPushNotificationConfig(url=URL, id=id_), Version.V1_0, task_id="t", with_message=False
            )
    else:
        config = TaskPushNotificationConfig(url=URL, id=id_)
        assert configs.validated(config, Version.V1_0, task_id="t", with_message=False).config.id == id_


@pytest.mark.parametrize("id_", ["a/b", "a\nb"])
def test_an_id_that_no_path_can_name_in_a_resource_of_0_3_is_refused_and_not_left_out(
    store: SqliteTaskStore, id_: str
) -> None:
    name = f"tasks/t/pushNotificationConfigs/{id_}"
    params = {"config": {"name": name, "pushNotificationConfig": {"url": URL}}}
    config = CODECS[Version.V0_3].read_request(CREATE_PUSH_CONFIG, params, Binding.HTTP_JSON)
    assert isinstance(config, TaskPushNotificationConfig)
    with pytest.raises(A2AError) as raised:
        PushConfigs(store, addresses=WebhookAddresses([])).validated(
            config, Version.V0_3, task_id="t", with_message=False
        )
    assert [field for field, _ in raised.value.fields] == ["pushNotificationConfig.id"]


@pytest.mark.parametrize(
    ("version", "with_message", "field"),
    [
        (Version.V1_0, False, "url"),
        (Version.V1_0, True, "configuration.taskPushNotificationConfig.url"),
        (Version.V0_3, False, "pushNotificationConfig.url"),
        (Version.V0_3, True, "configuration.pushNotificationConfig.url"),
    ],
)
def test_a_field_is_named_as_it_stands_in_the_request(
    store: SqliteTaskStore, version: Version, with_message: bool, field: str
) -> None:
    configs = PushConfigs(store, addresses=WebhookAddresses([]))
    config = TaskPushNotificationConfig(url="hook")
    stored = created(store)
    with pytest.raises(A2AError) as raised:
        configs.validated(config, version, task_id=stored.task.id, with_message=with_message)
    assert [name for name, _ in raised.value.fields] == [field]
