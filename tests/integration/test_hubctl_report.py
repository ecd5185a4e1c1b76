"""`hubctl report`: what the lines of a hub's log tell of its use."""

import io
import json
import os
import stat
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from hubctl.main import main
from tests.fakes.agent_server import AgentServer
from tests.fakes.agent_wire import data, message, text
from tests.fakes.hub import OTHER_TOKEN, Hub, route

DO_NOT_KNOW = [message(text("I do not know."), data({"declines": "nothing_known"}))]


def _report(*arguments: str, environment: dict[str, str] | None = None) -> tuple[int, str]:
    out = io.StringIO()
    status = main(["report", *arguments], environment=environment or {}, out=out)
    return status, out.getvalue()


def _json(*arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_report(*arguments, "--json")[1])
    return found


@pytest.fixture
def lines() -> list[dict[str, Any]]:
    """The log of a hub that answered, did not know, failed, and only chose a route."""
    with AgentServer(lambda _: [message(text("42"))]) as agent, AgentServer(lambda _: DO_NOT_KNOW) as other:
        hub = Hub(
            route("alpha", agent.url), route("away", "http://127.0.0.1:9"), route("docs", other.url), log_text=True
        )
        hub.send("alpha")
        hub.query("alpha, once more", token=OTHER_TOKEN)
        hub.send("away")
        for question in ("What is a foo?", "what is a FOO", "Mail ada@example.com about account 1234567890, please"):
            hub.stream(question)
        hub.query("alpha", dryRun=True)
        hub.request("GET", "/health")
        return hub.log


def _written(folder: Path, lines: list[dict[str, Any]]) -> str:
    file = folder / "lines.jsonl"
    file.write_text("a line of something else\n" + "".join(f"{json.dumps(each)}\n" for each in lines))
    return str(file)


def test_a_report_shows_the_tokens_of_the_models_of_each_agent(lines: list[dict[str, Any]], tmp_path: Path) -> None:
    tokens = {"prompt": 1000, "answer": 20, "thoughts": 3, "total": 1023}
    free = {"function": "general", "requestId": "1", "outcome": "answered", "model": "gemini-small", "tokens": tokens}
    composed = {"function": "docqa", "requestId": "2", "composed": {"model": "gemini-small", "tokens": tokens}}
    file = _written(tmp_path, [*lines, composed, free, composed])
    common = {"model": "gemini-small"}
    assert _json(file)["tokens"] == [
        {"function": "docqa", **common, "answers": 2, "input": 2000, "output": 46},
        {"function": "general", **common, "answers": 1, "input": 1000, "output": 23},
    ]
    assert _json(file)["turns"] == 6
    assert ["docqa", "gemini-small", "2", "2000", "46"] in [each.split() for each in _report(file)[1].splitlines()]


def test_a_report_shows_what_the_safety_check_found(lines: list[dict[str, Any]], tmp_path: Path) -> None:
    found = {"function": "hub", "route": "alpha", "direction": "answer", "filters": ["sdp", "rai"], "requestId": "1"}
    file = _written(tmp_path, [*lines, found, found, found | {"direction": "request", "filters": ["sdp"]}])
    assert _json(file)["safety"] == [
        {"route": "alpha", "direction": "answer", "filters": "sdp, rai", "count": 2},
        {"route": "alpha", "direction": "request", "filters": "sdp", "count": 1},
    ]
    assert _json(file)["turns"] == 6
    assert "Safety check" in _report(file)[1]


def test_a_report_counts_turns_outcomes_and_the_default(lines: list[dict[str, Any]], tmp_path: Path) -> None:
    found = _json(_written(tmp_path, lines))
    assert (found["turns"], found["callers"], found["default_share"]) == (6, 2, 0.5)
    assert found["outcomes"] == {"unanswered": 3, "answered": 2, "failed": 1}
    assert {route: use["turns"] for route, use in found["routes"].items()} == {"alpha": 2, "away": 1, "docs": 3}
    assert list(found["days"].values()) == [6]
    assert len(found["slowest"]) == 6
    assert found["slowest"][0]["request"].startswith("request-")


def test_unanswered_questions_are_grouped_and_without_addresses_and_numbers(
    lines: list[dict[str, Any]], tmp_path: Path
) -> None:
    found = _json(_written(tmp_path, lines))["unanswered"]
    assert [(each["question"], each["route"], each["count"]) for each in found] == [
        ("What is a foo?", "docs", 2),
        ("Mail [mail] about account [number], please", "docs", 1),
    ]


def test_without_texts_in_the_log_questions_are_counted_by_route(lines: list[dict[str, Any]], tmp_path: Path) -> None:
    for each in lines:
        each.pop("text", None)
    found = _json(_written(tmp_path, lines))["unanswered"]
    assert found == [{"question": None, "route": "docs", "count": 3}]


def test_failures_are_listed_by_agent_with_the_remedy(lines: list[dict[str, Any]], tmp_path: Path) -> None:
    (failing,) = _json(_written(tmp_path, lines))["failures"]
    assert (failing["route"], failing["fault"], failing["count"]) == ("away", "unreachable", 1)
    assert "url" in failing["remedy"]


def test_a_late_failure_is_the_turns_outcome(tmp_path: Path) -> None:
    turn = {"function": "hub", "requestId": "r", "route": "alpha", "ms": 5.0}
    late = {**turn, "outcome": "failed", "fault": "cut", "taskId": "t"}
    found = _json(_written(tmp_path, [turn | {"outcome": "answered"}, late]))
    assert (found["turns"], found["outcomes"]) == (1, {"failed": 1})


def test_a_time_that_is_no_number_ends_no_report(tmp_path: Path) -> None:
    turn = {"function": "hub", "requestId": "r", "route": "alpha", "outcome": "answered", "ms": "n/a"}
    assert _json(_written(tmp_path, [turn]))["turns"] == 1


def test_a_document_that_is_opened_is_no_turn_and_a_function_no_caller(tmp_path: Path) -> None:
    with AgentServer(lambda _: [message(text("42"))]) as agent, AgentServer(lambda _: DO_NOT_KNOW) as other:
        hub = Hub(route("alpha", agent.url), route("docs", other.url), log_text=True)
        hub.send("alpha")
        hub.query("Show this document.", route="docs", document={"uri": "corpus:gone.md"})
    run = {**hub.log[0], "requestId": "r", "principal": "function:tasks"}
    found = _json(_written(tmp_path, [*hub.log, run]))
    assert (found["turns"], found["callers"], found["unanswered"]) == (2, 1, [])


def test_what_is_older_than_asked_for_is_left_out(lines: list[dict[str, Any]], tmp_path: Path) -> None:
    lines[0]["time"] = (datetime.now(UTC) - timedelta(days=8)).isoformat()
    file = _written(tmp_path, lines)
    assert (_json(file)["turns"], _json(file, "--since", "2w")["turns"]) == (5, 6)
    assert _report(_written(tmp_path, lines[:1])) == (1, "no turn of a hub is in these lines\n")


def _row(line: dict[str, Any], *, columns: set[str]) -> dict[str, Any]:
    """A line as `bq` shows a row: every column, and each number as a string."""

    def shown(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: shown(each) for name, each in value.items()} | {"thoughts": None}
        return value if isinstance(value, str | list) or value is None else str(value)

    payload = {name: shown(line.get(name)) for name in columns - {"time"}}
    moment = datetime.fromisoformat(line["time"]) if "time" in line else datetime.now(UTC)
    return {"timestamp": f"{moment:%Y-%m-%d %H:%M:%S.%f} UTC", "jsonPayload": payload}


@pytest.mark.parametrize("export", ["gcloud", "bq", "log analytics"])
def test_a_file_may_be_an_export(lines: list[dict[str, Any]], tmp_path: Path, export: str) -> None:
    tokens = {"prompt": 1000, "answer": 20}
    lines.append({"function": "general", "requestId": "1", "outcome": "answered", "model": "small", "tokens": tokens})
    rows = [_row(each, columns={name for line in lines for name in line}) for each in lines]
    if export == "gcloud":
        rows = [{"timestamp": each.get("time"), "jsonPayload": each} for each in lines]
    elif export == "log analytics":
        rows = [{"timestamp": each["timestamp"], "json_payload": json.dumps(each["jsonPayload"])} for each in rows]
    file = tmp_path / "export.json"
    file.write_text(json.dumps(rows, indent=2))
    expected, found = _json(_written(tmp_path, lines)), _json(str(file))
    assert expected["turns"] == 6
    for name in ("turns", "callers", "outcomes", "unanswered", "tokens", "failures"):
        assert found[name] == expected[name], name


def test_a_person_reads_tables(lines: list[dict[str, Any]], tmp_path: Path) -> None:
    status, shown = _report(_written(tmp_path, lines))
    assert status == 0
    assert "6 turns of 2 callers; 50% by the default route" in shown
    assert any(line.split()[:3] == ["alpha", "2", "2"] for line in shown.splitlines())
    assert "What is a foo?" in shown
    assert "unreachable" in shown


def test_lines_come_from_standard_input_too(lines: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{json.dumps(each)}\n" for each in lines)))
    assert _json("-")["turns"] == 6


def test_lines_come_from_cloud_logging_as_it_exports_them(
    lines: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exported = [{"jsonPayload": each, "timestamp": each.pop("time"), "severity": "INFO"} for each in lines]
    (tmp_path / "entries.json").write_text(json.dumps(exported))
    gcloud = tmp_path / "gcloud"
    gcloud.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/asked\ncat {tmp_path}/entries.json\n')
    gcloud.chmod(gcloud.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert _json("--since", "24h", "--project", "my-project")["turns"] == 6
    asked = (tmp_path / "asked").read_text()
    assert "--freshness=86400s" in asked
    assert "--project=my-project" in asked
    gcloud.write_text("#!/bin/sh\nexit 1\n")
    assert _report()[0] == 2


@pytest.mark.parametrize("since", ["7", "d", "-1d", "7 days", "9999999d"])
def test_a_time_span_of_another_form_is_refused(since: str, tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        _report(_written(tmp_path, []), "--since", since)


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    assert _report(str(tmp_path / "none"))[0] == 2
