"""Chunks of an agent's text that arrive together are one event, and nothing else is."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from a2a_hub.a2a.bindings import sse
from a2a_hub.a2a.client import Endpoint, known_events
from a2a_hub.a2a.client_errors import ClientError
from a2a_hub.a2a.model import Artifact, Binding, Part, TaskArtifactUpdateEvent, Version
from a2a_hub.a2a.protojson import encode
from a2a_hub.a2a.text_chunks import is_same_content, merged
from tests.fakes.agent_wire import Json, artifact, data, in_v0_3_jsonrpc, in_v0_3_rest, status, task, text, update

_FORMS = pytest.mark.parametrize(
    "form", [lambda event: event, in_v0_3_jsonrpc, in_v0_3_rest], ids=["1.0", "0.3", "0.3 REST"]
)


def _chunk(value: str, *, id_: str = "a", append: bool = True, **changes: Any) -> Json:
    event = update(artifact(id_, text(value)), append=append)
    event["artifactUpdate"] |= changes
    return event


@_FORMS
def test_texts_that_append_to_one_artifact_are_one(form: Any) -> None:
    chunks = [_chunk("one ", append=False), _chunk("two "), _chunk("three "), _chunk("four"), status("completed")]
    expected = [_chunk("one ", append=False), _chunk("two three four"), status("completed")]
    assert list(merged(map(form, chunks))) == list(map(form, expected))


@pytest.mark.parametrize(
    "other",
    [
        _chunk("another", id_="b"),
        _chunk("replaces", append=False),
        _chunk("last", lastChunk=True),
        _chunk("of metadata", metadata={"a": 1}),
        _chunk("of another task", taskId="task-2"),
        update(artifact("a", data({"a": 1})), append=True),
        update(artifact("a", text("x"), text("y")), append=True),
        update(artifact("a", text("x") | {"metadata": {"adk_thought": True}}), append=True),
        update(artifact("a"), append=True),
        update(artifact("a", {"text": 7}), append=True),
        status("working"),
        task("working"),
        {"artifactUpdate": None},
        None,
        [],
    ],
    ids=str,
)
def test_everything_else_stays_as_it_is_and_where_it_is(other: Any) -> None:
    results = [_chunk("one"), other, _chunk("two"), other]
    assert list(merged(copy.deepcopy(results))) == results


def test_what_begins_an_artifact_goes_on_before_the_next_chunk_is_read() -> None:
    def results() -> Iterator[Json]:
        yield _chunk("first", append=False)
        raise AssertionError("nobody has asked for more")

    assert next(merged(results())) == _chunk("first", append=False)


def test_what_came_before_an_error_goes_on_before_it() -> None:
    bodies = [*(encode(_chunk(word)) for word in ("one ", "two")), b"no JSON"]
    endpoint = Endpoint(url="http://agent", version=Version.V1_0, binding=Binding.HTTP_JSON, streaming=True)
    events = known_events(endpoint, sse.read_batches([b"".join(map(sse.write, bodies))], limit_bytes=10_000))
    event = next(events)
    assert isinstance(event, TaskArtifactUpdateEvent)
    assert event.artifact.parts == (Part(text="one two"),)
    with pytest.raises(ClientError):
        next(events)


def test_chunks_that_arrive_one_after_the_other_are_passed_on_one_by_one() -> None:
    chunks = [sse.write(encode(_chunk(word))) for word in ("one ", "two")]
    endpoint = Endpoint(url="http://agent", version=Version.V1_0, binding=Binding.HTTP_JSON, streaming=True)
    assert len(list(known_events(endpoint, sse.read_batches(chunks, limit_bytes=10_000)))) == 2


@pytest.mark.parametrize(
    ("parts", "is_same"),
    [
        ((Part(text="one two"),), True),
        ((Part(text="one"), Part(text=" "), Part(text="two")), True),
        ((Part(text="one "), Part(data=1), Part(text="two")), False),
        ((Part(text="one "), Part(text="two", metadata={"a": 1})), False),
        ((Part(text="one three"),), False),
        ((), False),
    ],
)
def test_an_artifact_is_the_same_however_its_text_is_cut(parts: tuple[Part, ...], is_same: bool) -> None:
    known = Artifact(artifact_id="a", parts=(Part(text="one "), Part(text="two")))
    assert is_same_content(known, Artifact(artifact_id="a", parts=parts)) is is_same
    assert not is_same_content(known, Artifact(artifact_id="a", name="b", parts=parts))
