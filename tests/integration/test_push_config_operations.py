"""Push notification configs are made, read, replaced, listed and deleted alike in each version and binding (§3.1.7-§3.1.10)."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fakes.hub import TOKEN
from tests.fakes.task_client import WAYS, Refused, TaskClient
from tests.fakes.two_owners import INVALID, NOT_FOUND, World, two_owners

URL = "https://receiver.example/hook"


@pytest.fixture
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with two_owners(tmp_path_factory.mktemp("configs")) as made:
        yield made


def _ids(world: World) -> list[str]:
    listed = world.client("1.0 JSONRPC", TOKEN).call("ListTaskPushNotificationConfigs", {"taskId": world.task_id})
    return [config["id"] for config in listed["configs"]]


def _code(client: TaskClient, operation: str, params: dict[str, Any]) -> int:
    with pytest.raises(Refused) as refused:
        client.call(operation, params)
    return refused.value.code


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("id_", ["mine", "urn:uuid:5f0c", "a.b_c", "~x"])
def test_a_config_is_read_replaced_and_deleted_by_its_id(world: World, way: str, id_: str) -> None:
    client = world.client(way, TOKEN)
    named = {"taskId": world.task_id, "id": id_}
    for url in (URL, f"{URL}/2"):
        client.call("CreateTaskPushNotificationConfig", named | {"url": url})
        read = client.call("GetTaskPushNotificationConfig", named)
        assert read.get("pushNotificationConfig", read) == {"id": id_, "url": url} | (
            {"taskId": world.task_id} if client.version == "1.0" else {}
        )
    assert _ids(world) == [world.config_id, id_]
    for _ in range(2):
        client.call("DeleteTaskPushNotificationConfig", named)
        assert _code(client, "GetTaskPushNotificationConfig", named) == NOT_FOUND[client.binding]
    assert _ids(world) == [world.config_id]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("id_", ["a b", "a/b", "a%2Fb", ".hidden"])
def test_an_id_that_no_path_of_the_gateway_can_name_is_refused_at_creation(world: World, way: str, id_: str) -> None:
    named = {"taskId": world.task_id, "id": id_, "url": URL}
    assert _code(world.client(way, TOKEN), "CreateTaskPushNotificationConfig", named) in (-32602, 400)
    assert _ids(world) == [world.config_id]


@pytest.mark.parametrize("way", [way for way in WAYS if way.startswith("1.0")])
@pytest.mark.parametrize("name", ["config", "pushNotificationConfig"])
def test_a_nested_config_of_the_release_candidate_is_answered_nested(world: World, way: str, name: str) -> None:
    client = world.client(way, TOKEN)
    config = {"id": "mine", "url": URL, "token": "t", "authentication": {"scheme": "Bearer", "credentials": "c"}}
    made = client.call("CreateTaskPushNotificationConfig", {"taskId": world.task_id, name: config})
    assert made == {"taskId": world.task_id, "pushNotificationConfig": config}
    flat = client.call("CreateTaskPushNotificationConfig", {"taskId": world.task_id} | config)
    assert flat == {"taskId": world.task_id} | config


@pytest.mark.parametrize("way", [way for way in WAYS if way.startswith("1.0")])
@pytest.mark.parametrize("inner", [None, "x", [], 1])
def test_a_nested_config_that_is_none_is_refused(world: World, way: str, inner: Any) -> None:
    client = world.client(way, TOKEN)
    params = {"taskId": world.task_id, "config": {"pushNotificationConfig": inner}}
    assert _code(client, "CreateTaskPushNotificationConfig", params) == INVALID[client.binding]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("id_", ["a/b", "/", ".", ".."])
def test_an_id_that_no_path_can_hold_is_refused(world: World, way: str, id_: str) -> None:
    client = world.client(way, TOKEN)
    params = {"taskId": world.task_id, "id": id_, "url": URL}
    assert _code(client, "CreateTaskPushNotificationConfig", params) == INVALID[client.binding]
    assert _ids(world) == [world.config_id]


@pytest.mark.parametrize(
    ("operation", "params"),
    [
        ("CreateTaskPushNotificationConfig", {"url": URL}),
        ("CreateTaskPushNotificationConfig", {"taskId": "", "url": URL}),
        ("GetTaskPushNotificationConfig", {"id": ""}),
        ("DeleteTaskPushNotificationConfig", {"id": ""}),
        ("ListTaskPushNotificationConfigs", {"taskId": ""}),
        ("ListTaskPushNotificationConfigs", {"pageSize": -1}),
        ("GetTask", {"id": ""}),
    ],
    ids=str,
)
def test_what_is_required_has_to_be_said(world: World, operation: str, params: dict[str, Any]) -> None:
    """§5.7: "" is what a string is that was not set."""
    client = world.client("1.0 JSONRPC", TOKEN)
    task = {} if operation.startswith("Create") else {"taskId": world.task_id}
    assert _code(client, operation, task | params) == INVALID["JSONRPC"]
    assert _ids(world) == [world.config_id]


def test_0_3_deletes_nothing_without_being_told_what(world: World) -> None:
    client = world.client("0.3 JSONRPC", TOKEN)
    params = {"taskId": world.task_id}
    assert _code(client, "DeleteTaskPushNotificationConfig", params) == INVALID["JSONRPC"]
    read = client.call("GetTaskPushNotificationConfig", params)
    assert read["pushNotificationConfig"]["id"] == world.config_id


@pytest.mark.parametrize("named", [{"configId": "mine"}, {"config_id": "mine"}], ids=str)
def test_over_http_json_0_3_names_a_config_beside_it(world: World, named: dict[str, str]) -> None:
    """CreateTaskPushNotificationConfigRequest of 0.3's proto."""
    body = named | {"parent": f"tasks/{world.task_id}", "config": {"pushNotificationConfig": {"url": URL}}}
    path = f"/v1/tasks/{world.task_id}/pushNotificationConfigs"
    made = world.hub.request("POST", path, json.dumps(body).encode(), token=TOKEN)
    assert made.status == 200
    assert _ids(world) == [world.config_id, "mine"]
