"""What ProtoJSON tolerates is read, and everything else is refused with its field named (A2A 1.0.1 §5.5-§5.7)."""

import time
from typing import Any

import msgspec
import pytest

from a2a_hub.a2a import protojson
from a2a_hub.a2a.card import AgentCard, SecurityRequirement
from a2a_hub.a2a.errors import INVALID_PARAMS, A2AError
from a2a_hub.a2a.model import (
    Artifact,
    GetTaskRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    StreamResponse,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
)

MESSAGE = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}
READ_MESSAGE = Message(message_id="m", role=Role.USER, parts=(Part(text="hi"),))
ARTIFACT = {"artifactId": "a", "parts": [{"text": "hi"}]}

# (what, type, JSON, what it is read as)
TOLERATED: list[tuple[str, type[msgspec.Struct], Any, msgspec.Struct]] = [
    ("camelCase", Message, MESSAGE, READ_MESSAGE),
    (
        "snake_case",
        Message,
        {"message_id": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]},
        READ_MESSAGE,
    ),
    ("enum number", Message, MESSAGE | {"role": 1}, READ_MESSAGE),
    ("enum number as a string", Message, MESSAGE | {"role": "1"}, READ_MESSAGE),
    ("enum zero", TaskStatus, {"state": 0}, TaskStatus(state=TaskState.UNSPECIFIED)),
    ("last enum number", TaskStatus, {"state": 8}, TaskStatus(state=TaskState.AUTH_REQUIRED)),
    (
        "number as a string",
        GetTaskRequest,
        {"id": "t", "historyLength": "5"},
        GetTaskRequest(id="t", history_length=5),
    ),
    (
        "negative number",
        GetTaskRequest,
        {"id": "t", "historyLength": "-5"},
        GetTaskRequest(id="t", history_length=-5),
    ),
    (
        "whole float",
        GetTaskRequest,
        {"id": "t", "historyLength": 5.0},
        GetTaskRequest(id="t", history_length=5),
    ),
    (
        "largest number",
        GetTaskRequest,
        {"id": "t", "historyLength": 2**31 - 1},
        GetTaskRequest(id="t", history_length=2**31 - 1),
    ),
    (
        "boolean of a query",
        ListTasksRequest,
        {"includeArtifacts": "true"},
        ListTasksRequest(include_artifacts=True),
    ),
    (
        "null is absent",
        Message,
        MESSAGE | {"contextId": None, "extensions": None, "metadata": None},
        READ_MESSAGE,
    ),
    ("no parts", Artifact, {"artifactId": "a"}, Artifact(artifact_id="a", parts=())),
    (
        "no parts of a message",
        Message,
        {"messageId": "m", "role": 1},
        Message(message_id="m", role=Role.USER, parts=()),
    ),
    ("unknown members", Message, MESSAGE | {"kind": "message", "x": {"y": [1]}}, READ_MESSAGE),
    ("no member at all", ListTasksRequest, {}, ListTasksRequest()),
    (
        "empty list",
        SendMessageConfiguration,
        {"acceptedOutputModes": []},
        SendMessageConfiguration(accepted_output_modes=()),
    ),
    ("null data", Part, {"data": None}, Part(data=None)),
    ("data false", Part, {"data": False}, Part(data=False)),
    (
        "null data beside a text",
        Part,
        {"text": "hi", "data": None, "raw": None, "url": None},
        Part(text="hi"),
    ),
    ("empty text", Part, {"text": ""}, Part(text="")),
    ("NUL in a text", Part, {"text": "a\x00b"}, Part(text="a\x00b")),
    ("base64", Part, {"raw": "aGk/Pg=="}, Part(raw="aGk/Pg==")),
    ("URL-safe base64", Part, {"raw": "-_-_"}, Part(raw="+/+/")),
    ("base64 without padding", Part, {"raw": "aGk_Pg"}, Part(raw="aGk/Pg==")),
    ("no bytes", Part, {"raw": ""}, Part(raw="")),
    (
        "time with an offset",
        TaskStatus,
        {"state": 1, "timestamp": "2026-01-31T18:30:00.1239+09:00"},
        TaskStatus(state=TaskState.SUBMITTED, timestamp="2026-01-31T09:30:00.123Z"),
    ),
    (
        "time without a fraction",
        TaskStatus,
        {"state": 1, "timestamp": "2026-01-31t09:30:00z"},
        TaskStatus(state=TaskState.SUBMITTED, timestamp="2026-01-31T09:30:00.000Z"),
    ),
    (
        "time without a zone",
        TaskStatus,
        {"state": 1, "timestamp": "2026-01-31T09:30:00.123456"},
        TaskStatus(state=TaskState.SUBMITTED, timestamp="2026-01-31T09:30:00.123Z"),
    ),
    (
        "an earliest time that is finer than milliseconds",
        ListTasksRequest,
        {"statusTimestampAfter": "2026-01-31T09:30:00.123000001Z"},
        ListTasksRequest(status_timestamp_after="2026-01-31T09:30:00.124Z"),
    ),
    (
        "an earliest time to the millisecond",
        ListTasksRequest,
        {"statusTimestampAfter": "2026-01-31T18:30:00.123000+09:00"},
        ListTasksRequest(status_timestamp_after="2026-01-31T09:30:00.123Z"),
    ),
    (
        "an earliest time after all time",
        ListTasksRequest,
        {"statusTimestampAfter": "9999-12-31T23:59:59.999Z"},
        ListTasksRequest(status_timestamp_after="9999-12-31T23:59:59.999Z"),
    ),
    ("empty map left out", SecurityRequirement, {}, SecurityRequirement(schemes={})),
]

# (what, type, JSON, the field that is named)
REFUSED: list[tuple[str, type[msgspec.Struct], Any, str]] = [
    ("no object", Message, [], "params"),
    ("null", Message, None, "params"),
    ("missing required string", Message, {"role": 1, "parts": []}, "messageId"),
    ("null required string", Message, MESSAGE | {"messageId": None}, "messageId"),
    ("number for a string", Message, MESSAGE | {"messageId": 5}, "messageId"),
    ("boolean for a string", Message, MESSAGE | {"contextId": True}, "contextId"),
    ("object for a string", Message, MESSAGE | {"contextId": {}}, "contextId"),
    ("snake_case of a wrong type", Message, MESSAGE | {"context_id": 5}, "contextId"),
    ("unknown enum name", Message, MESSAGE | {"role": "user"}, "role"),
    ("enum name of another case", Message, MESSAGE | {"role": "role_user"}, "role"),
    ("enum number out of range", Message, MESSAGE | {"role": 3}, "role"),
    ("negative enum number", Message, MESSAGE | {"role": -1}, "role"),
    ("boolean for an enum", Message, MESSAGE | {"role": True}, "role"),
    ("float for an enum", Message, MESSAGE | {"role": 1.5}, "role"),
    ("list for an enum", Message, MESSAGE | {"role": ["ROLE_USER"]}, "role"),
    ("object for a list", Message, MESSAGE | {"parts": {}}, "parts"),
    ("string for a list", Message, MESSAGE | {"extensions": "a"}, "extensions"),
    ("null in a list", Message, MESSAGE | {"extensions": ["a", None]}, "extensions[1]"),
    ("null part", Message, MESSAGE | {"parts": [{"text": "x"}, None]}, "parts[1]"),
    ("list for a struct", Message, MESSAGE | {"metadata": []}, "metadata"),
    ("no content", Message, MESSAGE | {"parts": [{}]}, "parts[0]"),
    ("only null content", Message, MESSAGE | {"parts": [{"text": None}]}, "parts[0]"),
    ("two contents", Message, MESSAGE | {"parts": [{"text": "x", "url": "y"}]}, "parts[0]"),
    ("three contents", Message, MESSAGE | {"parts": [{"text": "x", "url": "y", "data": None}]}, "parts[0]"),
    ("text and data", Part, {"text": "x", "data": {}}, "params"),
    ("number for a text", Message, MESSAGE | {"parts": [{"text": 5}]}, "parts[0].text"),
    ("no base64", Message, MESSAGE | {"parts": [{"raw": "***"}]}, "parts[0].raw"),
    ("cut base64", Part, {"raw": "aGk_P"}, "raw"),
    ("padding inside base64", Part, {"raw": "aG==kk"}, "raw"),
    ("base64 with a line break", Part, {"raw": "aGk/\nPg=="}, "raw"),
    ("string for a boolean", TaskArtifactUpdateEvent, {"append": "yes"}, "append"),
    ("number for a boolean", TaskArtifactUpdateEvent, {"append": 1}, "append"),
    ("no number", GetTaskRequest, {"id": "t", "historyLength": "five"}, "historyLength"),
    ("empty number", GetTaskRequest, {"id": "t", "historyLength": ""}, "historyLength"),
    ("number with spaces", GetTaskRequest, {"id": "t", "historyLength": " 5"}, "historyLength"),
    ("number with underscores", GetTaskRequest, {"id": "t", "historyLength": "1_0"}, "historyLength"),
    ("number with other digits", GetTaskRequest, {"id": "t", "historyLength": "５"}, "historyLength"),
    ("fraction", GetTaskRequest, {"id": "t", "historyLength": 5.5}, "historyLength"),
    ("boolean for a number", GetTaskRequest, {"id": "t", "historyLength": True}, "historyLength"),
    ("number too large", GetTaskRequest, {"id": "t", "historyLength": 2**31}, "historyLength"),
    (
        "number too large as a string",
        GetTaskRequest,
        {"id": "t", "historyLength": "2147483648"},
        "historyLength",
    ),
    ("number far too large", GetTaskRequest, {"id": "t", "historyLength": 1e300}, "historyLength"),
    ("long digits", GetTaskRequest, {"id": "t", "historyLength": "9" * 5000}, "historyLength"),
    ("no status", Task, {"id": "t"}, "status"),
    ("no state", Task, {"id": "t", "status": {}}, "status.state"),
    ("no time", Task, {"id": "t", "status": {"state": 1, "timestamp": "yesterday"}}, "status.timestamp"),
    ("day without a time", TaskStatus, {"state": 1, "timestamp": "2026-01-31"}, "timestamp"),
    (
        "earliest time without a zone",
        ListTasksRequest,
        {"statusTimestampAfter": "2026-01-31T09:30:00"},
        "statusTimestampAfter",
    ),
    ("no such day", TaskStatus, {"state": 1, "timestamp": "2026-02-31T09:30:00Z"}, "timestamp"),
    ("year zero", TaskStatus, {"state": 1, "timestamp": "0000-01-01T00:00:00Z"}, "timestamp"),
    ("before all time", TaskStatus, {"state": 1, "timestamp": "0001-01-01T00:00:00+09:00"}, "timestamp"),
    ("seconds for a time", TaskStatus, {"state": 1, "timestamp": 1769851800}, "timestamp"),
    ("no event", StreamResponse, {}, "params"),
    (
        "two events",
        StreamResponse,
        {"message": MESSAGE, "task": {"id": "t", "status": {"state": 1}}},
        "params",
    ),
    (
        "deep inside",
        SendMessageRequest,
        {"message": MESSAGE | {"parts": [{"text": 5}]}},
        "message.parts[0].text",
    ),
    (
        "deep inside a task",
        Task,
        {"id": "t", "status": {"state": 1}, "artifacts": [ARTIFACT, ARTIFACT | {"parts": [{"url": 5}]}]},
        "artifacts[1].parts[0].url",
    ),
    ("map of a wrong type", AgentCard, {"securitySchemes": []}, "securitySchemes"),
    (
        "inside a map",
        AgentCard,
        {"securitySchemes": {"a": {"apiKeySecurityScheme": {"location": 5}}}},
        "securitySchemes.a.apiKeySecurityScheme.location",
    ),
]


@pytest.mark.parametrize(
    ("type_", "value", "expected"), [row[1:] for row in TOLERATED], ids=[row[0] for row in TOLERATED]
)
def test_what_protojson_tolerates_is_read(type_: type[msgspec.Struct], value: Any, expected: msgspec.Struct) -> None:
    assert protojson.read(type_, value) == expected


@pytest.mark.parametrize(("type_", "value", "field"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_what_does_not_fit_is_refused_with_its_field(type_: type[msgspec.Struct], value: Any, field: str) -> None:
    with pytest.raises(A2AError) as raised:
        protojson.read(type_, value)
    assert raised.value.kind is INVALID_PARAMS
    assert [path for path, _ in raised.value.fields] == [field]
    assert field in raised.value.message


@pytest.mark.parametrize("piece", [b'"a",', b'{"a":', b'"",'])
def test_of_too_many_values_no_more_are_looked_at(piece: bytes) -> None:
    def cost(values: int) -> float:
        start = time.process_time()
        with pytest.raises(A2AError, match="has more than 100000 values"):
            protojson.decode(b"[" + piece * values)
        return time.process_time() - start

    assert min(cost(1_600_000) for _ in range(3)) < 3 * min(cost(200_000) for _ in range(5))


@pytest.mark.parametrize("piece", [b'"[,{"', b'"a,b"', b'"\\",["'])
def test_what_stands_in_strings_are_no_values(piece: bytes) -> None:
    assert len(protojson.decode(b"[" + b",".join([piece] * 90_000) + b"]")) == 90_000
