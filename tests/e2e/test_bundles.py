"""The functions as they are uploaded: all together behind the gateway, and each alone as the README shows it."""

import contextlib
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.bundle import bundle
from local.functions import ROOT, functions
from local.ports import free_ports
from local.processes import Probe, Process, wait_until_ready
from tests.contract.a2a.schemas import faults, faults_v0_3
from tests.e2e.callers import Caller
from tests.e2e.hubs import Hub
from tests.e2e.questions import FIRST_WORDINGS, QUESTIONS, Question
from tests.e2e.request_forms import FORMS, JSONRPC
from tests.e2e.sources import assert_stands_in_its_source

_ALL = {function.name: function for function in functions()}


@pytest.mark.parametrize(("question", "wording"), FIRST_WORDINGS)
def test_bundles_together_answer_each_question_in_every_form(bundled: Hub, question: Question, wording: str) -> None:
    for form in FORMS:
        question.is_answered_by(form.ask(bundled.caller(), wording).text)
    told = bundled.caller().post("/tools/query", {"query": wording}).json
    assert (told["route"], told["error"]) == (question.route, None)
    for citation in told["citations"]:
        assert_stands_in_its_source(citation)


def test_bundles_together_serve_the_card_and_refuse_strangers(bundled: Hub) -> None:
    stranger = bundled.stranger()
    assert faults_v0_3("AgentCard", stranger.get("/.well-known/agent-card.json", A2A_Version="0.3").json) == []
    assert faults("AgentCard", stranger.get("/.well-known/agent.json", A2A_Version="1.0").json) == []
    assert stranger.post("/", JSONRPC[0].body(JSONRPC[0].params("x"))).status == 401


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds nothing but `build`, with every bundle in it."""
    folder = tmp_path_factory.mktemp("alone")
    for function in _ALL.values():
        bundle(function, root=ROOT, target=folder / "build" / function.name)
    return folder


@contextlib.contextmanager
def alone(name: str, folder: Path, **environment: str) -> Iterator[Caller]:
    """A caller of one function, started by the command that the README shows, with an environment of next to nothing."""
    (port,) = free_ports(1)
    program = shutil.which("functions-framework", path=str(Path(sys.executable).parent))
    assert program is not None
    log = folder / f"{name}.log"
    with log.open("wb") as output:
        popen = subprocess.Popen(
            [program, f"--target={name}", f"--source=build/{name}/main.py", f"--port={port}"],
            cwd=folder,
            env={"PATH": os.environ["PATH"], "HOST": "127.0.0.1", **environment},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_until_ready(
            [Probe(name, port, "/health")],
            [Process(name=name, popen=popen, log=log)],
            stopping=threading.Event(),
            timeout_seconds=60.0,
        )
        yield Caller(port=port, token=environment.get("HUB_DEV_TOKEN"))
    finally:
        popen.terminate()
        popen.wait()


def test_an_agent_alone_answers_its_questions_in_every_form(folder: Path) -> None:
    name = "docqa"
    with alone(name, folder) as caller:
        for question in QUESTIONS:
            if question.route == name:
                for form in FORMS:
                    question.is_answered_by(form.ask(caller, question.wordings[0]).text)
        for version, faults_of in (("0.3", faults_v0_3), ("1.0", faults)):
            card = caller.get("/.well-known/agent-card.json", A2A_Version=version).json
            assert faults_of("AgentCard", card) == []
            assert f"127.0.0.1:{caller.port}" in str(card)


@pytest.fixture(scope="module")
def lonely_hub(folder: Path) -> Iterator[Caller]:
    """The hub without any of its agents."""
    with alone("hub", folder, HUB_DEV_TOKEN="of-one-developer") as caller:
        yield caller


def test_the_hub_alone_says_in_the_users_language_that_an_agent_is_not_there(lonely_hub: Caller) -> None:
    send, stream = JSONRPC[:2]
    told = send.ask(lonely_hub, "What is the expense reimbursement submission deadline?")
    assert "The agent “Expense reimbursement” cannot be reached" in told.text
    told = stream.ask(lonely_hub, "経費精算の申請期限は")
    assert "エージェント「経費精算」に現在接続できません" in told.text


def test_the_hub_alone_records_what_is_missing(lonely_hub: Caller) -> None:
    told = lonely_hub.post("/tools/query", {"query": "経費精算の申請期限は"}).json
    assert (told["route"], told["error"]["kind"]) == ("expense", "down")
    assert "EXPENSE_URL" in told["error"]["remedy"]


def test_the_card_alone_is_the_hubs(folder: Path, lonely_hub: Caller) -> None:
    url = "https://hub.example.com"
    with alone("agent_card", folder, HUB_PUBLIC_URL=url) as caller:
        card = caller.get("/.well-known/agent-card.json").json
    hubs = lonely_hub.get("/.well-known/agent-card.json").json
    assert card["url"] == url
    assert [skill["id"] for skill in card["skills"]] == [skill["id"] for skill in hubs["skills"]]
    assert faults_v0_3("AgentCard", card, strict=False) == []


def test_the_hub_does_not_start_in_the_cloud_with_wrong_settings_and_names_all_of_them(folder: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "K_SERVICE": "hub", "HUB_PUBLIC_URL": "no address"}
    program = [str(Path(sys.executable).with_name("functions-framework")), "--target=hub"]
    ended = subprocess.run(
        [*program, "--source=build/hub/main.py"], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert ended.returncode != 0
    for name in ("HUB_PUBLIC_URL", "DOCQA_URL", "EXPENSE_URL", "GENERAL_URL", "PM_URL"):
        assert name in ended.stderr
