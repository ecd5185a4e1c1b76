"""An agent that declines is followed by the fallbacks of its route; nothing of it reaches the caller unless all decline."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.agent_server import AgentServer, ReceivedMessage
from tests.fakes.agent_wire import Json, artifact, data, message, status, task, text, update
from tests.fakes.hub import Hub, route, streamed_text, text_of

NEAREST, UNKNOWN, ANSWER = "Nearest: 15 minutes.", "I do not know.", "It is 3,776 m high."


def _says(said: str, value: Any = None, *, streams: bool = True) -> list[Json]:
    """Return the events of an agent that streams its data before its text, or answers in one message."""
    parts = [] if value is None else [data(value)]
    if not streams:
        return [message(text(said), *parts)]
    artifacts = [update(artifact("data", part)) for part in parts]
    begin = [task("submitted"), status("working")]
    return [*begin, *artifacts, update(artifact("answer", text(said))), status("completed")]


def _declines(said: str, reason: str, *, streams: bool = True) -> list[Json]:
    return _says(said, {"declines": reason, "grounded": False}, streams=streams)


@contextmanager
def _hub(
    docs: list[Json],
    talk: list[Json] | None,
    *,
    version: str = "1.0",
    settings: dict[str, str] | None = None,
    **changes: Any,
) -> Iterator[Hub]:
    """A hub whose default is `docs`, with the fallback `talk`; None is an agent that is away."""
    with (
        AgentServer(lambda _: docs, version=version) as first,
        AgentServer(lambda _: talk or (), version=version) as second,
    ):
        url = second.url if talk is not None else "http://127.0.0.1:9"
        routes = (route("talk", url, **changes), route("docs", first.url, fallbacks=("talk",)))
        yield Hub(*routes, settings=settings)


@pytest.mark.parametrize("agents_version", ["0.3", "1.0"])
@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("is_stored", [False, True])
def test_a_fallback_answers_for_an_agent_that_declines(
    agents_version: str, streams: bool, is_stored: bool, tmp_path: Path
) -> None:
    docs, talk = _declines(NEAREST, "not_asserted", streams=streams), _says(ANSWER, streams=streams)
    settings = {"TASK_STORE": f"sqlite:{tmp_path}/tasks.db"} if is_stored else None
    with _hub(docs, talk, version=agents_version, settings=settings) as hub:
        assert text_of(hub.send("How high?")) == ANSWER
        assert streamed_text(hub.stream("How high?")) == ANSWER
        program = hub.send("How high?", version="1.0", modes=["text/plain", "application/json"])
        assert (ANSWER in str(program), NEAREST in str(program)) == (True, False)
        record = hub.query("How high?")
    assert (record["route"], record["answer"], record["error"]) == ("talk", ANSWER, None)
    assert record["data"]["declined"] == [{"route": "docs", "agent": "Agent docs", "reason": "not_asserted"}]
    assert record["reason"].endswith('"docs" declined (not_asserted), so "talk" answers')
    assert hub.log[-1]["declined"] == record["data"]["declined"]
    assert (hub.log[-1]["route"], hub.log[-1]["reason"]) == ("talk", record["reason"])


@pytest.mark.parametrize(
    ("talk", "changes", "why"),
    [
        (_declines(UNKNOWN, "nothing_known"), {}, ["not_asserted", "nothing_known"]),
        (None, {}, ["not_asserted", "failed"]),
        (_says(ANSWER), {"allow_clients": ("somebody",)}, []),
    ],
    ids=["declines", "is away", "not permitted"],
)
def test_the_first_agents_own_text_is_shown_where_no_fallback_answers(
    talk: list[Json] | None, changes: dict[str, Any], why: list[str]
) -> None:
    with _hub(_declines(NEAREST, "not_asserted"), talk, **changes) as hub:
        assert streamed_text(hub.stream("How high?")) == NEAREST
        record = hub.query("How high?")
    assert (record["route"], record["answer"], record["error"]) == ("docs", NEAREST, None)
    assert [each["reason"] for each in record["data"].get("declined", ())] == why


def test_what_comes_near_is_shown_before_what_says_nothing() -> None:
    with _hub(_declines(UNKNOWN, "nothing_known"), _declines(NEAREST, "not_asserted")) as hub:
        assert (hub.query("How high?")["route"], hub.query("How high?")["answer"]) == ("talk", NEAREST)


def test_a_repeated_answer_is_shown_before_what_comes_near() -> None:
    with _hub(_declines(NEAREST, "not_asserted"), _declines(ANSWER, "repeated")) as hub:
        assert (hub.query("How high?")["route"], hub.query("How high?")["answer"]) == ("talk", ANSWER)


def test_an_agent_that_the_caller_names_is_asked_alone() -> None:
    with _hub(_declines(NEAREST, "not_asserted"), _says(ANSWER)) as hub:
        assert hub.query("How high?", route="docs")["answer"] == NEAREST


@pytest.mark.parametrize(
    "events",
    [
        [
            task("submitted"),
            status("working"),
            update(artifact("a", text("Mine."))),
            update(artifact("d", data({"declines": "not_asserted"}))),
        ],
        _says("Mine.", {"declines": "an offer"}),
        _says("Mine.", {"declines": {"reason": "not_asserted"}}),
    ],
    ids=["after its text", "another reason", "another form"],
)
def test_any_other_answer_counts(events: list[Json]) -> None:
    with _hub([*events, status("completed")], _says(ANSWER)) as hub:
        assert streamed_text(hub.stream("How high?")) == "Mine."


@pytest.mark.parametrize(
    ("query", "talk", "route_id", "fault"),
    [
        ("How high?", _says(ANSWER), "talk", None),
        ("How high?", _declines(UNKNOWN, "nothing_known"), "docs", "unreachable"),
        ("How high?", None, "docs", "unreachable"),
        ("docs: How high?", _says(ANSWER), "docs", "unreachable"),
    ],
    ids=["a fallback answers", "it declines", "it is away, too", "a rule chose the agent"],
)
def test_a_failure_is_passed_over_only_where_no_rule_chose_the_agent(
    query: str, talk: list[Json] | None, route_id: str, fault: str | None
) -> None:
    with AgentServer(lambda _: talk or ()) as second:
        url = second.url if talk is not None else "http://127.0.0.1:9"
        hub = Hub(route("talk", url), route("docs", "http://127.0.0.1:9", fallbacks=("talk",)))
        record = hub.query(query)
        shown = text_of(hub.send(query))
    assert (record["route"], (record["error"] or {}).get("fault")) == (route_id, fault)
    assert (shown == ANSWER) == (route_id == "talk")


@pytest.mark.parametrize(("query", "answered_by"), [("How high?", "talk"), ("docs: How high?", "docs")])
def test_an_agent_that_could_not_read_is_passed_over_only_where_no_rule_chose_it(query: str, answered_by: str) -> None:
    with _hub(_declines("Not readable now.", "failed"), _says(ANSWER)) as hub:
        assert hub.query(query)["route"] == answered_by


def test_a_default_that_the_caller_may_not_use_gives_way_to_its_fallbacks() -> None:
    with AgentServer(lambda _: _says(ANSWER)) as talk:
        docs = route("docs", "http://127.0.0.1:9", fallbacks=("talk",), allow_clients=("somebody",))
        record = Hub(route("talk", talk.url), docs).query("How high?")
    assert (record["route"], record["answer"], record["error"]) == ("talk", ANSWER, None)


def test_the_answering_agent_streams_at_once() -> None:
    """The first text reaches the caller while the agent still works."""
    with _hub(_says(ANSWER), _says(UNKNOWN)) as hub:
        stream = hub.open("How high?")
        kinds = [stream.next_event()["kind"] for _ in range(3)]
        stream.leave()
    assert kinds == ["task", "status-update", "artifact-update"]


def test_a_follow_up_that_its_agent_declines_is_asked_of_the_one_that_had_the_last_answer() -> None:
    def docs(said: ReceivedMessage) -> list[Json]:
        return _says("By the 5th.") if "deadline" in said.text else _declines(NEAREST, "not_asserted")

    def desk(said: ReceivedMessage) -> list[Json]:
        return _declines(UNKNOWN, "nothing_known") if "party" in said.text else _says(f"Desk: {said.text}")

    with AgentServer(docs) as first, AgentServer(desk) as second:
        expense = route("desk", second.url, keywords=("taxi",), follow_ups=True)
        hub = Hub(expense, route("docs", first.url, default=True, follow_ups=True))
        context = hub.send("May I take a taxi?")["contextId"]
        said = (
            "Is there a ban?",
            "and at night?",
            "Is there a rule?",
            "in Japanese",
            "and for the party?",
            "The deadline?",
        )
        told = [text_of(hub.send(each, context_id=context)) for each in (*said, "and abroad?")]
    assert told == [NEAREST, "Desk: and at night?", NEAREST, NEAREST, NEAREST, "By the 5th.", NEAREST]


def test_a_follow_up_that_its_agent_declines_is_asked_of_the_fallbacks_but_not_of_the_default() -> None:
    def desk(said: ReceivedMessage) -> list[Json]:
        return _says("By taxi.") if "taxi" in said.text else _declines(UNKNOWN, "nothing_known")

    with (
        AgentServer(desk) as first,
        AgentServer(lambda _: _says(ANSWER)) as second,
        AgentServer(lambda _: _says(NEAREST)) as default,
    ):
        expense = route("desk", first.url, keywords=("taxi",), follow_ups=True, fallbacks=("docs", "talk"))
        hub = Hub(expense, route("talk", second.url), route("docs", default.url, default=True))
        context = hub.send("May I take a taxi?")["contextId"]
        assert text_of(hub.send("and Mount Fuji?", context_id=context)) == ANSWER
