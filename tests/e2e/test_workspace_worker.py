"""A question to the hub is answered out of a Google Workspace: hub, tasks function and worker are real processes, the worker
with Google's Agent Development Kit; Google itself is a small server.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.worker_runs import WorkedHub, WorkerProcess, request, worked_hub
from tests.fakes.function_calling_model import FunctionCallingModel, ModelRequest, Part, call
from tests.fakes.workspace import Hold, Workspace
from tests.fakes.workspace_worker import environment, python

_TOKEN = "a-development-token"
_SETTINGS = {"WORKER_POLL_SECONDS": "0.2", "TASK_UI_SECONDS": "30", "KEEP_ALIVE_SECONDS": "0.2"}
_WORKER = (
    "-m",
    "workers.workspace",
    "--may-write",
    "mail",
    "--may-write",
    "calendar",
    "--time-zone",
    "Asia/Tokyo",
)
# The worker as it is, but with a lease that does not outlive it by a minute.
_SHORT_LEASED = """
import os
from workers.client import Client
from workers.client import from_environment
from workers.workspace import settings
from workers.workspace.__main__ import worker

own = settings.read(["--role", "crm", "--may-write", "mail", "--may-write", "calendar"], os.environ)
Client(os.environ["TASKS_URL"], from_environment(os.environ), roles=own.roles, lease_seconds=1).run(worker(own))
"""
# That of those who are killed, so that nobody else takes what they leave behind.
_ROLE = {"skill": "crm"}


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkedHub]:
    """One run for all of these tests."""
    with worked_hub(tmp_path_factory.mktemp("worked"), **_SETTINGS) as hub:
        yield hub


@pytest.fixture(scope="module")
def google() -> Iterator[Workspace]:
    """The Workspace of all of these tests."""
    workspace = Workspace()
    with workspace.server:
        yield workspace


@pytest.fixture(scope="module")
def gemini() -> Iterator[FunctionCallingModel]:
    """Their model."""
    model = FunctionCallingModel(_says)
    with model.server:
        yield model


@pytest.fixture(scope="module")
def environ(
    google: Workspace, gemini: FunctionCallingModel, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """Return what their workers are started with."""
    return environment(google, gemini, tmp_path_factory.mktemp("environment"))


@pytest.fixture
def workspace(google: Workspace) -> Workspace:
    """With a file and a mail."""
    google.empty()
    google.add_file("f-1", "Minutes", "Decided: we go on.")
    google.mail.add("m-1", "Aki <aki@example.com>", "議事録", "議事録を送ってください")
    return google


@pytest.fixture
def model(gemini: FunctionCallingModel) -> Iterator[FunctionCallingModel]:
    """Which works again afterwards."""
    yield gemini
    gemini.broken = 0


@pytest.fixture(scope="module")
def standing(hub: WorkedHub, environ: dict[str, str]) -> Iterator[None]:
    """The worker, as it is started by hand."""
    with worker(hub, environ, *_WORKER):
        yield


def _says(heard: ModelRequest) -> Part | str:
    if "It was done" in heard.text:
        return "It is done."
    if "read_file" in heard.results:
        return call("send_mail", to=["aki@example.com"], subject="Minutes", body=heard.results["read_file"]["text"])
    if "find_files" in heard.results:
        return call("read_file", file_id=heard.results["find_files"]["files"][0]["file_id"])
    if "search_mail" in heard.results:
        (mail,) = heard.results["search_mail"]["mails"]
        return call("send_mail", to=[mail["from"].split("<")[1][:-1]], subject="議事録", body="決定：続けます。")
    if "invite" in heard.text:
        return call(
            "create_event",
            title="Review",
            start="2026-11-24T10:00",
            end="2026-11-24T11:00",
            guests=["aki@example.com"],
        )
    return call("search_mail", query="議事録") if "返信" in heard.text else call("find_files", words="Minutes")


def ask(hub: WorkedHub, text: str, **options: Any) -> Any:
    """The task, which is the worker's."""
    return hub.send(text, **options)["task"]


def worker(hub: WorkedHub, environ: dict[str, str], *arguments: str) -> WorkerProcess:
    """It fetches tasks of its role while it is entered."""
    return WorkerProcess(hub, *arguments, token=_TOKEN, python=python(), environ=environ)


@pytest.fixture
def short_leased(tmp_path: Path) -> str:
    """The program of a worker whose tasks are soon those of the next one."""
    program = tmp_path / "short_leased.py"
    program.write_text(_SHORT_LEASED)
    return str(program)


@pytest.mark.parametrize(
    ("text", "yes", "asks", "answer", "subject"),
    [
        (
            "Find the minutes in Google Drive and mail them to Aki by Gmail",
            "Yes",
            "Send this mail? If you answer “yes”, it is sent exactly like this; with any other answer it is not.",
            "It is done.\n\n✓ Sent to aki@example.com: “Minutes”",
            "Minutes",
        ),
        (
            "Gmailで亜紀さんに返信して議事録を送って",
            "はい",
            "このメールを送信しますか。「はい」と答えると、このとおりに送信します。それ以外の返事では送信しません。",
            "It is done.\n\n✓ aki@example.com に送信しました：「議事録」",
            "議事録",
        ),
    ],
    ids=["in English", "in Japanese"],
)
@pytest.mark.usefixtures("standing")
def test_a_question_is_answered_with_a_confirmation_in_between(
    hub: WorkedHub, workspace: Workspace, text: str, yes: str, asks: str, answer: str, subject: str
) -> None:
    asked = ask(hub, text)
    assert asked["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
    (part,) = asked["status"]["message"]["parts"]
    assert part["text"].startswith(f"{asks}\n\n```\n")
    assert workspace.mail.sent == []
    done = ask(hub, yes, context_id=asked["contextId"])
    assert done["artifacts"][0]["parts"] == [{"text": answer}]
    (mail,) = workspace.mail.sent
    assert (mail["To"], mail["Subject"]) == ("aki@example.com", subject)


@pytest.mark.usefixtures("standing")
def test_a_user_interface_that_knows_only_texts_confirms_too(hub: WorkedHub, workspace: Workspace) -> None:
    def says(text: str) -> str:
        body = request(text, ui=True, context_id="a-conversation")
        (part,) = hub.user().post("/", body).json["result"]["parts"]
        return str(part["text"])

    assert says("Mail the minutes from Google Drive to Aki").startswith("Send this mail?")
    assert says("yes") == "It is done.\n\n✓ Sent to aki@example.com: “Minutes”"
    assert len(workspace.mail.sent) == 1


@pytest.mark.usefixtures("standing", "workspace")
def test_a_model_that_is_dead_fails_the_task_with_a_sentence(hub: WorkedHub, model: FunctionCallingModel) -> None:
    model.broken = 403
    answer = hub.user().post("/", request("What is in Google Drive?", ui=True)).json["result"]
    assert (
        "The language model of this worker is not set up; its log says what is missing." in answer["parts"][0]["text"]
    )


def test_a_worker_that_is_killed_while_it_sends_leaves_one_mail_and_one_invitation(
    hub: WorkedHub, workspace: Workspace, environ: dict[str, str], short_leased: str
) -> None:
    def sent() -> int:
        return len(workspace.mail.sent) + len(workspace.invited)

    with ExitStack() as stack:
        # The worker that finishes one task is killed in the next.
        running = stack.enter_context(worker(hub, environ, short_leased))
        for text, yes, held, is_done in (
            ("Mail the minutes", "yes", "/drafts/send", False),
            ("返信して議事録を送って", "はい", "/drafts/send", True),
            ("Please invite Aki", "yes", "/primary/events", True),
        ):
            before = sent()
            asked = ask(hub, text, **_ROLE)
            hold = workspace.hold = Hold(held, done=is_done)
            ask(hub, yes, context_id=asked["contextId"], at_once=True)
            assert hold.reached.wait(30)
            assert sent() - before == int(is_done)
            running.kill()
            running = stack.enter_context(worker(hub, environ, short_leased))
            done = _settled(hub, asked["id"])
            assert done["status"]["state"] == "TASK_STATE_COMPLETED"
            assert "✓" in done["artifacts"][0]["parts"][0]["text"]
            assert (sent() - before, workspace.mail.drafts) == (1, {})


def test_a_task_that_is_cancelled_while_the_model_thinks_is_let_go(
    hub: WorkedHub,
    workspace: Workspace,
    model: FunctionCallingModel,
    environ: dict[str, str],
    short_leased: str,
) -> None:
    thinking = model.hold()
    with worker(hub, environ, short_leased):
        task = ask(hub, "What is new?", at_once=True, **_ROLE)
        assert thinking.wait(30)
        hub.operation("CancelTask", {"id": task["id"]})
        assert _settled(hub, task["id"])["status"]["state"] == "TASK_STATE_CANCELED"
        # The model still thinks, but the worker has gone on.
        asked = ask(hub, "Mail the minutes", **_ROLE)
        assert asked["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"


def test_a_worker_that_is_told_to_end_while_the_model_thinks_gives_its_task_back(
    hub: WorkedHub, workspace: Workspace, model: FunctionCallingModel, environ: dict[str, str]
) -> None:
    thinking = model.hold()
    with worker(hub, environ, *_WORKER, "--role", "crm") as ended:
        task = ask(hub, "What is new?", at_once=True, **_ROLE)
        assert thinking.wait(30)
        ended.popen.terminate()
        assert ended.popen.wait(30) == 0
    # Its lease would have lasted for a minute.
    anybody = hub.worker(_TOKEN)
    leased = anybody.post("/v1/tasks:lease", {"taskId": task["id"]}).json
    assert leased["attempt"] == 2
    path = f"/v1/tasks/{task['id']}:complete"
    assert anybody.post(path, {"lease": leased["lease"], "text": "Nothing"}).status == 200


def _settled(hub: WorkedHub, task_id: str) -> Any:
    """The task when its turn has ended."""
    subscribe = {"jsonrpc": "2.0", "id": 1, "method": "SubscribeToTask", "params": {"id": task_id}}
    hub.user().post("/", subscribe, {"A2A-Version": "1.0"}).events()
    return hub.operation("GetTask", {"id": task_id})
