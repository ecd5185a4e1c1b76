"""People rate answers by /good and /bad; the ratings become labelled questions."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.task_store.sqlite import SqliteTaskStore
from hubctl.main import main
from tests.fakes.agent_server import AgentServer
from tests.fakes.agent_wire import message, text
from tests.fakes.hub import OTHER_TOKEN, Hub, route, text_of

KEPT, KEPT_JA = "Thank you. Your rating is recorded.", "評価を記録しました。ありがとうございます。"
NOTHING = "There is no answer in this conversation yet that you could rate. Ask something first."


@pytest.fixture
def agent() -> Iterator[AgentServer]:
    with AgentServer(lambda _: [message(text("42"))]) as server:
        yield server


def _hub(agent: AgentServer, folder: Path | None = None, *, log_text: bool = True, **options: Any) -> Hub:
    settings = {"TASK_STORE": f"sqlite:{folder / 'tasks.db'}"} if folder else {}
    return Hub(route("alpha", agent.url), route("docs", agent.url), log_text=log_text, settings=settings, **options)


def _ask(hub: Hub, said: str, context_id: str | None = None, **options: Any) -> tuple[str, str]:
    """The context and the text of the answer."""
    answer = hub.send(said, context_id=context_id, **options)
    return answer["contextId"], text_of(answer)


def _ratings(hub: Hub) -> list[dict[str, Any]]:
    return [line for line in hub.log if "feedback" in line]


def test_a_rating_is_kept_with_the_turn_and_its_route(agent: AgentServer, tmp_path: Path) -> None:
    hub = _hub(agent, tmp_path)
    context_id, _ = _ask(hub, "alpha, how high is it?")
    assert _ask(hub, "/good", context_id) == (context_id, KEPT)
    assert _ask(hub, "／悪い　締切が違う ada@example.com", context_id)[1] == KEPT_JA
    good, bad = _ratings(hub)
    asked = hub.log[0]
    assert (good["feedback"], good["turn"], good["route"]) == ("good", asked["requestId"], "alpha")
    assert (good["conversation"], good["principal"]) == (asked["conversation"], asked["principal"])
    assert (bad["feedback"], bad["comment"], "comment" in good) == ("bad", "締切が違う [mail]", False)
    assert len(agent.said) == 1
    store = SqliteTaskStore(tmp_path / "tasks.db", clock=lambda: 0.0, new_token=str)
    kept = store.conversation(asked["principal"], asked["conversation"])
    assert json.loads(kept or b"{}")["feedback"] == {asked["requestId"]: "bad"}


def test_an_answer_of_another_instance_is_rated_by_its_conversation(agent: AgentServer, tmp_path: Path) -> None:
    here, elsewhere = _hub(agent, tmp_path), _hub(agent, tmp_path)
    context_id, _ = _ask(here, "alpha")
    assert _ask(elsewhere, "/bad", context_id)[1].startswith("Your rating is recorded.")
    (rating,) = _ratings(elsewhere)
    assert (rating["conversation"], rating.get("turn")) == (here.log[0]["conversation"], None)
    # The later turns keep it.
    _ask(here, "alpha again", context_id)
    assert _ask(elsewhere, "/good", context_id)[1] == KEPT


def test_no_comment_is_logged_without_texts_in_the_log(agent: AgentServer) -> None:
    hub = _hub(agent, log_text=False)
    context_id, _ = _ask(hub, "alpha")
    assert "REASON" not in _ask(hub, "/bad it is my secret", context_id)[1]
    assert "secret" not in json.dumps(hub.log)
    assert _ratings(hub)[0]["feedback"] == "bad"


@pytest.mark.parametrize("has_store", [False, True])
def test_where_nothing_was_answered_there_is_nothing_to_rate(
    agent: AgentServer, tmp_path: Path, has_store: bool
) -> None:
    hub = _hub(agent, tmp_path if has_store else None)
    assert _ask(hub, "/good")[1] == NOTHING
    context_id, _ = _ask(hub, "alpha")
    assert _ask(hub, "/good", context_id, token=OTHER_TOKEN)[1] == NOTHING
    assert _ratings(hub) == []


@pytest.mark.parametrize("said", ["good", "/goodness", "Is it /good?", "/badly"])
def test_other_texts_are_no_ratings(agent: AgentServer, said: str) -> None:
    hub = _hub(agent)
    context_id, _ = _ask(hub, "alpha")
    _ask(hub, said, context_id)
    assert _ratings(hub) == []


def test_ratings_become_labelled_questions_for_review(agent: AgentServer, tmp_path: Path) -> None:
    hub = _hub(agent)
    context_id, _ = _ask(hub, "alpha, how\nhigh?")
    _ask(hub, "/good", context_id)
    context_id, _ = _ask(hub, "where is it?", context_id)
    _ask(hub, "/good", context_id)
    _ask(hub, "/bad it was alpha's", context_id)
    _ask(hub, "never rated")
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"".join(hub.log_lines))
    out = io.StringIO()
    assert main(["evaluate", "--from-feedback", str(file)], environment={}, out=out) == 0
    lines = out.getvalue().splitlines()
    assert lines[0].startswith("# 2 rated questions")
    assert lines[2] == "alpha, how high?\talpha"
    assert lines[3].startswith("# bad, request-")
    assert lines[3].endswith(", answered, default, it was alpha's")
    assert lines[4] == "# where is it?\tdocs"
    assert len(lines) == 5
    questions = tmp_path / "questions.tsv"
    questions.write_text(out.getvalue())
    routes = tmp_path / "routes.toml"
    routes.write_text(_ROUTES)
    assert main(["evaluate", str(questions), "--routes", str(routes)], environment={}, out=io.StringIO()) == 0


def test_the_report_counts_ratings_by_route(agent: AgentServer, tmp_path: Path) -> None:
    hub = _hub(agent)
    context_id, _ = _ask(hub, "alpha")
    assert "/bad REASON" in _ask(hub, "/bad", context_id)[1]
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"".join(hub.log_lines))
    out = io.StringIO()
    main(["report", str(file), "--json"], environment={}, out=out)
    assert json.loads(out.getvalue())["routes"]["alpha"]["bad"] == 1


def test_an_export_with_the_latest_line_first_is_read_in_order_and_the_last_rating_counts(
    agent: AgentServer, tmp_path: Path
) -> None:
    hub = _hub(agent, log_text=True)
    context_id, _ = _ask(hub, "alpha, how high?")
    for rating in ("/good", "/bad", "/good", "/bad no"):
        _ask(hub, rating, context_id)
    late = {**hub.log[0], "outcome": "failed", "fault": "cut", "taskId": "t", "httpRequest": None}
    written = [*hub.log, late]
    exported = [
        {"timestamp": f"2026-11-28T10:00:0{second}Z", "jsonPayload": line} for second, line in enumerate(written)
    ]
    for each in written:
        del each["time"]
    file = tmp_path / "export.json"
    file.write_text("\ufeff" + json.dumps(exported[::-1], indent=2))
    out = io.StringIO()
    assert main(["evaluate", "--from-feedback", str(file)], environment={}, out=out) == 0
    assert out.getvalue().splitlines()[2] == "# alpha, how high?\talpha"
    out = io.StringIO()
    main(["report", str(file), "--json", "--since", "99w"], environment={}, out=out)
    (alpha,) = json.loads(out.getvalue())["routes"].values()
    assert (alpha["outcomes"], alpha["good"], alpha["bad"]) == ({"failed": 1}, 0, 1)


_ROUTES = """
[[routes]]
id = "alpha"
name = "Alpha"
description = "One."
url = "http://127.0.0.1:9"
boundary = "public"
keywords = ["alpha"]
priority = 1

[[routes]]
id = "docs"
name = "Docs"
description = "The others."
url = "http://127.0.0.1:9"
boundary = "public"
default = true
priority = 0
"""
