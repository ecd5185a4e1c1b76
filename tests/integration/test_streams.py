"""Streams: what the agent says is passed on while it speaks, and it stops when nobody listens any more."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from tests.fakes.agent_server import AgentServer, ReceivedMessage
from tests.fakes.agent_wire import Json, artifact, data, message, status, task, text, update
from tests.fakes.http_server import Exchange
from tests.fakes.hub import OTHER_TOKEN, TOKEN, Hub, Stream, route, settle, streamed_text, text_of

_WAIT_SECONDS = 20


class LeaseOperations:
    """An agent's script that says one word, and another one when it is told to go on. It counts how often it was asked."""

    def __init__(self) -> None:
        self.asked: Queue[ReceivedMessage] = Queue()
        self._go_on = threading.Event()

    def __call__(self, said: ReceivedMessage) -> Iterator[Json]:
        self.asked.put(said)
        yield task("working")
        yield update(artifact("a", text("First, ")))
        self._go_on.wait(_WAIT_SECONDS)
        yield update(artifact("a", text("then.")), append=True)
        yield status("completed")

    def go_on(self) -> None:
        """Lets every answer come to its end."""
        self._go_on.set()


def test_a_chunk_reaches_the_client_before_the_agent_says_the_next_one() -> None:
    script = LeaseOperations()
    with AgentServer(script) as agent:
        stream = Hub(route("alpha", agent.url)).open("Hello")
        assert _next_text(stream) == "First, "
        script.go_on()
        assert _next_text(stream) == "then."
        assert stream.next_event()["lastChunk"] is True
        last = stream.next_event()
        assert (last["status"]["state"], last["final"]) == ("completed", True)


def test_the_client_hears_of_its_task_before_the_agent_says_anything() -> None:
    with AgentServer(serve_message=lambda exchange: exchange.wait_until_left()) as agent:
        stream = Hub(route("alpha", agent.url)).open("Hello")
        first, second = stream.next_event(), stream.next_event()
        assert (first["kind"], first["status"]["state"]) == ("task", "submitted")
        assert (second["kind"], second["status"]["state"], second["final"]) == (
            "status-update",
            "working",
            False,
        )
        assert (first["id"], first["contextId"]) == (second["taskId"], second["contextId"])
        stream.leave()
        settle()


@pytest.mark.parametrize("passes_tasks", [False, True])
def test_a_long_answer_in_small_chunks_is_as_large_as_its_text(passes_tasks: bool) -> None:
    words = [update(artifact("a", text("w ")), append=number > 0) for number in range(2_000)]
    with AgentServer(lambda _: [task("working"), *words, status("completed")]) as agent:
        alpha = route("alpha", agent.url, max_response_bytes=4_000, passes_tasks=passes_tasks)
        events = Hub(alpha).stream("Hello", version="1.0", modes=["text/plain", "application/json"])
    assert _text_of_chunks(events) == "w " * 2_000
    assert events[-1]["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"


@pytest.mark.parametrize("passes_tasks", [False, True])
@pytest.mark.parametrize("version", ["0.3", "1.0"])
def test_chunks_that_arrive_together_are_few_events_with_the_same_text(
    passes_tasks: bool, version: str, tmp_path: Path
) -> None:
    words = [f"word {number} " for number in range(1_000)]
    whole = task("completed", artifact("a", *map(text, words)))
    said = [task("working"), *(update(artifact("a", text(word)), append=word != words[0]) for word in words), whole]

    def at_once(exchange: Exchange) -> None:
        exchange.start_stream()
        exchange.send(b"".join(b"data: %b\n\n" % json.dumps(agent.written(exchange, each)).encode() for each in said))

    with AgentServer(serve_message=at_once, version=version) as agent:
        alpha = route("alpha", agent.url, passes_tasks=passes_tasks)
        hub = Hub(alpha, settings={"TASK_STORE": f"sqlite:{tmp_path}/tasks.db"})
        events = hub.stream("Hello", version="1.0", modes=["text/plain", "application/json"])
        id_ = events[0]["task"]["id"]
        answer = hub.request("GET", f"/tasks/{id_}", headers={"a2a-version": "1.0"}).body
        assert isinstance(answer, bytes)
        (kept,) = json.loads(answer)["artifacts"]
    assert _text_of_chunks(events) == "".join(part["text"] for part in kept["parts"]) == "".join(words)
    first = next(event["artifactUpdate"] for event in events if "artifactUpdate" in event)
    assert first["artifact"]["parts"] == [{"text": words[0]}]
    assert events[-1]["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"
    assert len(events) < 50


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([update(artifact("a", text("語")), append=True)] * 700, id="chunks"),
        pytest.param([update(artifact("a", data({"word": "x" * 500}))), message(text("x" * 1_500))], id="data"),
        pytest.param([status("working", "x" * 400)] * 6, id="progress"),
        pytest.param(
            [task("completed", artifact("a", *[text("x" * 300)] * 3), artifact("b", text("x" * 1_200)))], id="a task"
        ),
    ],
)
def test_a_stream_whose_texts_and_data_are_too_large_together_ends_with_a_text_that_says_so(events: list[Json]) -> None:
    with AgentServer(lambda _: [task("working"), *events, status("completed")]) as agent:
        hub = Hub(route("alpha", agent.url, max_response_bytes=2_000))
        assert "too large" in streamed_text(hub.stream("Hello"))
    assert hub.log[-1]["fault"] == "too_large"


def test_a_whole_task_that_repeats_what_was_streamed_does_not_count_twice() -> None:
    chunks = [update(artifact("a", text("x" * 400)), append=number > 0) for number in range(3)]
    whole = task("completed", artifact("a", text("x" * 1_200)))
    with AgentServer(lambda _: [task("working"), *chunks, whole]) as agent:
        assert streamed_text(Hub(route("alpha", agent.url, max_response_bytes=2_000)).stream("Hello")) == "x" * 1_200


def test_a_life_of_a_task_is_told_in_order_with_both_ids_in_every_event() -> None:
    events = [
        task("working"),
        update(artifact("a", text("One "))),
        update(artifact("a", text("two")), append=True),
        status("completed"),
    ]
    with AgentServer(lambda _: events) as agent:
        heard = Hub(route("alpha", agent.url)).stream("Hello")
    assert [event["kind"] for event in heard] == [
        "task",
        "status-update",
        *["artifact-update"] * 3,
        "status-update",
    ]
    assert {(event.get("taskId") or event["id"], event["contextId"]) for event in heard} == {
        (heard[0]["id"], heard[0]["contextId"])
    }
    assert [event["append"] for event in heard[2:5]] == [False, True, True]
    assert [event["lastChunk"] for event in heard[2:5]] == [False, False, True]
    assert len({event["artifact"]["artifactId"] for event in heard[2:5]}) == 1
    assert [event["final"] for event in heard if event["kind"] == "status-update"] == [False, True]


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("version", ["0.3", "1.0"])
def test_the_last_chunk_of_each_artifact_says_so_and_no_other(version: str, stored: bool, tmp_path: Path) -> None:
    def chunk(id_: str, part: Json, **fields: bool) -> Json:
        return update(artifact(id_, part)) | {"artifactUpdate": update(artifact(id_, part))["artifactUpdate"] | fields}

    chunks = [chunk("a", text("One ")), chunk("a", text("two"), append=True, lastChunk=True), chunk("d", {"data": {}})]
    settings = {"TASK_STORE": f"sqlite:{tmp_path / 'tasks.db'}"} if stored else {}
    how: dict[str, Any] = {"version": version, "modes": ["text/plain", "application/json"]}
    with AgentServer(lambda _: [task("working"), *chunks, status("completed")]) as agent:
        hub = Hub(route("alpha", agent.url, passes_tasks=True), route("beta", agent.url), settings=settings)
        relayed, answered = hub.stream("alpha", **how), hub.stream("beta", **how)
    for events in (relayed, answered):
        updates = [each.get("artifactUpdate", each) for each in events if "artifact" in str(each)]
        last = {each["artifact"]["artifactId"]: each.get("lastChunk", False) for each in updates if "artifact" in each}
        assert sum(each.get("lastChunk", False) for each in updates) == sum(last.values())
        # 0.3 over JSON-RPC is a user interface, for which nothing is relayed as it is.
        assert last["a" if events is relayed and version == "1.0" else "answer-1"]
    assert list(last.values()) == [True, True]


@pytest.mark.parametrize("passes_tasks", [False, True])
@pytest.mark.parametrize(("version", "is_whole"), [("1.0", True), ("0.3", False)])
def test_the_last_chunk_for_adk_which_keeps_no_other_is_the_whole_artifact(
    version: str, is_whole: bool, passes_tasks: bool
) -> None:
    chunks = [update(artifact("a", text("First, "))), update(artifact("a", text("then.")), append=True)]
    said = {"text": "Hello", "metadata": {"is_user_input": True}}
    if version == "0.3":
        said["kind"] = "text"
    with AgentServer(lambda _: [task("working"), *chunks, status("completed")]) as agent:
        hub = Hub(route("alpha", agent.url, passes_tasks=passes_tasks))
        events = hub.stream("", parts=[said], version=version, modes=["text/plain"])
    updates = [each.get("artifactUpdate", each) for each in events if "artifact" in each.get("artifactUpdate", each)]
    *_, last = updates
    assert last["lastChunk"] is True
    assert last.get("append", False) is not is_whole
    assert ("".join(part["text"] for part in last["artifact"]["parts"]) == "First, then.") is is_whole


@pytest.mark.parametrize("streams", [True, False])
def test_the_text_of_a_failed_task_is_the_hubs(streams: bool) -> None:
    ends = status("failed", "KeyError: 'secret' at 10.1.1.1")
    whole = {"task": task("failed")["task"] | {"status": ends["statusUpdate"]["status"]}}
    with AgentServer(
        lambda _: [task("working"), update(artifact("a", text("Half"))), ends] if streams else [whole]
    ) as agent:
        events = Hub(route("alpha", agent.url, passes_tasks=True)).stream("Hello", version="1.0", modes=["text/plain"])
    last = events[-1].get("statusUpdate") or events[-1]["task"]
    assert last["status"]["state"] == "TASK_STATE_FAILED"
    assert last["status"]["message"]["metadata"]["error"]["reason"] == "FAILED"
    assert "secret" not in str(events)
    assert ("Half" in str(events)) is streams


def test_a_stream_is_an_unbuffered_event_stream() -> None:
    with AgentServer(lambda _: [message(text("Hi"))]) as agent:
        headers = Hub(route("alpha", agent.url)).open("Hello").headers
    assert headers["content-type"] == "text/event-stream"
    assert headers["cache-control"] == "no-store, no-transform"
    assert headers["x-accel-buffering"] == "no"


def test_a_silent_agent_is_bridged_by_keep_alives() -> None:
    script = LeaseOperations()
    with AgentServer(script) as agent:
        stream = Hub(route("alpha", agent.url), keep_alive_seconds=0.01).open("Hello")
        assert _next_text(stream) == "First, "
        assert [stream.next_event() for _ in range(3)] == [None] * 3
        script.go_on()
        assert _next_text(stream) == "then."


def test_comments_of_the_agent_are_no_events() -> None:
    def comments(exchange: Exchange) -> None:
        exchange.start_stream()
        exchange.send(b": keep-alive\n\nevent: x\nid: 1\nretry: 5\n\n")
        exchange.event(agent.written(exchange, message(text("Hi"))))

    with AgentServer(serve_message=comments) as agent:
        assert streamed_text(Hub(route("alpha", agent.url)).stream("Hello")) == "Hi"


def _of(task_id: str, event: Json) -> Json:
    ((name, value),) = event.items()
    return {name: value | {"id" if name == "task" else "taskId": task_id}}


@pytest.mark.parametrize("passes_tasks", [False, True])
@pytest.mark.parametrize("version", ["0.3", "1.0"])
def test_what_a_stream_says_of_another_task_reaches_nobody(version: str, passes_tasks: bool) -> None:
    """A2A 1.0.1 §3.1.2: a stream is of one task. An agent that mixes them up may answer somebody else."""
    others = [task("working"), update(artifact("b", text("theirs"))), status("input-required", "Yours?")]
    events = [
        task("working"),
        *(_of("task-2", each) for each in others),
        _of("task-2", task("completed", artifact("c", text("theirs, too")))),
        {"message": {**message(text("also theirs"))["message"], "taskId": "task-2"}},
        update(artifact("a", text("Mine."))),
        status("completed"),
    ]
    with AgentServer(lambda _: events, version=version) as agent:
        hub = Hub(route("alpha", agent.url, passes_tasks=passes_tasks))
        answer = hub.stream("Hello", version="1.0", modes=["text/plain"])
    updates = [each["artifactUpdate"]["artifact"] for each in answer if "artifactUpdate" in each]
    assert [part["text"] for each in updates for part in each["parts"] if part["text"]] == ["Mine."]
    assert "theirs" not in str(answer)
    assert "TASK_STATE_INPUT_REQUIRED" not in str(answer)


def test_a_stream_that_goes_on_with_another_task_is_cut_and_says_why() -> None:
    events = [task("working"), _of("task-2", update(artifact("a", text("theirs")))), _of("task-2", status("completed"))]
    with AgentServer(lambda _: events) as agent:
        hub = Hub(route("alpha", agent.url))
        assert "theirs" not in streamed_text(hub.stream("Hello"))
    assert (hub.log[-1]["fault"], "another task" in hub.log[-1]["cause"]) == ("cut", True)


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_a_stream_cut_anywhere_is_put_together_again(size: int) -> None:
    def in_pieces(exchange: Exchange) -> None:
        written = json.dumps(agent.written(exchange, message(text("経費の申請期限"))), ensure_ascii=False)
        data = b"data: " + written.encode() + b"\r\n\r\n"
        exchange.start_stream()
        for start in range(0, len(data), size):
            exchange.send(data[start : start + size])

    with AgentServer(serve_message=in_pieces) as agent:
        assert streamed_text(Hub(route("alpha", agent.url)).stream("Hello")) == "経費の申請期限"


@pytest.mark.parametrize("when", ["before the headers", "in the middle of the stream"])
def test_a_client_that_leaves_ends_the_call_to_the_agent(when: str) -> None:
    reached: Queue[None] = Queue()
    left: Queue[None] = Queue()

    def held(exchange: Exchange) -> None:
        if when == "in the middle of the stream":
            exchange.start_stream()
            exchange.event(agent.written(exchange, task("working")))
        reached.put(None)
        exchange.wait_until_left()
        left.put(None)

    with AgentServer(serve_message=held) as agent:
        hub = Hub(route("alpha", agent.url))
        stream = hub.open("Hello")
        reached.get(timeout=_WAIT_SECONDS)
        stream.leave()
        left.get(timeout=_WAIT_SECONDS)
        settle()
        assert hub.log[-1]["severity"] == "INFO"


@pytest.mark.parametrize(
    ("last", "state"),
    [
        (status("completed", "Done."), "completed"),
        (task("completed", artifact("a", text("Done."))), "completed"),
        (task("input-required", says="Done."), "input-required"),
    ],
    ids=["a status", "a task that has ended", "a task that asks"],
)
def test_the_end_of_the_stream_does_not_wait_for_an_agent_that_keeps_its_connection_open(
    last: Json, state: str
) -> None:
    def lingers(exchange: Exchange) -> None:
        exchange.start_stream()
        exchange.event(agent.written(exchange, task("working")))
        exchange.event(agent.written(exchange, last))
        exchange.wait_until_left()

    with AgentServer(serve_message=lingers) as agent:
        stream = Hub(route("alpha", agent.url, stream_idle_timeout_seconds=2.0)).stream("Hello")
    ended = stream[-1]["status"]
    assert (ended["state"], streamed_text(stream) or text_of(ended["message"])) == (state, "Done.")


def test_the_same_stream_opened_again_while_it_is_answered_runs_once_and_is_heard_in_full_by_all() -> None:
    script = LeaseOperations()
    with AgentServer(script) as agent:
        hub = Hub(route("alpha", agent.url))
        streams = [hub.open("Hello", message_id="same", context_id="c") for _ in range(3)]
        assert [_next_text(stream) for stream in streams] == ["First, "] * 3
        streams[0].leave()
        script.go_on()
        for stream in streams[1:]:
            assert _next_text(stream) == "then."
            assert stream.next_event()["lastChunk"] is True
            assert stream.next_event()["final"] is True
    assert len(agent.said) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"token": OTHER_TOKEN},
        {"message_id": "other"},
        {"context_id": "other"},
        {"text": "Goodbye"},
        {"version": "1.0"},
    ],
    ids=lambda other: next(iter(other)),
)
def test_what_differs_is_not_joined(other: dict[str, Any]) -> None:
    script = LeaseOperations()
    with AgentServer(script) as agent:
        hub = Hub(route("alpha", agent.url))
        same = {"message_id": "same", "context_id": "c", "token": TOKEN, "text": "Hello", "version": "0.3"}
        with ThreadPoolExecutor(2) as pool:
            for options in (same, same | other):
                pool.submit(hub.send, options.pop("text"), **options)
            for _ in range(2):
                script.asked.get(timeout=_WAIT_SECONDS)
            script.go_on()
    assert len(agent.said) == 2


def test_the_same_message_after_the_answer_is_a_new_turn() -> None:
    with AgentServer(lambda _: [message(text("Hi"))]) as agent:
        hub = Hub(route("alpha", agent.url))
        for _ in range(2):
            hub.send("Hello", message_id="same", context_id="c")
            hub.stream("Hello", message_id="same", context_id="c")
    assert len(agent.said) == 4


def test_anonymous_callers_are_not_one_caller() -> None:
    script = LeaseOperations()
    with AgentServer(script) as agent:
        hub = Hub(route("alpha", agent.url), anonymous=True)
        with ThreadPoolExecutor(2) as pool:
            for _ in range(2):
                pool.submit(hub.send, "Hello", message_id="same", context_id="c", token=None)
            for _ in range(2):
                script.asked.get(timeout=_WAIT_SECONDS)
            script.go_on()
    assert len(agent.said) == 2


def test_a_stream_that_cannot_begin_is_an_event_stream_with_the_error() -> None:
    with AgentServer(lambda _: []) as agent:
        hub = Hub(route("alpha", agent.url))
        body = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "message/stream", "params": {}}).encode()
        response = hub.request("POST", "/", body)
        unknown = hub.request("POST", "/", _with_skill("nobody"))
    assert response.headers["content-type"] == unknown.headers["content-type"] == "text/event-stream"
    for answer in (response, unknown):
        assert isinstance(answer.body, bytes)
        data = answer.body
        assert json.loads(data.removeprefix(b"data: "))["error"]["code"] == -32602


def test_a_hub_can_be_left_before_anything_was_read() -> None:
    with AgentServer(serve_message=lambda exchange: exchange.wait_until_left()) as agent:
        hub = Hub(route("alpha", agent.url))
        for _ in range(5):
            hub.open("Hello").leave()
        settle()
        agent.serve_message = None
        agent.script = lambda _: [message(text("Hi"))]
        assert text_of(hub.send("Hello")) == "Hi"


def _next_text(stream: Stream) -> str:
    while True:
        event = stream.next_event()
        if event is not None and event["kind"] == "artifact-update":
            return text_of(event["artifact"])


def _with_skill(skill: str) -> bytes:
    message = {"kind": "message", "role": "user", "messageId": "m", "parts": [{"kind": "text", "text": "Hi"}]}
    params = {"message": message | {"metadata": {"skill": skill}}}
    return json.dumps({"jsonrpc": "2.0", "id": 7, "method": "message/stream", "params": params}).encode()


def _text_of_chunks(events: list[Json]) -> str:
    artifacts = [event["artifactUpdate"]["artifact"] for event in events if "artifactUpdate" in event]
    return "".join(part["text"] for each in artifacts for part in each["parts"])


_FILE = {"raw": "QUJD" * 2_000, "mediaType": "application/octet-stream", "filename": "a.bin"}


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("passes_tasks", [False, True])
def test_a_file_that_the_agents_task_has_in_its_history_is_no_part_of_a_large_answer(
    tmp_path: Path, passes_tasks: bool, streaming: bool
) -> None:
    """The official SDKs answer with the whole task, whose history begins with the request."""
    answers = iter([task("input-required", says="Which page?"), task("completed", artifact("a", text("Read.")))])
    history: list[Json] = []

    def with_history(_: ReceivedMessage) -> list[Json]:
        history.append(agent.asked[-1].json["params"]["message"])
        whole = next(answers)
        return [{"task": whole["task"] | {"history": list(history)}}]

    with AgentServer(with_history) as agent:
        alpha = route("alpha", agent.url, max_response_bytes=4_000, passes_tasks=passes_tasks)
        hub = Hub(alpha, settings={"TASK_STORE": f"sqlite:{tmp_path}/tasks.db"})

        def answer_to(said: str, **options: Any) -> str:
            ask = hub.stream if streaming else hub.send
            return str(ask(said, version="1.0", modes=["text/plain"], context_id="c", **options))

        assert "Which page?" in answer_to("Read", parts=[{"text": "Read"}, _FILE])
        assert "Read." in answer_to("The first")
