"""What is read in one step is what the general way reads, and the usual requests are read in one step."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2a_hub.a2a import protojson
from a2a_hub.a2a.bindings import jsonrpc, plain_send
from a2a_hub.a2a.bindings.params import read_params
from a2a_hub.a2a.errors import A2AError
from a2a_hub.a2a.model import SendMessageRequest
from bench.question import SEND_0_3, SEND_1_0, STREAM_0_3
from tests.contract.a2a.wire_examples import Example, examples
from tests.unit.a2a.values import JSON_VALUES, OBJECTS

_USUAL = [SEND_0_3, STREAM_0_3, SEND_1_0]
_PATHS = [
    (),
    ("params",),
    ("params", "message"),
    ("params", "message", "parts", 0),
    ("params", "configuration"),
]
_NAMES = [
    *("id", "jsonrpc", "method", "params", "text", "message", "configuration", "metadata", "kind", "role"),
    *(
        "messageId",
        "message_id",
        "contextId",
        "context_id",
        "taskId",
        "parts",
        "content",
        "data",
        "extensions",
    ),
    *("acceptedOutputModes", "blocking", "returnImmediately", "historyLength", "referenceTaskIds", "tenant"),
]
_VALUES = st.one_of(
    st.sampled_from(
        [None, True, False, "", "2.0", "user", "agent", "ROLE_USER", "ROLE_AGENT", "text", "message", [], {}]
    ),
    st.sampled_from([["text/plain"], [{"text": "b"}], [{"kind": "text", "text": "b"}], 0, 1, 1.5, 2**70]),
    OBJECTS,
    JSON_VALUES,
)
_CHANGES = st.lists(st.tuples(st.sampled_from(_PATHS), st.sampled_from(_NAMES), _VALUES), max_size=3)


def _generally(body: bytes) -> tuple[Any, str, SendMessageRequest]:
    envelope = protojson.decode(body)
    operation, version = jsonrpc.resolve(envelope["method"], None)
    request = read_params(operation, version, envelope["params"])
    assert isinstance(request, SendMessageRequest)
    return envelope.get("id"), envelope["method"], request


@pytest.mark.parametrize("question", _USUAL, ids=lambda question: question.head[:60])
def test_a_usual_request_is_read_in_one_step(question: Any) -> None:
    body = question.body(1)
    assert plain_send.read(body) == _generally(body)


@given(question=st.sampled_from(_USUAL), changes=_CHANGES)
def test_what_is_read_in_one_step_is_what_the_general_way_reads(question: Any, changes: Any) -> None:
    value = json.loads(question.body(1))
    for path, name, new in changes:
        place = value
        for step in path:
            try:
                place = place[step]
            except (KeyError, IndexError, TypeError):
                break
        if isinstance(place, dict):
            place[name] = new
    body = json.dumps(value).encode()
    plain = plain_send.read(body)
    if plain is not None:
        assert plain == _generally(body)


@pytest.mark.parametrize("example", examples("request"), ids=str)
def test_the_wire_examples_are_read_as_the_general_way_reads_them(example: Example) -> None:
    plain = plain_send.read(example.raw)
    if plain is not None:
        assert plain == _generally(example.raw)


@pytest.mark.parametrize(
    "changed",
    [
        {"extra": 1},
        {"jsonrpc": "2"},
        {"method": "tasks/get"},
        {"method": "SendMessage"},
        {"id": True},
        {"params": {}},
        {"params": {"text": "What is new?"}},
    ],
    ids=str,
)
def test_what_is_unusual_goes_the_general_way(changed: dict[str, Any]) -> None:
    body = json.dumps(json.loads(SEND_0_3.body(1)) | changed).encode()
    assert plain_send.read(body) is None


def test_what_is_nested_too_deeply_goes_the_general_way_and_is_refused_there() -> None:
    deep: Any = {}
    for _ in range(protojson.MAX_DEPTH):
        deep = {"a": deep}
    value = json.loads(SEND_0_3.body(1))
    value["params"]["metadata"] = deep
    body = json.dumps(value).encode()
    assert plain_send.read(body) is None
    with pytest.raises(A2AError):
        jsonrpc.read_envelope(body)
