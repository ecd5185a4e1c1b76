"""Every operation in every version and binding is found, and answered as the card promises."""

import itertools
import json
import re
from typing import Any

import pytest

from a2a_hub.a2a import errors, protojson
from a2a_hub.a2a.bindings import jsonrpc, rest
from a2a_hub.a2a.card import AgentCard
from a2a_hub.a2a.compat.v0_3.card import to_compat_card
from a2a_hub.a2a.model import GetTaskRequest, Version
from a2a_hub.a2a.operations import OPERATIONS, Capability, Operation, Rest
from a2a_hub.a2a.version_table import CODECS
from tests.contract.a2a.served import CARD, Way, error_of, served

SENDS = ("SendMessage", "SendStreamingMessage")
# The names in the specification, written down a second time so that a slip in the table shows.
NAMES = {
    "SendMessage": ("message/send", ["POST /message:send"]),
    "SendStreamingMessage": ("message/stream", ["POST /message:stream"]),
    "GetTask": ("tasks/get", ["GET /tasks/{}"]),
    "ListTasks": (None, ["GET /tasks"]),
    "CancelTask": ("tasks/cancel", ["POST /tasks/{}:cancel"]),
    "SubscribeToTask": ("tasks/resubscribe", ["GET /tasks/{}:subscribe", "POST /tasks/{}:subscribe"]),
    "CreateTaskPushNotificationConfig": (
        "tasks/pushNotificationConfig/set",
        ["POST /tasks/{}/pushNotificationConfigs"],
    ),
    "GetTaskPushNotificationConfig": (
        "tasks/pushNotificationConfig/get",
        ["GET /tasks/{}/pushNotificationConfigs/{}"],
    ),
    "ListTaskPushNotificationConfigs": (
        "tasks/pushNotificationConfig/list",
        ["GET /tasks/{}/pushNotificationConfigs"],
    ),
    "DeleteTaskPushNotificationConfig": (
        "tasks/pushNotificationConfig/delete",
        ["DELETE /tasks/{}/pushNotificationConfigs/{}"],
    ),
    "GetExtendedAgentCard": ("agent/getAuthenticatedExtendedCard", ["GET /extendedAgentCard"]),
}
# The code of what an agent without stored tasks answers, by what the operation needs.
REFUSALS = {
    None: errors.UNSUPPORTED_OPERATION,
    Capability.STREAMING: errors.UNSUPPORTED_OPERATION,
    Capability.PUSH_NOTIFICATIONS: errors.PUSH_NOTIFICATION_NOT_SUPPORTED,
    Capability.EXTENDED_AGENT_CARD: errors.UNSUPPORTED_OPERATION,
}
OTHERS = [operation for operation in OPERATIONS if operation.name not in SENDS]
ROUTES: list[tuple[Operation, Version, Rest]] = [
    (operation, version, each)
    for version, codec in CODECS.items()
    for operation in OPERATIONS
    for each in codec.paths(operation)
]
METHODS: list[tuple[Operation, Version, str]] = [
    (operation, version, method)
    for version, codec in CODECS.items()
    for operation in OPERATIONS
    if (method := codec.method(operation))
]
PARAMS: dict[str, Any] = {
    "id": "task-1",
    "taskId": "task-1",
    "url": "https://client.example.com/hook",
    "pushNotificationConfig": {"url": "https://client.example.com/hook"},
}


def _path(route: Rest) -> str:
    return re.sub(r"\{\w+\}", "task-1", route.path)


def test_the_table_has_the_specifications_names() -> None:
    assert {operation.name for operation in OPERATIONS} == NAMES.keys()
    for operation in OPERATIONS:
        old_name, paths = NAMES[operation.name]
        assert CODECS[Version.V1_0].method(operation) == operation.name
        assert CODECS[Version.V0_3].method(operation) == old_name
        assert [f"{each.method} {re.sub(r'{[a-z_]+}', '{}', each.path)}" for each in operation.rest] == paths
        old_paths = (
            ["GET /v1/card"]
            if operation.name == "GetExtendedAgentCard"
            else [path.replace(" /", " /v1/") for path in paths]
        )
        old = [
            f"{each.method} {re.sub(r'{[a-z_]+}', '{}', each.path)}" for each in CODECS[Version.V0_3].paths(operation)
        ]
        assert old == old_paths


def test_an_operation_that_only_1_0_has_is_none_of_0_3() -> None:
    newer = Operation("ArchiveTask", GetTaskRequest, (Rest("POST", "/tasks/{id}:archive"),))
    assert (CODECS[Version.V1_0].method(newer), CODECS[Version.V1_0].paths(newer)) == (newer.name, newer.rest)
    assert (CODECS[Version.V0_3].method(newer), CODECS[Version.V0_3].paths(newer)) == (None, ())


@pytest.mark.parametrize(("operation", "version", "method"), METHODS, ids=lambda each: str(each)[:40])
def test_every_method_stands_for_its_operation(operation: Operation, version: Version, method: str) -> None:
    assert jsonrpc.resolve(method, None) == (operation, CODECS[version])
    assert jsonrpc.resolve(method, version) == (operation, CODECS[version])


@pytest.mark.parametrize("tail", ["", "/"])
@pytest.mark.parametrize(("operation", "version", "route"), ROUTES, ids=lambda each: str(each)[:60])
def test_every_path_stands_for_its_operation(operation: Operation, version: Version, route: Rest, tail: str) -> None:
    for named in (None, version):
        target = rest.resolve(route.method, _path(route) + tail, named)
        assert (target.operation, target.codec.version) == (operation, version)
        assert set(target.path_fields.values()) <= {"task-1"}


@pytest.mark.parametrize(
    ("operation", "route"),
    [row[::2] for row in ROUTES if row[1] is Version.V1_0],
    ids=lambda each: str(each)[:60],
)
def test_every_1_0_path_exists_below_a_tenant(operation: Operation, route: Rest) -> None:
    for tenant in ("acme", "日本", "v2", "tasks-of-mine"):
        target = rest.resolve(route.method, f"/{tenant}{_path(route)}", None)
        assert target.operation is operation
        assert target.path_fields["tenant"] == tenant


def test_v1_is_a_tenant_only_for_a_request_that_names_1_0() -> None:
    assert rest.resolve("POST", "/v1/message:send", None).codec.version is Version.V0_3
    target = rest.resolve("POST", "/v1/message:send", Version.V1_0)
    assert (target.codec.version, target.path_fields) == (Version.V1_0, {"tenant": "v1"})


@pytest.mark.parametrize(
    ("operation", "version", "method"),
    [row for row in METHODS if row[0] in OTHERS],
    ids=lambda each: str(each)[:40],
)
def test_a_method_that_needs_stored_tasks_is_unsupported(operation: Operation, version: Version, method: str) -> None:
    agent = served()
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": PARAMS}
    status, error, _ = error_of(Way(version, rest=False), agent.send("POST", "/", body))
    kind = REFUSALS[operation.capability]
    assert (status, error["code"]) == (200, kind.code)
    assert error["data"][0]["reason"] == kind.reason


@pytest.mark.parametrize(
    ("operation", "version", "route"),
    [row for row in ROUTES if row[0] in OTHERS],
    ids=lambda each: str(each)[:60],
)
def test_a_path_that_needs_stored_tasks_is_unsupported(operation: Operation, version: Version, route: Rest) -> None:
    body = b"" if route.method in ("GET", "DELETE") else json.dumps(PARAMS).encode()
    status, error, _ = error_of(Way(version, rest=True), served().send(route.method, _path(route), body))
    kind = REFUSALS[operation.capability]
    assert (status, error["status"]) == (kind.http_status, kind.status)
    assert error["details"][0]["reason"] == kind.reason


def test_the_card_promises_no_more_than_is_answered() -> None:
    capabilities = CARD.capabilities
    assert capabilities.streaming is True
    assert capabilities.push_notifications is False
    assert capabilities.extended_agent_card is False
    old = to_compat_card(CARD)
    assert old["capabilities"] == {"streaming": True, "pushNotifications": False}
    assert old["supportsAuthenticatedExtendedCard"] is False


def _card(**capabilities: bool | None) -> AgentCard:
    plain = protojson.decode(protojson.encode(CARD))
    given = {name: value for name, value in capabilities.items() if value is not None}
    return protojson.read(AgentCard, plain | {"capabilities": given})


@pytest.mark.parametrize("streaming", [False, None])
@pytest.mark.parametrize("way", [Way(version, rest, True) for version in Version for rest in (False, True)], ids=str)
def test_an_agent_whose_card_promises_no_streams_refuses_them(way: Way, streaming: bool | None) -> None:
    agent = served(_card(streaming=streaming))
    _, error, _ = error_of(way, agent.send("POST", way.path, way.body(way.params())))
    assert error["code"] == (400 if way.rest else -32004)


def test_a_promised_extended_card_that_does_not_exist_is_not_configured() -> None:
    agent = served(_card(streaming=True, extendedAgentCard=True))
    _, error, _ = error_of(Way(Version.V1_0, rest=True), agent.send("GET", "/extendedAgentCard"))
    assert error["details"][0]["reason"] == "EXTENDED_AGENT_CARD_NOT_CONFIGURED"


def test_the_task_of_the_path_counts_whatever_the_query_says() -> None:
    target = rest.resolve("GET", "/tasks/mine/pushNotificationConfigs/c", None)
    for query in ({"taskId": ["theirs"]}, {"task_id": ["theirs"]}, {"task_id": ["x"], "taskId": ["theirs"]}):
        request = rest.read_request(target, query, b"")
        assert request.task_id == "mine"  # type: ignore[attr-defined]


@pytest.mark.parametrize("body", [b"", b" ", b"{}", b"null", b" null\n"])
def test_a_body_that_holds_nothing_adds_nothing_to_the_path(body: bytes) -> None:
    for path in ("/tasks/mine:cancel", "/v1/tasks/mine:cancel"):
        request = rest.read_request(rest.resolve("POST", path, None), {}, body)
        assert request.id == "mine"  # type: ignore[attr-defined]


def test_the_fields_of_a_get_come_from_the_query() -> None:
    target = rest.resolve("GET", "/acme/tasks", None)
    query = {
        "contextId": ["c"],
        "status": ["TASK_STATE_WORKING"],
        "pageSize": ["7"],
        "includeArtifacts": ["true"],
        "statusTimestampAfter": ["2026-01-31T09:30:00Z"],
        "unknown": ["x"],
    }
    assert protojson.decode(protojson.encode(rest.read_request(target, query, b""))) == {
        "tenant": "acme",
        "contextId": "c",
        "status": "TASK_STATE_WORKING",
        "pageSize": 7,
        "includeArtifacts": True,
        "statusTimestampAfter": "2026-01-31T09:30:00.000Z",
    }


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("GET", "/message:send", "POST"),
        ("PUT", "/v1/message:stream", "POST"),
        ("DELETE", "/tasks/t", "GET"),
        ("POST", "/tasks", "GET"),
        ("PATCH", "/tasks/t:subscribe", "GET, POST"),
        ("PUT", "/tasks/t/pushNotificationConfigs", "GET, POST"),
        ("POST", "/acme/tasks/t/pushNotificationConfigs/c", "DELETE, GET"),
        ("POST", "/v1/card", "GET"),
        ("PUT", "/", "GET, HEAD, POST"),
        ("DELETE", "/", "GET, HEAD, POST"),
    ],
)
def test_another_http_method_is_405_with_the_allowed_ones(method: str, path: str, allow: str) -> None:
    response = served().send(method, path)
    status, error, _ = error_of(Way(Version.V1_0, rest=True), response)
    assert (status, error["code"]) == (405, 405)
    assert response.headers["allow"] == allow


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/x",
            "/message",
            "/message:",
            "/message:sends",
            "/message:send:stream",
            "//message:send",
            "/v1",
            "/v1/",
        ),
        *(
            "/v2/v1/message:send",
            "/tasks/a/b",
            "/tasks//",
            "/tasks/a:b",
            "/a/b/tasks",
            "/tasks/t/pushNotificationConfigs/c/d",
        ),
        *(
            "/extendedAgentCard/x",
            "/%2e%2e/etc/passwd",
            "/../message:send",
            "/\x00",
            "/message:send\n",
            "/日本語",
        ),
    ],
)
def test_an_unknown_path_is_404(path: str) -> None:
    for version, method in itertools.product(("", "1.0", "0.3", "9.9"), ("GET", "POST", "DELETE")):
        response = served().send(method, path, a2a_version=version)
        status, error, _ = error_of(Way(Version.V1_0, rest=True), response)
        assert (status, error["code"], error["status"]) == (404, 404, "NOT_FOUND"), (version, method)
