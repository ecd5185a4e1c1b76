"""What Gemini Enterprise sends, word for word, and what it accepts back."""

from typing import Any

import pytest

from tests.contract.a2a.schemas import faults_v0_3
from tests.e2e.hubs import Hub
from tests.e2e.questions import QUESTIONS, Question

_FIRST_WORDINGS = [pytest.param(question, id=f"{question.route}-{question.language}") for question in QUESTIONS]


def text_part(text: str) -> dict[str, Any]:
    """A text part as the UI sends it."""
    return {"kind": "text", "text": text, "metadata": {"is_user_input": True}}


def request(method: str, *parts: dict[str, Any], context_id: str | None = None, id_: object = 1) -> dict[str, Any]:
    """A request as the UI sends it: the newest message alone, no output modes, and never a task."""
    message: dict[str, Any] = {
        "kind": "message",
        "messageId": "1f0c7c5e-8a4a-4bb2-9a0e-0b6f0b1f2d3c",
        "role": "user",
        "parts": list(parts),
    }
    if context_id is not None:
        message["contextId"] = context_id
    configuration = {"acceptedOutputModes": [], "blocking": True}
    params = {"message": message, "configuration": configuration, "metadata": {}}
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


_HEADERS = {"X-A2A-Extensions": "https://example.com/extensions/of-the-registered-card"}


@pytest.mark.parametrize("question", _FIRST_WORDINGS)
def test_a_send_is_answered_by_a_message_with_one_text_part(hub: Hub, question: Question) -> None:
    answer = hub.caller().post("/", request("message/send", text_part(question.wordings[0])), _HEADERS)
    assert (answer.status, answer.media_type) == (200, "application/json")
    assert faults_v0_3("SendMessageSuccessResponse", answer.json) == []
    (part,) = answer.json["result"]["parts"]
    assert part["kind"] == "text"
    question.is_answered_by(part["text"])


@pytest.mark.parametrize("question", _FIRST_WORDINGS)
def test_a_stream_is_a_tasks_life_with_the_answer_before_its_end(hub: Hub, question: Question) -> None:
    answer = hub.caller().post("/", request("message/stream", text_part(question.wordings[0])), _HEADERS)
    assert (answer.status, answer.media_type) == (200, "text/event-stream")
    results = []
    for event in answer.events():
        assert faults_v0_3("SendStreamingMessageSuccessResponse", event) == []
        results.append(event["result"])
    kinds = [result["kind"] for result in results]
    assert kinds[:2] == ["task", "status-update"]
    assert set(kinds[2:-1]) == {"artifact-update"}
    assert kinds[-1] == "status-update"
    assert [result.get("final") for result in results if "final" in result] == [False, True]
    assert results[-1]["status"]["state"] == "completed"
    parts = [part for result in results[2:-1] for part in result["artifact"]["parts"]]
    assert {part["kind"] for part in parts} == {"text"}
    assert all(part["text"] for part in parts)
    question.is_answered_by("".join(part["text"] for part in parts))


def test_a_document_answer_ends_with_its_sources_in_the_language_of_the_question(hub: Hub) -> None:
    for wording, heading, title in (
        ("P-1 incident: deadline to notify infrastructure team?", "Sources:", "Incident Response Policy"),
        ("P-1インシデントの際、インフラチームへの連絡期限は", "出典：", "インシデント対応規程"),
    ):
        answer = hub.caller().post("/", request("message/send", text_part(wording)), _HEADERS)
        lines = answer.json["result"]["parts"][0]["text"].splitlines()
        assert lines[-2] == heading
        assert lines[-1].startswith(f"[1] {title}")
        assert "corpus:" not in lines[-1]


def test_a_text_part_sent_twice_is_one_question(hub: Hub) -> None:
    part = text_part("List three tasks for creating a project WBS.")
    once = hub.caller().post("/", request("message/send", part))
    twice = hub.caller().post("/", request("message/send", part, part))
    assert once.json["result"]["parts"] == twice.json["result"]["parts"]


def test_an_uploaded_file_between_its_markers_does_not_disturb_the_question(hub: Hub) -> None:
    file = {
        "kind": "file",
        "file": {"bytes": "UEsDBAoAAAAAAA==", "mimeType": "application/pdf", "name": "領収書.pdf"},
    }
    parts = (
        text_part("<start_of_user_uploaded_file: 領収書.pdf>"),
        file,
        text_part("<end_of_user_uploaded_file: 領収書.pdf>"),
        text_part("経費精算の申請期限は"),
    )
    answer = hub.caller().post("/", request("message/send", *parts))
    assert "翌月第5営業日" in answer.json["result"]["parts"][0]["text"]


def test_the_next_turn_comes_with_the_context_id_alone_and_keeps_it(hub: Hub) -> None:
    first = hub.caller().post("/", request("message/stream", text_part("富士山の高さは"))).events()
    context_id = first[0]["result"]["contextId"]
    body = request("message/stream", text_part("経費精算の申請期限は"), context_id=context_id)
    second = hub.caller().post("/", body).events()
    assert {event["result"]["contextId"] for event in second} == {context_id}
    assert second[0]["result"]["id"] != first[0]["result"]["id"]


def test_a_message_without_text_is_answered_by_a_text_that_helps(hub: Hub) -> None:
    for parts in ((), (text_part("  "),), ({"kind": "data", "data": {"a": 1}},)):
        answer = hub.caller().post("/", request("message/send", *parts))
        (part,) = answer.json["result"]["parts"]
        assert "no text" in part["text"]
        assert "ご質問を入力してください" in part["text"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"message": None}, "message"),
        ({"message": {"kind": "message", "role": "user", "parts": "text"}}, "message.parts"),
        ({"configuration": "all"}, "configuration"),
    ],
    ids=["no message", "parts are no list", "configuration is no object"],
)
def test_a_stream_request_with_a_mistake_is_answered_in_a_stream(hub: Hub, change: dict[str, Any], field: str) -> None:
    body = request("message/stream", text_part("富士山の高さは"), id_="x-7")
    body["params"] |= change
    answer = hub.caller().post("/", body)
    assert (answer.status, answer.media_type) == (200, "text/event-stream")
    (event,) = answer.events()
    assert faults_v0_3("JSONRPCErrorResponse", event) == []
    assert (event["id"], event["error"]["code"]) == ("x-7", -32602)
    assert field in event["error"]["message"]
