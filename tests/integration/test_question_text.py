"""What of a message is the question: the text that the router sees and that decides the answer's language."""

import json
from typing import Any, cast

import pytest

from tests.fakes.agent_server import AgentServer
from tests.fakes.agent_wire import message, text
from tests.fakes.hub import Hub, route, text_of

_FILE = {"kind": "file", "file": {"bytes": "aGk=", "mimeType": "application/pdf", "name": "plan.pdf"}}
_NONE = "Your message contained no text"


def _text(value: str, **metadata: Any) -> dict[str, Any]:
    return {"kind": "text", "text": value} | ({"metadata": metadata} if metadata else {})


@pytest.mark.parametrize(
    ("parts", "question"),
    [
        ([_text("Ask alpha", is_user_input=True)], "Ask alpha"),
        ([_text("Ask alpha", is_user_input=True)] * 2, "Ask alpha"),
        ([_text("Please"), _text("ask alpha")], "Please\nask alpha"),
        ([_FILE, _text("Ask alpha")], "Ask alpha"),
        ([{"kind": "data", "data": {"a": 1}}, _text("Ask alpha")], "Ask alpha"),
        (
            [
                _text("Ask alpha"),
                _text("<start_of_user_uploaded_file: 見積.pdf>"),
                _FILE,
                _text("<end_of_user_uploaded_file: 見積.pdf>"),
            ],
            "Ask alpha",
        ),
        ([_text("A\x00sk al\x07pha\x7f")], "Ask alpha"),
        ([_text("  Ask alpha \n")], "Ask alpha"),
        ([_text("ＡＬＰＨＡに聞いて")], "ＡＬＰＨＡに聞いて"),
        ([_text("al\u200bpha\ufeff")], "al\u200bpha\ufeff"),
        ([_text("alpha 😀 \u202e")], "alpha 😀 \u202e"),
    ],
)
def test_the_question_is_the_text_of_all_parts_once(parts: list[Any], question: str) -> None:
    with AgentServer(lambda _: [message(text("Yes."))]) as agent:
        hub = Hub(route("alpha", agent.url), route("beta", "http://127.0.0.1:9"), log_text=True)
        assert text_of(hub.send("", parts=parts)) == "Yes."
    assert hub.log[-1]["text"] == question
    assert hub.log[-1]["reason"] == 'keyword: "alpha" belongs to "alpha"'


@pytest.mark.parametrize(
    ("version", "binding", "arrives"),
    [
        ("1.0", "JSONRPC", True),
        ("1.0", "HTTP+JSON", True),
        ("0.3", "JSONRPC", True),
        # The proto of 0.3.0 gives parts none.
        ("0.3", "HTTP+JSON", False),
    ],
)
def test_what_gemini_enterprise_notes_with_a_text_goes_to_agents_that_can_read_it(
    version: str, binding: str, arrives: bool
) -> None:
    with AgentServer(lambda _: [message(text("Yes."))], version=version, binding=binding) as agent:
        hub = Hub(route("alpha", agent.url))
        assert text_of(hub.send("", parts=[_text("Ask alpha", is_user_input=True)])) == "Yes."
    sent = agent.asked[0].json
    said = sent.get("params", sent)["message"]
    (part,) = said["content" if "content" in said else "parts"]
    assert part["text"] == "Ask alpha"
    assert part.get("metadata") == ({"is_user_input": True} if arrives else None)


@pytest.mark.parametrize(
    "parts",
    [
        [_text("")],
        [_text(" \n\t")],
        [_text("\x00\x01")],
        [{"kind": "data", "data": {"text": "Ask alpha"}}],
    ],
)
@pytest.mark.parametrize("way", ["send", "stream"])
def test_a_message_without_text_gets_a_friendly_text_in_both_languages(parts: list[Any], way: str) -> None:
    with AgentServer(lambda _: []) as agent:
        hub = Hub(route("alpha", agent.url))
        if way == "send":
            answer = text_of(hub.send("", parts=parts))
        else:
            events = hub.stream("", parts=parts)
            assert [event["kind"] for event in events] == [
                "task",
                "status-update",
                "artifact-update",
                "status-update",
            ]
            answer = text_of(events[2]["artifact"])
    assert _NONE in answer
    assert "ご質問を入力してください" in answer
    assert agent.received == []
    assert hub.log[-1]["fault"] == "no_text"


_FILE_ALONE = [_text("<start_of_user_uploaded_file: a.pdf>"), _FILE, _text("<end_of_user_uploaded_file: a.pdf>")]


@pytest.mark.parametrize("parts", [[_FILE], _FILE_ALONE])
def test_a_file_without_text_is_named_in_the_answer_if_no_agent_accepts_its_type(parts: list[Any]) -> None:
    with AgentServer(lambda _: []) as agent:
        answer = text_of(Hub(route("alpha", agent.url)).send("", parts=parts))
    assert "I see [plan.pdf], but no question." in answer
    assert "ご質問がありません" in answer
    assert agent.received == []


@pytest.mark.parametrize("chosen", [False, True], ids=["by its type", "by the caller"])
def test_a_file_without_text_is_passed_on_to_an_agent_that_takes_it(chosen: bool) -> None:
    modes = ("text/plain",) if chosen else ("text/plain", "application/pdf")
    with AgentServer(lambda _: [message(text("It has two pages."))]) as agent:
        hub = Hub(route("alpha", agent.url, input_modes=modes))
        answer = hub.send("", parts=_FILE_ALONE, metadata={"skill": "alpha"} if chosen else None)
    assert text_of(answer) == "It has two pages."
    assert agent.asked[0].json["params"]["message"]["parts"][1]["filename"] == "plan.pdf"


@pytest.mark.parametrize("missing", ["messageId", "role"])
def test_a_user_interface_need_not_send_an_id_nor_a_role(missing: str) -> None:
    question = {"kind": "message", "role": "user", "messageId": "m", "parts": [_text("Ask alpha")]}
    del question[missing]
    with AgentServer(lambda _: [message(text("Yes."))]) as agent:
        hub = Hub(route("alpha", agent.url))
        _, told = hub.post("/", {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": question}})
    assert text_of(told["result"]) == "Yes."
    sent = agent.asked[0].json["params"]["message"]
    assert (bool(sent["messageId"]), sent["role"]) == (True, "ROLE_USER")


def test_a_client_of_no_version_reads_the_versions() -> None:
    """The request of python-a2a 0.5.10 after its `tasks/send` of 0.1 was refused; it shows the answer to this one."""
    body = {"content": {"type": "text", "text": "Hello"}, "role": "user", "message_id": "1"}
    _, answer = Hub(route("alpha", "http://127.0.0.1:9")).post("/", body)
    assert "as A2A 0.3 and 1.0 have: jsonrpc must be" in answer["error"]["message"]


@pytest.mark.parametrize("method", ["tasks/send", "tasks/sendSubscribe"])
def test_a_client_of_0_1_is_told_which_versions_are_spoken(method: str) -> None:
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"id": "t", "message": {}}}
    _, told = Hub(route("alpha", "http://127.0.0.1:9")).post("/", request)
    assert told["error"]["code"] == -32009
    assert told["error"]["message"] == f"{method} belongs to A2A 0.1: send message/send of 0.3, or SendMessage of 1.0"
    assert told["error"]["data"][0]["metadata"] == {"supportedVersions": "0.3, 1.0"}


@pytest.mark.parametrize(
    "params", [{"text": "Ask alpha"}, {"text": "Ask alpha", "configuration": {"acceptedOutputModes": []}}]
)
def test_params_text_stands_in_for_a_message(params: dict[str, Any]) -> None:
    with AgentServer(lambda _: [message(text("Yes."))]) as agent:
        hub = Hub(route("alpha", agent.url))
        _, told = hub.post("/", {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": params})
    assert text_of(told["result"]) == "Yes."
    assert agent.said[0].text == "Ask alpha"


@pytest.mark.parametrize(
    ("method", "role", "parts"),
    [
        ("message/send", "user", []),
        ("message/send", "user", [_text(" ")]),
        ("message/send", "user", [_FILE]),
        ("SendMessage", "ROLE_USER", []),
        ("SendMessage", "ROLE_USER", [{"raw": "aGk=", "mediaType": "application/pdf"}]),
    ],
)
def test_params_text_stands_in_beside_a_message_without_text(
    method: str, role: str, parts: list[dict[str, Any]]
) -> None:
    params = {"text": "Ask alpha", "message": {"role": role, "messageId": "m", "parts": parts}}
    with AgentServer(lambda _: [message(text("Yes."))]) as agent:
        hub = Hub(route("alpha", agent.url))
        hub.post("/", {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    sent = agent.asked[0].json["params"]["message"]
    assert sent["messageId"] == "m"
    assert len(sent["parts"]) == len(parts) + 1
    assert sent["parts"][-1] == {"text": "Ask alpha"}


def test_a_message_with_text_wins_over_params_text() -> None:
    with AgentServer(lambda _: [message(text("Yes."))]) as agent:
        hub = Hub(route("alpha", agent.url))
        question = {"kind": "message", "role": "user", "messageId": "m", "parts": [_text("the message")]}
        params = {"text": "params.text", "message": question}
        hub.post("/", {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": params})
    assert agent.said[0].text == "the message"


def test_the_agent_gets_the_parts_as_they_came_but_none_twice_in_a_row_from_a_user_interface() -> None:
    said, file = {"text": "Ask alpha"}, {"raw": "aGk=", "mediaType": "application/pdf", "filename": "plan.pdf"}
    with AgentServer(lambda _: [message(text("Yes."))]) as agent:
        hub = Hub(route("alpha", agent.url))
        hub.send("", parts=[_text("Ask alpha"), _text("Ask alpha"), _FILE, _text("Ask alpha")])
        hub.send("", version="1.0", parts=[said, said, file])
    of_ui, of_program = (request.json["params"]["message"]["parts"] for request in agent.asked)
    assert of_ui == [said, file, said]
    assert of_program == [said, said, file]


@pytest.mark.parametrize("lone", [b'"\\ud800"', b'"a\\udfffb"'])
def test_half_a_surrogate_pair_is_an_answer_or_an_error_and_never_a_500(lone: bytes) -> None:
    body = b'{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","role":"user",'
    body += b'"messageId":"m","parts":[{"kind":"text","text":' + lone + b"}]}}}"
    with AgentServer(lambda _: [message(text("Yes."))]) as agent:
        response = Hub(route("alpha", agent.url)).request("POST", "/", body)
    assert response.status == 200
    told = json.loads(cast("bytes", response.body))
    assert told.keys() & {"result", "error"}
    assert told.get("error", {}).get("code") in (None, -32700, -32602)


def test_a_program_that_sends_no_parts_is_told_which_field_is_wrong() -> None:
    hub = Hub(route("alpha", "http://127.0.0.1:9"))
    params = {
        "message": {"messageId": "m", "role": "ROLE_USER", "parts": []},
        "configuration": {"acceptedOutputModes": ["text/plain"]},
    }
    _, value = hub.post("/", {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params})
    assert value["error"]["code"] == -32602
    assert value["error"]["data"][0]["fieldViolations"][0]["field"] == "message.parts"
