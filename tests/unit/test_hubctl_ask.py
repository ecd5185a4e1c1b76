"""`hubctl ask` and `hubctl run`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from a2a_hub.routing.hub_card import ROUTE_EXTENSION
from tests.fakes.agent_server import AgentServer
from tests.fakes.agent_wire import artifact, message, status, task, text, update
from tests.unit.test_hubctl_check import hubctl

ROOT = Path(__file__).resolve().parents[2]


def _ended(state: str, says: str | None = None) -> dict[str, object]:
    ended = status(state, says)
    ended["statusUpdate"]["metadata"] = {ROUTE_EXTENSION: {"agent": "Travel desk", "reason": 'keyword: "train"'}}
    return ended


_ANSWER = [task("working"), update(artifact("a", text("By "))), update(artifact("a", text("train.")), append=True)]


def test_an_answer_is_written_with_its_agent_its_reason_and_how_to_go_on() -> None:
    with AgentServer(lambda _: [*_ANSWER, _ended("completed")]) as hub:
        code, said = hubctl("ask", "How?", "--url", hub.url, "--token", "t", "--context", "c-1")
    assert code == 0
    assert said == 'By train.\n\nTravel desk: keyword: "train"\nto go on: hubctl ask --context agent-context …\n'
    (message,) = hub.said
    assert (message.text, message.context_id, message.streaming) == ("How?", "c-1", True)
    assert message.headers["authorization"] == "Bearer t"


def test_what_the_hub_itself_answers_names_no_agent() -> None:
    with AgentServer(lambda _: [message(text("Your tasks."), context_id="c-1")]) as hub:
        code, said = hubctl("ask", "/tasks", "--url", hub.url)
    assert (code, said) == (0, "Your tasks.\n\nto go on: hubctl ask --context c-1 …\n")


def test_what_a_task_says_while_it_goes_on_is_no_part_of_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    away = status("working", "The hub tries again in 32 s.")
    with AgentServer(lambda _: [*_ANSWER, away, _ended("completed")]) as hub:
        said = hubctl("ask", "How?", "--url", hub.url)[1]
    assert said.startswith("By train.\n")
    assert capsys.readouterr().err == "The hub tries again in 32 s.\n"


def test_json_writes_every_event_and_a_failure_is_status_1() -> None:
    with AgentServer(lambda _: [*_ANSWER, _ended("failed", "No train.")]) as hub:
        code, said = hubctl("ask", "How?", "--url", hub.url, "--json")
        assert "No train." in hubctl("ask", "How?", "--url", hub.url)[1]
    assert code == 1
    kinds = [next(iter(json.loads(line))) for line in said.splitlines()]
    assert kinds == ["task", "artifactUpdate", "artifactUpdate", "statusUpdate"]


@pytest.mark.parametrize(
    ("code", "hint"), [(401, "give a token with --token"), (429, "a quota is used up"), (503, "is --url right?")]
)
def test_a_refusal_names_the_way_out(code: int, hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    with AgentServer(serve_message=lambda exchange: exchange.answer(code)) as hub:
        assert hubctl("ask", "How?", "--url", hub.url)[0] == 2
    assert hint in capsys.readouterr().err


def test_run_becomes_make_with_the_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make = tmp_path / "make"
    make.write_text('#!/bin/sh\necho "$@"\n')
    make.chmod(0o755)
    command = [sys.executable, "-m", "hubctl", "run", "HUB_PORT=9000", "GATEWAY=0"]
    environment = {**os.environ, "PATH": str(tmp_path), "PYTHONPATH": f"{ROOT}:{ROOT / 'shared'}"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == f"-C {ROOT} --no-print-directory run HUB_PORT=9000 GATEWAY=0\n"
    assert hubctl("run", "9000")[0] == 2
    assert "write NAME=VALUE" in capsys.readouterr().err
