"""Every command that reports writes JSON where it is asked to."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from a2a_hub.telemetry.audit import FIRST, hash_of
from hubctl.main import commands
from tests.unit.route_tables import DEFAULT, route_text
from tests.unit.test_hubctl_check import hubctl

# They report nothing: what they write is for a shell, an editor, Gemini Enterprise or an author, or a run of its own.
_WITHOUT = {"card", "completion", "keys", "new", "run", "schema"}


def test_every_other_command_has_the_option() -> None:
    for name, command in commands().items():
        tables = (command, *command.get("actions", {}).values())
        assert name in _WITHOUT or any("--json" in table.get("arguments", {}) for table in tables), name


def test_evaluate_names_the_wrong_ones(tmp_path: Path) -> None:
    routes, questions = tmp_path / "routes.toml", tmp_path / "questions.tsv"
    routes.write_text(route_text("pm", 'keywords = ["WBS"]', priority=1) + DEFAULT)
    questions.write_text("A WBS\tpm\nHello\tpm\n")
    status, said = hubctl("evaluate", questions, "--routes", routes, "--json")
    (wrong,) = json.loads(said).pop("wrong")
    assert (status, json.loads(said)["questions"]) == (1, 2)
    assert (wrong["line"], wrong["expected"], wrong["route"]) == (2, "pm", "other")


def test_audit_tells_of_chains(tmp_path: Path) -> None:
    entry = {"chain": "c", "number": "1", "previous": FIRST, "function": "hub", "time": "now"}
    file = tmp_path / "audit.log"
    file.write_text(json.dumps({"audit": entry, "hash": hash_of(entry)}) + "\n")
    status, said = hubctl("audit", "verify", file, "--json")
    assert (status, json.loads(said)["ok"], json.loads(said)["chains"][0]["last"]) == (0, True, 1)


def _on_a_terminal(command: list[str], environment: dict[str, str]) -> str:
    ours, theirs = pty.openpty()
    subprocess.run(command, stdout=theirs, env={**os.environ, "TERM": "xterm", **environment}, check=False)
    os.close(theirs)
    with os.fdopen(ours, "rb") as terminal:
        return terminal.read1(100_000).decode()


@pytest.mark.parametrize(
    ("environment", "is_coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_only_terminals_that_want_them_get_colours(
    environment: dict[str, str], is_coloured: bool, tmp_path: Path
) -> None:
    card = tmp_path / "card.json"
    card.write_text('{"name": "\x1b[32mx"}')
    command = [sys.executable, "-m", "hubctl", "check", "--card", str(card)]
    environment = {"PYTHONPATH": os.pathsep.join(sys.path)} | environment
    assert ("\x1b[31merror:\x1b[0m" in _on_a_terminal(command, environment)) is is_coloured
    piped = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, check=False)
    assert b"\x1b" not in piped.stdout
