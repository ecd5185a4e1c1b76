"""Agents made with software of others are understood; `tests/wire/recorded/` holds what each said (docs/conformance.md)."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.agent_server import AgentServer, ReceivedMessage
from tests.fakes.agent_wire import Json, artifact, card, file, message, status, task, text, update
from tests.fakes.http_server import Exchange, HttpServer
from tests.fakes.hub import Hub, route, streamed_text, text_of
from tests.fakes.task_client import TaskClient

_HEARD = Path(__file__).parents[1] / "wire" / "recorded"
_ITS_ADDRESS = "http://agent.example"


class AgentOfOthers(HttpServer):
    """Says again what the software said: to "ask" its question, to what answers that, and to anything else, its answer."""

    def __init__(self, software: str, *, card_path: str, status: int) -> None:
        super().__init__(self._answer)
        self._said = _HEARD / software
        self._card_path = card_path
        self._status = status

    def _answer(self, exchange: Exchange) -> None:
        received = exchange.received
        if received.method == "GET":
            if received.path != self._card_path:
                exchange.answer(404)
                return
            said = (self._said / "card.json").read_text().replace(_ITS_ADDRESS, self.url)
            exchange.answer(200, said.encode(), content_type="application/json")
            return
        message = received.json.get("params", received.json)["message"]
        name = "answer" if "taskId" in message else "ask" if "ask" in str(message) else "hello"
        streams = received.headers["accept"] == "text/event-stream"
        said = (self._said / f"{name}.{'sse' if streams else 'json'}").read_text()
        media_type = "text/event-stream" if streams else "application/json"
        exchange.answer(200 if streams else self._status, said.encode(), content_type=media_type)


@dataclass(frozen=True, kw_only=True)
class RecordedAgent:
    """What the hub makes of a software's answer; `sent` where it was also heard without a stream."""

    software: str
    answer: str
    sent: bool = True
    card_path: str = "/.well-known/agent-card.json"
    status: int = 200

    def agent(self) -> AgentOfOthers:
        """The agent, not yet entered."""
        return AgentOfOthers(self.software, card_path=self.card_path, status=self.status)


_ANSWERS = [
    RecordedAgent(software="a2a-js-sdk-0.2.5", answer="first, then: こんにちは", card_path="/.well-known/agent.json"),
    RecordedAgent(software="a2a-js-sdk-0.3.14-over-http-json", answer="first, then: こんにちは", status=201),
    RecordedAgent(software="a2a-js-sdk-1.3.0-with-halves", answer="すし \ufffd\ufffd🇯\ufffd\ufffd 𠮷野家: こんにちは"),
    RecordedAgent(software="a2a-sdk-1.3.0-for-python", answer="you said: こんにちは"),
    RecordedAgent(software="ag2-1.2.1", answer="you said: こんにちは"),
    RecordedAgent(software="agent-framework-a2a-1.0.0b261022", answer="[text/csv]\n表です。"),
    RecordedAgent(software="agno-3.1.10", answer="first, then: こんにちは", sent=False),
    RecordedAgent(software="fasta2a-2.1.1", answer="turn 1: こんにちは ", sent=False),
    RecordedAgent(software="langgraph-api-0.16.7", answer="turn 1: こんにちは"),
    RecordedAgent(software="voltagent-a2a-server-2.0.3", answer="you said: こんにちは"),
]
_QUESTIONS_IN_DATA = [
    RecordedAgent(software="google-adk-2.13.0", answer="Which city? どこ"),
    RecordedAgent(software="langgraph-api-0.16.7", answer="Which city? どこ"),
]


@pytest.mark.parametrize("heard", _ANSWERS, ids=lambda heard: heard.software)
def test_its_answer_is_read(heard: RecordedAgent) -> None:
    with heard.agent() as agent:
        hub = Hub(route("alpha", agent.url))
        assert streamed_text(hub.stream("こんにちは")) == heard.answer
        if heard.sent:
            assert text_of(hub.send("こんにちは")) == heard.answer


def test_a_file_among_chunks_of_text_is_a_line_of_its_own() -> None:
    chunks = [
        text("See:"),
        file("a.pdf", "https://a.example"),
        text("Or"),
        text(" this:\n"),
        file("b.pdf", "https://b.example"),
    ]
    updates = [update(artifact("a", chunk), append=number > 0) for number, chunk in enumerate(chunks)]
    with AgentServer(lambda _: [task("working"), *updates, status("completed")]) as agent:
        answer = streamed_text(Hub(route("alpha", agent.url)).stream("Hi"))
    assert answer == "See:\na.pdf: https://a.example\nOr this:\nb.pdf: https://b.example"


@pytest.mark.parametrize("heard", _QUESTIONS_IN_DATA, ids=lambda heard: heard.software)
def test_its_question_is_shown_although_it_is_data(heard: RecordedAgent) -> None:
    with heard.agent() as agent:
        hub = Hub(route("alpha", agent.url))
        asked = hub.stream("ask")
        assert asked[-1]["status"]["state"] == "input-required"
        assert heard.answer in streamed_text(asked)
        assert heard.answer in text_of(hub.send("ask"))


def test_what_it_appends_to_nothing_begins_an_artifact() -> None:
    with RecordedAgent(software="fasta2a-2.1.1", answer="").agent() as agent:
        hub = Hub(route("alpha", agent.url, passes_tasks=True))
        events = hub.stream("こんにちは", version="1.0", modes=["application/json"])
    chunks = [event["artifactUpdate"] for event in events if "artifactUpdate" in event]
    *appended, whole = [chunk["artifact"]["parts"][0]["text"] for chunk in chunks]
    assert "".join(appended) == whole == "turn 1: こんにちは "
    assert [chunk.get("append", False) for chunk in chunks] == [False, *[True] * (len(appended) - 1), False]


@pytest.mark.parametrize("streaming", [True, False])
def test_what_has_no_part_is_passed_on_with_an_empty_one_since_clients_refuse_none(streaming: bool) -> None:
    last = update(artifact("a"), append=True)
    last["artifactUpdate"]["lastChunk"] = True
    without_parts = status("completed", "")
    without_parts["statusUpdate"]["status"]["message"]["parts"] = []
    events = [task("working"), update(artifact("a", text("Hello"))), last, without_parts]
    with AgentServer(lambda _: events) as agent:
        hub = Hub(route("alpha", agent.url, passes_tasks=True))
        options: dict[str, Any] = {"version": "1.0", "modes": ["application/json"]}
        if streaming:
            *_, chunk, end = hub.stream("Hi", **options)
            assert chunk["artifactUpdate"]["artifact"]["parts"] == [{"text": ""}]
            assert chunk["artifactUpdate"]["lastChunk"]
            assert end["statusUpdate"]["status"]["message"]["parts"] == [{"text": ""}]
        else:
            answer = hub.send("Hi", **options)["task"]
            assert answer["status"]["message"]["parts"] == [{"text": ""}]


def test_a_message_without_parts_is_passed_on_with_an_empty_one() -> None:
    with AgentServer(lambda _: [message()]) as agent:
        hub = Hub(route("alpha", agent.url, passes_tasks=True))
        assert hub.send("Hi", version="1.0", modes=["application/json"])["parts"] == [{"text": ""}]


def test_the_answer_to_its_question_ends_the_task_although_the_stream_begins_with_the_question() -> None:
    with RecordedAgent(software="a2a-js-sdk-1.3.0", answer="").agent() as agent:
        hub = Hub(route("alpha", agent.url))
        asked = hub.stream("ask")[-1]
        assert text_of(asked["status"]["message"]) == "Which city? どの都市ですか"
        answer = hub.stream("大阪", context_id=asked["contextId"])
    assert [event["status"]["state"] for event in answer if "status" in event][-1] == "completed"
    assert streamed_text(answer) == "answered: 大阪"


def test_an_answer_that_stands_only_in_the_tasks_history_is_read() -> None:
    """As Agno's does where it is not streamed."""
    said = (_HEARD / "agno-3.1.10" / "hello.json").read_bytes()
    with AgentServer(
        version="0.3",
        streaming=False,
        serve_message=lambda exchange: exchange.answer(200, said, content_type="application/json"),
    ) as agent:
        assert text_of(Hub(route("alpha", agent.url)).send("こんにちは")) == "agno: こんにちは"


def test_the_thoughts_of_a_model_behind_adk_are_no_part_of_the_answer() -> None:
    thought = text("I ponder.") | {"metadata": {"adk_thought": True}}
    said = artifact("a", thought, text("Thirty days."))
    with AgentServer(lambda _: [task("completed", said)]) as agent:
        assert text_of(Hub(route("alpha", agent.url)).send("How long?")) == "Thirty days."
    with AgentServer(lambda _: [task("submitted"), update(said), status("completed")]) as agent:
        hub = Hub(route("alpha", agent.url), route("beta", agent.url, keywords=("beta",), passes_tasks=True))
        assert streamed_text(hub.stream("How long?")) == "Thirty days."
        passed = hub.stream("beta", version="1.0", modes=["text/plain"])
    assert "adk_thought" in str(passed)


def _task_with_history(state: str, *says: str) -> Json:
    told = task(state)
    told["task"]["history"] = [
        {"messageId": f"m-{number}", "role": "ROLE_AGENT", "parts": [text(each)]} for number, each in enumerate(says)
    ]
    return told


@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize("passes_tasks", [False, True])
def test_an_answer_that_stands_only_in_history_reaches_a_program(passes_tasks: bool, streaming: bool) -> None:
    """Streams of FastA2A 2.1.1 may tell states alone."""
    whole = _task_with_history("completed", "I looked it up.", "It is 5.")
    script = [task("submitted"), status("completed")] if streaming else [whole]
    with AgentServer(lambda _: script, streaming=streaming, tasks=[whole]) as agent:
        hub = Hub(route("alpha", agent.url, passes_tasks=passes_tasks))
        ask = hub.stream if streaming else hub.send
        said = ask("How many?", version="1.0", modes=["text/plain"])
    assert "I looked it up." in str(said)
    assert "It is 5." in str(said)
    assert "looked it up.It is" not in str(said)


@pytest.mark.parametrize("passes_tasks", [False, True])
def test_a_question_that_stands_only_in_history_is_asked(passes_tasks: bool) -> None:
    whole = _task_with_history("input-required", "Which colour?")
    script = [task("submitted"), status("input-required")]
    with AgentServer(lambda _: script, tasks=[whole]) as agent:
        hub = Hub(route("alpha", agent.url, passes_tasks=passes_tasks))
        last = hub.stream("Paint it", version="1.0", modes=["text/plain"])[-1]
    asked = (last.get("statusUpdate") or last["task"])["status"]
    assert asked["state"] == "TASK_STATE_INPUT_REQUIRED"
    assert text_of(asked["message"]) == "Which colour?"


def test_a_task_that_cannot_be_fetched_leaves_the_stream_as_it_was() -> None:
    with AgentServer(lambda _: [task("submitted"), status("completed")]) as agent:
        events = Hub(route("alpha", agent.url)).stream("Hi")
    assert streamed_text(events) == "The agent “Agent alpha” answered without any text."


def test_an_agent_asks_again_with_nothing_but_its_task() -> None:
    with AgentServer(lambda _: [task("input-required", says="Which city?")]) as agent:
        hub = Hub(route("alpha", agent.url))
        asked = hub.stream("Book a room")[-1]
        agent.script = lambda _: [task("input-required", says="Which Osaka?")]
        again = hub.stream("Osaka", context_id=asked["contextId"])[-1]
    assert [said.task_id for said in agent.said] == [None, "task-1"]
    assert text_of(again["status"]["message"]) == "Which Osaka?"


def test_an_agent_whose_stream_stays_open_behind_its_question_is_answered(tmp_path: Path) -> None:
    never = threading.Event()

    def asks(said: ReceivedMessage) -> Iterator[Json]:
        if said.task_id is not None:
            yield task("completed", artifact("a", text(f"To {said.text}.")))
            return
        yield task("working")
        yield status("input-required", "Which city?")
        never.wait(0.3)

    settings = {"TASK_STORE": f"sqlite:{tmp_path}/tasks.db", "TASK_CANCEL_POLL_SECONDS": "0.05"}
    with AgentServer(asks) as agent:
        hub = Hub(route("alpha", agent.url, passes_tasks=True), settings=settings)
        client = TaskClient(hub, "1.0 JSONRPC")
        asked = client.stream("Book a train")
        assert asked[-1].state == "input-required"
        told = client.stream("Osaka", task_id=asked[0].task_id)
    assert (told[-1].state, agent.said[1].task_id) == ("completed", "task-1")


def test_that_a_task_is_gone_is_also_read_without_an_envelope() -> None:
    with AgentServer(
        lambda _: [task("input-required", says="Which city?")], version="0.3", binding="HTTP+JSON"
    ) as agent:
        hub = Hub(route("alpha", agent.url))
        asked = hub.send("Book a room")

        def forgot(exchange: Exchange) -> None:
            if "taskId" in exchange.received.json["message"]:
                exchange.json({"code": -32001, "message": "Task not found: task-1"}, status=404)
            else:
                agent.reply(exchange, [message(text("Which room?"))])

        agent.serve_message = forgot
        assert text_of(hub.send("Osaka", context_id=asked["contextId"])) == "Which room?"


@pytest.mark.parametrize("host", ["localhost:4000", "127.0.0.1:4000", "0.0.0.0:4000", "[::1]:4000"])
def test_a_card_that_names_its_own_machine_tells_the_path(host: str) -> None:
    assert _path_called(f"http://{host}/a2a/jsonrpc", "") == "/a2a/jsonrpc"


def test_a_card_that_names_its_own_machine_changes_no_path_that_the_route_has() -> None:
    assert _path_called("http://localhost:4000/a2a/jsonrpc", "/agents/one") == "/agents/one"


def test_a_card_that_names_another_host_changes_no_path() -> None:
    assert _path_called("https://elsewhere.example/a2a/jsonrpc", "") == "/"


@pytest.mark.parametrize(
    ("path", "path_called", "version"),
    [
        ("/a2a/jsonrpc", "/a2a/jsonrpc", "1.0"),
        ("/a2a/jsonrpc/", "/a2a/jsonrpc", "1.0"),
        ("/another", "/another", None),
    ],
)
def test_what_the_card_of_the_host_says_of_a_routes_path_counts(
    path: str, path_called: str, version: str | None
) -> None:
    def answer(exchange: Exchange) -> None:
        if exchange.received.method == "POST":
            exchange.json({"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "no"}})
        elif exchange.received.path == "/.well-known/agent-card.json":
            url = "http://localhost:4000/a2a/jsonrpc"
            exchange.json(card(url, version="1.0", binding="JSONRPC", streaming=False))
        else:
            exchange.answer(404)

    with HttpServer(answer) as agent:
        Hub(route("alpha", agent.url + path)).send("hello")
        (called,) = [received for received in agent.received if received.method == "POST"]
    assert (called.path, called.headers.get("a2a-version")) == (path_called, version)


def _path_called(on_the_card: str, of_the_route: str) -> str:
    def answer(exchange: Exchange) -> None:
        if exchange.received.method == "GET":
            exchange.json(card(on_the_card, version="1.0", binding="JSONRPC", streaming=False))
        else:
            exchange.json({"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "no"}})

    with HttpServer(answer) as agent:
        Hub(route("alpha", agent.url + of_the_route)).send("hello")
        (called,) = [received.path for received in agent.received if received.method == "POST"]
    return called
