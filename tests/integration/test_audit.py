"""The audit log: who asked, decided, executed and read what, in chains that show every change."""

import io
import json
import os
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.identity.principal import Principal
from a2a_hub.settings.reader import SettingsError
from a2a_hub.telemetry import audit
from a2a_hub.telemetry.audit import AuditLog
from a2a_hub.telemetry.start import start_telemetry
from hubctl.main import main
from tests.fakes.agent_server import AgentServer
from tests.fakes.agent_wire import message, text
from tests.fakes.command_agents import CommandAgent
from tests.fakes.development_agents import GeminiCliAgent
from tests.fakes.hub import Hub, route, settle
from tests.integration.conversation_agents import turn
from tests.integration.slash_commands import execute, hub_of, tool_route

ADA = Principal(subject="google:1", email="ada@example.com", hosted_domain="example.com")
ENDS = "\n"


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    """The file of an audit log that is on."""
    path = tmp_path / "audit.log"
    start_telemetry("hub", {"AUDIT_LOG": str(path)})
    yield path
    audit.install(None)


def _entries(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line)["audit"] for line in file.read_text().splitlines()]


def _of_test(file: Path, *routes: str | None) -> list[dict[str, Any]]:
    """Return the entries of these routes: a turn that a hub of another test has left behind may end now, and writes here too."""
    return [each for each in _entries(file) if each.get("route") in routes]


def _verify(file: Path) -> tuple[int, str]:
    out = io.StringIO()
    return main(["audit", "verify", str(file)], environment={}, out=out), out.getvalue()


def test_it_says_who_asked_which_agent_what_kind_of_thing_and_how_it_ended_without_the_text(file: Path) -> None:
    with AgentServer(lambda _: [message(text("7 million"))]) as agent:
        hub = Hub(route("payroll", agent.url), route("closed", "http://127.0.0.1:9"))
        hub.send("payroll, what is my salary?")
        hub.stream("closed, the same")
        hub.query("payroll, my salary", document={"uri": "corpus:pay.md"})
    asked, failed, read = _of_test(file, "payroll", "closed")
    assert read["kind"] == "document"
    expected = {"event": "asked", "kind": "question", "route": "payroll", "outcome": "answered", "function": "hub"}
    assert asked.items() >= expected.items()
    assert (asked["request"], asked["subject"]) == ("request-1", hub.log[0]["principal"])
    assert (failed["route"], failed["outcome"]) == ("closed", "failed")
    assert "salary" not in file.read_text()
    assert "million" not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_turn_that_is_tried_again_is_one_entry_with_its_own_outcome(file: Path, tmp_path: Path) -> None:
    hub = hub_of(tmp_path, route("closed", "http://127.0.0.1:9", retry_seconds=1))
    hub.stream("closed", version="1.0")
    assert [(each["event"], each["outcome"]) for each in _of_test(file, "closed")] == [("asked", "failed")]


def test_it_says_who_allowed_which_tool_before_the_agent_hears_of_it(file: Path, tmp_path: Path) -> None:
    with GeminiCliAgent() as agent:
        hub = Hub(route("audited", agent.url), route("beta", "http://127.0.0.1:9"))
        context_id, _ = turn(hub, "stream", "audited: two things")
        turn(hub, "stream", "yes", context_id)
        turn(hub, "stream", "3", context_id)
    entries = _of_test(file, "audited")
    decided = [each for each in entries if each["event"] == "decided"]
    assert [(each["decision"], each["call"], each["route"]) for each in decided] == [
        ("approved", "call-1", "audited"),
        ("rejected", "call-2", "audited"),
    ]
    assert decided[0]["subject"] == hub.log[0]["principal"]
    assert decided[0]["object"].endswith("a.txt")
    assert [each["kind"] for each in entries if each["event"] == "asked"] == ["question", "decision", "decision"]


def test_it_says_who_executed_which_command(file: Path, tmp_path: Path) -> None:
    with CommandAgent() as agent:
        hub = hub_of(tmp_path, tool_route("alpha", agent.url))
        execute(hub, "memory", "add", args="a secret")
        agent.may_go_on.set()
        settle()
    executed = next(each for each in _entries(file) if each["event"] == "executed")
    assert (executed["command"], executed["route"]) == ("memory add", "alpha")
    assert "secret" not in file.read_text()


def test_it_says_who_read_the_operators_page(file: Path) -> None:
    hub = Hub(route("alpha", "http://127.0.0.1:9"))
    hub.request("GET", "/doctor", headers={"accept": "application/json"})
    hub.request("GET", "/doctor", token=None)
    (read,) = [each for each in _entries(file) if each["event"] == "read"]
    assert (read["event"], read["page"], read["subject"]) == ("read", "/doctor", hub.log[-2]["principal"])


def _chain(folder: Path, name: str = "audit.log") -> tuple[AuditLog, Path]:
    file = folder / name
    ids = count(1)
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    return AuditLog(descriptor, function="hub", new_id=lambda: f"{name}-{next(ids)}"), file


def _written(folder: Path) -> Path:
    log, file = _chain(folder)
    for number in range(5):
        log.write("asked", ADA, {"route": f"日本-{number}", "task": None})
    return file


def test_a_whole_chain_is_whole_also_as_cloud_logging_exports_it(tmp_path: Path) -> None:
    file = _written(tmp_path)
    assert _verify(file)[0] == 0
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert lines[0]["audit"]["email"] == "ada@example.com"
    exported = [{"jsonPayload": {k: v for k, v in each.items() if k != "severity"}, "insertId": "x"} for each in lines]
    # Out of order, and one twice.
    file.write_text(json.dumps([*reversed(exported), exported[2]]))
    status, shown = _verify(file)
    assert (status, "1–5" in shown, lines[-1]["hash"] in shown) == (0, True, True)


def _changed(lines: list[str]) -> list[str]:
    return [each.replace("日本-2", "日本-9") for each in lines]


def _forged(lines: list[str]) -> list[str]:
    """An entry that was changed together with its hash."""
    line = json.loads(lines[2])
    line["audit"]["route"] = "other"
    line["hash"] = audit.hash_of(line["audit"])
    return [*lines[:2], json.dumps(line), *lines[3:]]


def _renumbered(lines: list[str]) -> list[str]:
    """One entry is removed, and the later ones closed up."""
    rest = [json.loads(each) for each in (*lines[:2], *lines[3:])]
    for number, line in enumerate(rest, start=1):
        line["audit"]["number"] = str(number)
        line["hash"] = audit.hash_of(line["audit"])
    return [json.dumps(each) for each in rest]


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (_changed, "3 was changed"),
        (_forged, "4 does not follow 3"),
        (lambda lines: [*lines[:2], *lines[3:]], "3 to 3 are missing"),
        (_renumbered, "3 does not follow 2"),
        (lambda lines: [*lines, lines[1].replace("日本-1", "日本-7")], "two entries have the number 2"),
    ],
)
def test_a_change_is_found(harm: Callable[[list[str]], list[str]], said: str, tmp_path: Path) -> None:
    file = _written(tmp_path)
    file.write_text(ENDS.join(harm(file.read_text().splitlines())) + ENDS)
    status, shown = _verify(file)
    assert (status, said in shown) == (1, True), shown


def test_a_chain_is_whole_as_gcloud_and_bq_indent_it(tmp_path: Path) -> None:
    file = _written(tmp_path)
    entries = [json.loads(line) for line in file.read_text().splitlines()]
    # A table has all columns in each row.
    rows = [{"jsonPayload": each | {"audit": {"email": None, "column": None} | each["audit"]}} for each in entries]
    file.write_text(json.dumps(rows, indent=2))
    status, told = _verify(file)
    assert (status, "every chain is whole" in told) == (0, True)


def test_the_beginning_of_a_chain_may_be_in_another_file(tmp_path: Path) -> None:
    file = _written(tmp_path)
    file.write_text(ENDS.join(file.read_text().splitlines()[2:]))
    status, shown = _verify(file)
    assert (status, "3–5" in shown, "entries before 3 are not in these lines" in shown) == (0, True, True)


def test_an_entry_that_cannot_be_written_leaves_a_gap(tmp_path: Path) -> None:
    log, file = _chain(tmp_path)
    log.write("asked", ADA, {})
    good, log._file = log._file, 10_000
    log.write("asked", ADA, {})
    log._file = good
    log.write("asked", None, {})
    assert "2 to 2 are missing" in _verify(file)[1]
    assert _entries(file)[-1]["subject"] == "anonymous"


def test_a_forked_process_begins_a_chain_of_its_own(tmp_path: Path) -> None:
    log, file = _chain(tmp_path)
    log.write("asked", ADA, {})
    log._process = 1
    log.write("asked", ADA, {})
    assert [each["number"] for each in _entries(file)] == ["1", "1"]
    assert _verify(file)[0] == 0


def test_lines_without_an_audit_log_cannot_be_verified(tmp_path: Path) -> None:
    (tmp_path / "lines").write_text('{"severity": "INFO"}\n')
    assert _verify(tmp_path / "lines")[0] == 2


def test_a_file_that_cannot_be_written_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="AUDIT_LOG"):
        start_telemetry("hub", {"AUDIT_LOG": str(tmp_path)})


def test_without_the_setting_there_is_none(tmp_path: Path) -> None:
    start_telemetry("hub", {})
    Hub(route("alpha", "http://127.0.0.1:9")).send("alpha")
    assert list(tmp_path.iterdir()) == []
