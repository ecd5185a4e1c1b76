"""Whatever style an agent answers in, version and binding included, users read its words once and in one text."""

import itertools
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.agent_server import AgentServer
from tests.fakes.agent_wire import Json, artifact, data, file, message, of_a_later_version, status, task, text, update
from tests.fakes.http_server import Exchange
from tests.fakes.hub import Hub, route, streamed_text, text_of

_DIALECTS = list(itertools.product(("1.0", "0.3"), ("JSONRPC", "HTTP+JSON")))


@dataclass(frozen=True)
class Style:
    """`sent` is the answer to message/send, where it differs from the stream's."""

    name: str
    events: list[Json]
    answer: str
    data: Any = None
    sent: str | None = None


def _working(message_id: str, says: str) -> Json:
    event = status("working", says)
    event["statusUpdate"]["status"]["message"]["messageId"] = message_id
    return event


_VALUE = {"days": 30, "unit": "日"}
_STYLES = [
    Style(
        "events of a later version beside the known ones",
        [
            of_a_later_version(),
            task("working"),
            of_a_later_version(),
            update(artifact("a", text("Thirty days."))),
            of_a_later_version(),
            status("completed"),
        ],
        "Thirty days.",
    ),
    Style("one message", [message(text("Thirty days."))], "Thirty days."),
    Style("a message of two parts", [message(text("Thirty"), text("days."))], "Thirty\ndays."),
    Style(
        "an artifact",
        [task("working"), update(artifact("a", text("Thirty days."))), status("completed")],
        "Thirty days.",
    ),
    Style("only the last status", [task("working"), status("completed", "Thirty days.")], "Thirty days."),
    Style("a whole task", [task("completed", artifact("a", text("Thirty days.")))], "Thirty days."),
    Style(
        "a whole task that says the same in its status",
        [task("completed", artifact("a", text("Thirty days.")), says="Thirty days.")],
        "Thirty days.",
    ),
    Style(
        "chunks",
        [
            task("submitted"),
            update(artifact("a", text("Thir"))),
            update(artifact("a", text("ty da")), append=True),
            update(artifact("a", text("ys.")), append=True),
            status("completed"),
        ],
        "Thirty days.",
    ),
    Style(
        "chunks, and the whole at the end",
        [
            task("working"),
            update(artifact("a", text("Thirty "))),
            update(artifact("a", text("days.")), append=True),
            task("completed", artifact("a", text("Thirty "), text("days."))),
        ],
        "Thirty days.",
    ),
    Style(
        "snapshots that grow",
        [
            task("working"),
            update(artifact("a", text("Thirty"))),
            update(artifact("a", text("Thirty days"))),
            update(artifact("a", text("Thirty days."))),
            update(artifact("a", text("Thirty days."))),
            status("completed"),
        ],
        "Thirty days.",
    ),
    Style(
        "an artifact that is replaced",
        [
            task("working"),
            update(artifact("a", text("Ten."))),
            update(artifact("a", text("Thirty."))),
            status("completed"),
        ],
        "Ten.\n\nThirty.",
        sent="Thirty.",
    ),
    Style(
        "several artifacts",
        [
            task("working"),
            update(artifact("a", text("Days: 30"))),
            update(artifact("b", text("Limit: 50"))),
            status("completed"),
        ],
        "Days: 30\n\nLimit: 50",
    ),
    Style(
        "an artifact of two paragraphs",
        [task("completed", artifact("a", text("First."), text("Second.")))],
        "First.\nSecond.",
    ),
    Style("text and data", [message(text("Thirty days."), data(_VALUE))], "Thirty days.", data=_VALUE),
    Style("data only", [message(data(_VALUE))], '{\n  "days": 30,\n  "unit": "日"\n}', data=_VALUE),
    Style(
        "data in an artifact, and again at the end",
        [
            task("working"),
            update(artifact("a", data(_VALUE))),
            task("completed", artifact("a", data(_VALUE))),
        ],
        '{\n  "days": 30,\n  "unit": "日"\n}',
        data=_VALUE,
    ),
    Style(
        "a file only",
        [message(file("plan.pdf", "https://files.example/plan.pdf"))],
        "plan.pdf: https://files.example/plan.pdf",
    ),
    Style(
        "a file whose address is a program",
        [message(file("plan.pdf", "JavaScript:alert(1)"))],
        "[plan.pdf]",
    ),
    Style(
        "a file beside texts",
        [task("completed", artifact("a", text("one plan"), file("a.pdf", "https://a.example"), text("more")))],
        "one plan\na.pdf: https://a.example\nmore",
    ),
    Style(
        "working words, then an answer",
        [
            task("working", says="Searching"),
            status("working", "Reading"),
            update(artifact("a", text("Thirty days."))),
            status("completed"),
        ],
        "Thirty days.",
    ),
    Style(
        "working words alone",
        [
            task("submitted"),
            _working("1", "The notice"),
            _working("2", " "),
            _working("2", " "),
            _working("3", "period:"),
            _working("4", "Thirty days."),
            status("completed"),
        ],
        "The notice period:\nThirty days.",
        sent="The agent “Agent alpha” answered without any text.",
    ),
    Style("nothing at all", [task("completed")], "The agent “Agent alpha” answered without any text."),
    Style("empty text", [message(text(""))], "The agent “Agent alpha” answered without any text."),
    Style("blank text", [message(text("\n"))], "\nThe agent “Agent alpha” answered without any text."),
    Style(
        "a task rejected with a reason",
        [task("working"), status("rejected", "Ask HR instead.")],
        "Ask HR instead.",
    ),
]


@pytest.mark.parametrize(("version", "binding"), _DIALECTS)
@pytest.mark.parametrize("style", _STYLES, ids=lambda style: style.name)
def test_an_answer_in_this_style_reads_the_same_on_every_way(style: Style, version: str, binding: str) -> None:
    for way in ("send", "stream", "query"):
        with AgentServer(lambda _: style.events, version=version, binding=binding) as agent:
            hub = Hub(route("alpha", agent.url))
            match way:
                case "send":
                    assert text_of(hub.send("How long?")) == (style.sent or style.answer)
                case "stream":
                    assert streamed_text(hub.stream("How long?")) == style.answer
                case "query":
                    record = hub.query("How long?")
                    assert (record["answer"], record["data"]) == (style.sent or style.answer, style.data)
                    assert record["error"] is None


@pytest.mark.parametrize(("version", "binding"), _DIALECTS)
def test_a_task_that_goes_on_is_asked_for_until_it_ends(version: str, binding: str) -> None:
    states = [
        task("working", artifact("a", text("Thirty"))),
        task("completed", artifact("a", text("Thirty days."))),
    ]
    with AgentServer(
        lambda _: [task("submitted")], version=version, binding=binding, streaming=False, tasks=states
    ) as agent:
        assert streamed_text(Hub(route("alpha", agent.url)).stream("How long?")) == "Thirty days."
        assert len(agent.asked) == 3


def test_a_task_that_does_not_end_is_given_up_at_the_routes_limit() -> None:
    states = iter(lambda: task("working"), None)
    with AgentServer(lambda _: [task("working")], streaming=False, tasks=states) as agent:
        record = Hub(route("alpha", agent.url, timeout_seconds=0.3)).query("How long?")
    assert (record["error"]["kind"], record["error"]["fault"]) == ("slow", "timeout")


def test_working_words_are_progress_and_no_part_of_the_answer() -> None:
    events = [
        task("working", says="Searching"),
        status("working", "Reading"),
        status("completed", "Thirty days."),
    ]
    with AgentServer(lambda _: events) as agent:
        stream = Hub(route("alpha", agent.url)).stream("How long?")
    updates = [event["status"] for event in stream if event["kind"] == "status-update"]
    assert [update["state"] for update in updates] == ["working", "working", "working", "completed"]
    assert [text_of(update["message"]) for update in updates if "message" in update] == [
        "Searching",
        "Reading",
    ]


def test_structured_data_goes_to_clients_that_take_json_and_to_no_others() -> None:
    with AgentServer(lambda _: [message(text("Thirty days."), data(_VALUE))]) as agent:
        hub = Hub(route("alpha", agent.url))
        for modes in ([], ["text/plain"]):
            assert text_of(hub.send("How long?", version="1.0", modes=modes)) == "Thirty days."
        parts = hub.send("How long?", version="1.0", modes=["text/plain", "application/json"])["parts"]
    assert parts == [{"text": "Thirty days."}, {"data": _VALUE, "mediaType": "application/json"}]


@pytest.mark.parametrize("said", [(text("Thirty days."),), ()], ids=["beside a text", "alone"])
def test_what_an_agent_tells_the_operator_is_not_told_to_others(said: tuple[Any, ...]) -> None:
    value = {"days": 30, "hints": [{"command": "gcloud services enable"}]}
    with AgentServer(lambda _: [message(*said, data(value))]) as agent:
        hub = Hub(route("alpha", agent.url))
        assert hub.query("How long?")["data"] == value
        for options in ({}, {"version": "1.0", "modes": ["text/plain", "application/json"]}):
            assert "gcloud" not in json.dumps(hub.send("How long?", **options))


def test_citations_become_numbered_lines_under_the_text() -> None:
    citation = {
        "uri": "gs://docs/policy.md",
        "title": "Policy",
        "quote": "within\n 15   minutes",
        "position": {"line": 3},
    }
    events = [message(text("Within 15 minutes."), data({"citations": [citation]}))]
    with AgentServer(lambda _: events) as agent:
        hub = Hub(route("alpha", agent.url))
        expected = "\n\nSources:\n[1] Policy: “within 15 minutes”"
        assert text_of(hub.send("How long?")) == "Within 15 minutes." + expected
        assert streamed_text(hub.stream("How long?")) == "Within 15 minutes." + expected
        assert "\n\n出典：\n[1] Policy" in text_of(hub.send("期限は"))
        assert hub.query("How long?")["citations"] == [citation]


def test_a_citation_from_a_document_with_pages_names_the_page() -> None:
    citation = {"uri": "rules.pdf", "title": "Rules", "quote": "65", "position": {"line": 127, "page": 3}}
    with AgentServer(lambda _: [message(text("65."), data({"citations": [citation]}))]) as agent:
        hub = Hub(route("alpha", agent.url))
        assert "[1] Rules (page 3)" in text_of(hub.send("What age?"))
        assert "[1] Rules（3ページ）" in text_of(hub.send("定年は"))


@pytest.mark.parametrize("citations", [7, "x", [7], [{}], [{"uri": 7}], [{"title": "no uri"}], None, {"uri": "x"}])
def test_citations_that_are_none_are_left_out(citations: Any) -> None:
    with AgentServer(lambda _: [message(text("Yes."), data({"citations": citations}))]) as agent:
        hub = Hub(route("alpha", agent.url))
        assert text_of(hub.send("Really?")) == "Yes."
        assert hub.query("Really?")["citations"] == []


def test_what_an_agent_said_while_it_worked_is_no_answer_where_data_is() -> None:
    ended = task("completed", artifact("a", data(_VALUE)))
    ended["task"]["history"] = [message(text("Searching"))["message"]]
    with AgentServer(lambda _: [ended]) as agent:
        read = text_of(Hub(route("alpha", agent.url)).send("How long?"))
    assert read == '{\n  "days": 30,\n  "unit": "日"\n}'


@pytest.mark.parametrize("stored", [False, True])
def test_what_an_agent_does_between_two_pieces_of_its_answer_makes_no_tag_of_them(
    tmp_path: Path, *, stored: bool
) -> None:
    events = [
        task("submitted"),
        update(artifact("a", text("See [the guide](https://docs.example"))),
        status("working", "Reading"),
        update(artifact("a", text(".com/a) and <scr")), append=True),
        status("working", "Reading on"),
        update(artifact("a", text("ipt src=x>")), append=True),
        status("completed"),
    ]
    settings = {"UI_LINK_HOSTS": "docs.example.com"} | ({"TASK_STORE": f"sqlite:{tmp_path}/t.db"} if stored else {})
    with AgentServer(lambda _: events) as agent:
        read = streamed_text(Hub(route("alpha", agent.url), settings=settings).stream("alpha"))
    assert read == "See [the guide](https://docs.example.com/a) and &lt;script src=x>"


@pytest.mark.parametrize("length", [7, 1000], ids=["pieces", "whole"])
def test_a_person_gets_no_image_and_no_hidden_text_and_links_to_listed_hosts_alone_and_a_program_all_of_it(
    length: int,
) -> None:
    says = "See ![](https://evil.example/?q=1)[the \u200bguide](https://docs.example.com/a) or [this](https://evil.example)."
    shown = "See [the guide](https://docs.example.com/a) or this (`https://evil.example`)."
    pieces = [says[at : at + length] for at in range(0, len(says), length)]
    events = [update(artifact("a", text(each)), append=number > 0) for number, each in enumerate(pieces)]
    with AgentServer(lambda _: [task("submitted"), *events, status("completed")]) as agent:
        hub = Hub(route("alpha", agent.url), settings={"UI_LINK_HOSTS": "docs.example.com"})
        assert streamed_text(hub.stream("alpha")) == shown
        if len(pieces) == 1:
            assert text_of(hub.send("alpha")) == shown
            assert hub.send("alpha", version="1.0", modes=["text/plain", "application/json"])["parts"] == [
                {"text": says}
            ]


_TIMES = {
    "2026-11-29T07:00:00+0900": "2026-11-28T22:00:00.000Z",
    "2026-11-29 07:00:00Z": "2026-11-29T07:00:00.000Z",
    "2026-11-29T07:00Z": "2026-11-29T07:00:00.000Z",
    "2016-12-31T23:59:60Z": None,
    "0001-01-01T00:00:00+0900": None,
    "yesterday": None,
    "": None,
    7: None,
}


@pytest.mark.parametrize("version", ["1.0", "0.3"])
@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize(("written", "read"), _TIMES.items())
def test_a_time_that_cannot_be_read_counts_as_absent(
    written: Any, read: str | None, streams: bool, version: str
) -> None:
    last = status("completed")
    last["statusUpdate"]["status"]["timestamp"] = written
    events = [task("working"), update(artifact("a", text("Thirty days."))), last]
    with AgentServer(lambda _: events, version=version, streaming=streams) as agent:
        hub = Hub(route("alpha", agent.url, passes_tasks=True))
        answer = hub.stream("How long?", version="1.0", modes=["text/plain"])
    ended = answer[-1].get("statusUpdate") or answer[-1]["task"]
    assert ended["status"]["state"] == "TASK_STATE_COMPLETED"
    assert "Thirty days." in str(answer)
    if read is not None:
        assert ended["status"]["timestamp"] == read


@pytest.mark.parametrize("version", ["1.0", "0.3"])
@pytest.mark.parametrize("streams", [True, False])
def test_what_describes_an_artifact_wrongly_counts_as_absent(streams: bool, version: str) -> None:
    described = artifact("a", text("Thirty days.")) | {"name": 1, "description": 5, "extensions": "x", "metadata": []}
    events = [task("working"), update(described), status("completed")]
    with AgentServer(lambda _: events, version=version, streaming=streams) as agent:
        hub = Hub(route("alpha", agent.url))
        assert streamed_text(hub.stream("How long?")) == "Thirty days."


_UNREADABLE = [{"kind": "video", "video": 1}, None, {"kind": "text", "text": None}, {"raw": "no base64!!"}]


@pytest.mark.parametrize("version", ["1.0", "0.3"])
@pytest.mark.parametrize("of", ["message", "artifact", "status", "another artifact"])
def test_a_part_that_cannot_be_read_is_left_out(of: str, version: str) -> None:
    known = {"text": "Thirty days."} | ({"kind": "text"} if version == "0.3" else {})
    parts = [*_UNREADABLE, known]
    said = {"messageId": "m", "role": "ROLE_AGENT", "parts": parts}
    ended: Json = {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}}
    match of:
        case "message":
            result: Json = {"message": said}
        case "artifact":
            result = {"task": ended | {"artifacts": [{"artifactId": "a", "parts": parts}]}}
        case "status":
            result = {"task": ended | {"status": ended["status"] | {"message": said}}}
        case _:
            artifacts = [{"artifactId": "b", "parts": _UNREADABLE}, {"artifactId": "a", "parts": [known]}]
            result = {"task": ended | {"artifacts": artifacts}}

    def answer(exchange: Exchange) -> None:
        exchange.json({"jsonrpc": "2.0", "id": 1, "result": result})

    with AgentServer(serve_message=answer, version=version) as agent:
        hub = Hub(route("alpha", agent.url))
        assert text_of(hub.send("How long?")) == "Thirty days."


def test_a_message_of_which_nothing_can_be_read_is_no_answer() -> None:
    said = {"messageId": "m", "role": "ROLE_AGENT", "parts": _UNREADABLE}
    with AgentServer(lambda _: [{"message": said}], streaming=False) as agent:
        hub = Hub(route("alpha", agent.url))
        hub.send("How long?")
    assert hub.log[-1]["fault"] == "not_a2a"


_SAID: Json = {"parts": [{"text": "Thirty days."}]}
_ENDED: Json = {"id": "t", "status": {"state": "TASK_STATE_COMPLETED"}}
_WITHOUT_IDS: dict[str, list[Json]] = {
    "message": [{"message": _SAID}],
    "artifact": [{"task": _ENDED | {"artifacts": [_SAID]}}],
    "status": [{"task": _ENDED | {"status": _ENDED["status"] | {"message": _SAID}}}],
    "history": [{"task": _ENDED | {"artifacts": [_SAID], "history": [{"parts": [{"text": "How long?"}]}]}}],
    "updates": [
        {"task": _ENDED | {"status": {"state": "TASK_STATE_WORKING"}}},
        {"artifactUpdate": {"taskId": "t", "artifact": {"parts": [{"text": "Thirty "}]}}},
        {"artifactUpdate": {"taskId": "t", "artifact": {"parts": [{"text": "days."}]}, "append": True}},
        {"statusUpdate": {"taskId": "t", "status": {"state": "TASK_STATE_COMPLETED"}}},
    ],
}


@pytest.mark.parametrize("passes_tasks", [False, True])
@pytest.mark.parametrize("of", _WITHOUT_IDS)
def test_ids_and_roles_that_protojson_omits_because_they_are_empty_are_not_missed(of: str, passes_tasks: bool) -> None:
    """The official SDK for Python (1.3) sends such messages and artifacts, and reads them."""

    def answer(exchange: Exchange) -> None:
        exchange.start_stream()
        for event in _WITHOUT_IDS[of]:
            exchange.event({"jsonrpc": "2.0", "id": 1, "result": event})

    with AgentServer(serve_message=answer) as agent:
        hub = Hub(route("alpha", agent.url, passes_tasks=passes_tasks))
        events = hub.stream("How long?", version="1.0", modes=["text/plain"])
    assert "".join(re.findall(r"'text': '([^']*)'", str(events))) == "Thirty days."
    assert hub.log[-1].get("outcome") == "answered"
