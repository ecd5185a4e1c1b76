"""The tile's rule 3 and the UI contract: what a UI gets back, and what a client that asks for more gets."""

import json
from typing import Any

import pytest

from a2a_hub.a2a.model import Version
from tests.contract.a2a.schemas import faults, faults_v0_3
from tests.contract.a2a.served import WAYS, Way, answer_of, served

UI_STREAM = Way(Version.V0_3, rest=False, streaming=True)
UI_SEND = Way(Version.V0_3, rest=False)
SENDS = [way for way in WAYS if not way.streaming]
STREAMS = [way for way in WAYS if way.streaming]
GEMINI_ENTERPRISE = {"acceptedOutputModes": [], "blocking": True}
TEXT_ONLY = [None, [], ["text/plain"], ["text/plain", "image/png"]]
WITH_JSON = [["application/json"], ["text/plain", "application/json"], ["*/*"], ["application/*"]]
EVERY_TEXT = pytest.mark.parametrize("text", ["hello", "経費精算の締め切りは?", "fail", "ask", ""])


def _ask(way: Way, text: str, modes: list[str] | None, **members: Any) -> Any:
    params = way.params(text)
    params["message"] |= members
    if modes is not None:
        params["configuration"] = {"acceptedOutputModes": modes}
    answer = answer_of(served().send("POST", way.path, way.body(params)))
    if way.rest:
        return answer
    return [each["result"] for each in answer] if way.streaming else answer["result"]


def _parts(value: Any) -> list[dict[str, Any]]:
    """All parts anywhere in a value, of either version."""
    if isinstance(value, list):
        return [part for item in value for part in _parts(item)]
    if not isinstance(value, dict):
        return []
    own = [part for name in ("parts", "content") for part in value.get(name, ())]
    return own + [part for name, item in value.items() if name not in ("parts", "content") for part in _parts(item)]


@EVERY_TEXT
@pytest.mark.parametrize("modes", [*TEXT_ONLY, *WITH_JSON])
def test_gemini_enterprises_send_is_answered_by_one_message_with_one_text(text: str, modes: list[str] | None) -> None:
    result = _ask(UI_SEND, text, modes)
    assert result["kind"] == "message"
    assert result["role"] == "agent"
    assert result["contextId"]
    texts = [part for part in result["parts"] if part["kind"] == "text"]
    assert len(texts) == 1
    assert isinstance(texts[0]["text"], str)
    if modes in TEXT_ONLY:
        assert len(result["parts"]) == 1
    assert faults_v0_3("Message", result) == []


@EVERY_TEXT
def test_gemini_enterprises_stream_is_a_tasks_life(text: str) -> None:
    params = UI_STREAM.params(text) | {"configuration": GEMINI_ENTERPRISE, "metadata": {}}
    response = served().send("POST", "/", UI_STREAM.body(params, "ge-1"))
    assert response.status == 200
    assert response.headers["content-type"] == "text/event-stream"
    answers = answer_of(response)
    for answer in answers:
        assert faults_v0_3("SendStreamingMessageSuccessResponse", answer) == []
        assert answer["id"] == "ge-1"
    task, *events = [answer["result"] for answer in answers]
    assert (task["kind"], task["status"]["state"]) == ("task", "submitted")
    assert (events[0]["kind"], events[0]["status"]["state"]) == ("status-update", "working")
    for event in events:
        assert (event["taskId"], event["contextId"]) == (task["id"], task["contextId"])
    *before, last = events
    assert last["kind"] == "status-update"
    assert last["final"] is True
    assert last["status"]["state"] == ("input-required" if text == "ask" else "completed")
    assert not any(event.get("final") for event in before)
    kinds = [event["kind"] for event in events]
    assert "artifact-update" not in kinds[kinds.index("status-update", len(kinds) - 1) :]
    assert all(part["kind"] == "text" for part in _parts(answers))


def test_a_streamed_answer_is_one_artifact_to_which_text_is_appended() -> None:
    events = _ask(UI_STREAM, "hello world", [])
    artifacts = [event for event in events if event["kind"] == "artifact-update"]
    assert [(event["append"], event["lastChunk"]) for event in artifacts] == [(False, False), (True, True)]
    assert len({event["artifact"]["artifactId"] for event in artifacts}) == 1
    assert "".join(event["artifact"]["parts"][0]["text"] for event in artifacts) == "hello world"


def test_progress_is_a_working_status_and_no_part_of_the_answer() -> None:
    events = _ask(UI_STREAM, "hello", [])
    progress = [event for event in events if event["kind"] == "status-update" and "message" in event["status"]]
    assert [event["status"]["state"] for event in progress] == ["working"]
    assert progress[0]["status"]["message"]["parts"] == [{"kind": "text", "text": "listening"}]
    assert "listening" not in json.dumps([event for event in events if event["kind"] == "artifact-update"])


def test_a_failure_is_a_text_that_completes_for_a_ui() -> None:
    *_, artifact, last = _ask(UI_STREAM, "fail", [])
    assert artifact["artifact"]["parts"] == [{"kind": "text", "text": "It did not work."}]
    assert last["status"]["state"] == "completed"
    assert _ask(UI_SEND, "fail", [])["parts"] == [{"kind": "text", "text": "It did not work."}]


def test_a_failure_is_a_failed_task_for_a_client_that_is_no_ui() -> None:
    *_, last = _ask(Way(Version.V1_0, rest=False, streaming=True), "fail", ["text/plain"])
    assert last["statusUpdate"]["status"]["state"] == "TASK_STATE_FAILED"
    assert last["statusUpdate"]["status"]["message"]["parts"] == [{"text": "It did not work."}]


def test_a_question_waits_for_its_answer() -> None:
    *_, last = _ask(UI_STREAM, "ask", [])
    assert last["status"]["state"] == "input-required"
    assert last["status"]["message"]["parts"] == [{"kind": "text", "text": "Which month?"}]


@pytest.mark.parametrize("modes", TEXT_ONLY)
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_without_json_among_the_modes_there_is_no_data(way: Way, modes: list[str] | None) -> None:
    assert all("data" not in part for part in _parts(_ask(way, "hello", modes)))


@pytest.mark.parametrize("modes", WITH_JSON)
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_with_json_among_the_modes_there_is_data_beside_the_text(way: Way, modes: list[str]) -> None:
    parts = _parts(_ask(way, "hello", modes))
    (data,) = (part["data"] for part in parts if "data" in part)
    if way.rest and way.version is Version.V0_3:
        data = data["data"]
    assert data["principal"] is False
    assert "".join(part["text"] for part in parts if "text" in part).endswith("hello")


@EVERY_TEXT
@pytest.mark.parametrize("way", [way for way in WAYS if way.version is Version.V1_0], ids=str)
def test_every_1_0_answer_is_valid_by_the_schema(way: Way, text: str) -> None:
    for modes in (None, ["application/json"]):
        answer = _ask(way, text, modes)
        for event in answer if way.streaming else [answer]:
            assert faults("StreamResponse", event) == []


@pytest.mark.parametrize("way", [way for way in STREAMS if way.version is Version.V1_0], ids=str)
def test_a_1_0_stream_begins_with_the_task_and_ends_with_its_end(way: Way) -> None:
    first, *_, last = _ask(way, "hello", None)
    assert first["task"]["status"]["state"] == "TASK_STATE_SUBMITTED"
    assert last["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"
    assert "final" not in json.dumps(last)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_the_callers_context_is_kept_and_one_is_made_where_there_is_none(way: Way) -> None:
    def contexts(value: Any) -> set[str]:
        if isinstance(value, list):
            return {found for item in value for found in contexts(item)}
        if not isinstance(value, dict):
            return set()
        own = {value["contextId"]} if "contextId" in value else set()
        return own | {found for item in value.values() for found in contexts(item)}

    assert contexts(_ask(way, "hello", None, contextId="ctx-7")) == {"ctx-7"}
    made = [contexts(_ask(way, "hello", None, contextId=given)) for given in (None, "")]
    assert [len(each) for each in made] == [1, 1]
    assert made[0] != made[1]
    assert "" not in made[1]


@pytest.mark.parametrize("way", STREAMS, ids=str)
def test_an_error_inside_a_stream_is_its_last_event(way: Way) -> None:
    params = way.params("crash") | {"configuration": {"acceptedOutputModes": ["text/plain"]}}
    response = served().send("POST", way.path, way.body(params))
    *events, last = answer_of(response)
    assert response.status == 200
    assert events
    assert not any("error" in event for event in events)
    assert last["error"]["code"] == (500 if way.rest else -32603)
    if not way.rest:
        assert last["id"] == "r-1"
