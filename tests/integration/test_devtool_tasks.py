"""The development agent's tasks outlive its process, are executed once, and end with all that they started."""

import contextlib
import threading
import time
from pathlib import Path

import pytest
from msgspec import json, structs

from a2a_hub.a2a.model import Event, Message, Part, Role, TaskState
from a2a_hub.a2a.reply import status_update
from a2a_hub.runtime.ids import new_id
from a2a_hub.task_store.sqlite import SqliteTaskStore
from a2a_hub.tasks.resume_payload import decode_resume_payload
from functions.devtool.programs import isolating_prefix
from functions.devtool.workspace import Workspaces
from tests.fakes.devtool import (
    WAYS,
    Client,
    Devtool,
    ReceivedTask,
    Refused,
    calls,
    kinds,
    waiting,
    workspace_in,
)
from tests.fakes.task_instance import until

WRITE = "create new.txt with the content 'one'"
COUNT = "run sh -c 'echo ran >> ran.txt; sleep 0.2'"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return workspace_in(tmp_path)


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def instance(folder: Path, root: Path, way: str = WAYS[2], **settings: str) -> Client:
    return Devtool(folder, settings=settings).client(way, workspace=root)


def test_a_task_that_waits_for_a_decision_outlives_its_process(tmp_path: Path, root: Path, way: str) -> None:
    task_id, call = waiting(instance(tmp_path, root, way).stream(WRITE))
    after_restart = instance(tmp_path, root, way)
    assert waiting([after_restart.get(task_id)]) == (task_id, call)
    done = after_restart.decide(task_id, call["tool_call_id"], "proceed_once")
    assert done[-1].state == "completed"
    assert (root / "new.txt").read_text() == "one"


def test_what_is_always_allowed_in_a_conversation_outlives_the_process(tmp_path: Path, root: Path) -> None:
    client = instance(tmp_path, root)
    task_id, call = waiting(client.stream(WRITE))
    context_id = client.decide(task_id, call["tool_call_id"], "proceed_always")[-1].context_id
    again = instance(tmp_path, root).stream("write 'two' to new.txt", context_id=context_id, settings=None)
    assert again[-1].state == "completed"
    assert (root / "new.txt").read_text() == "two"


def test_a_workspace_that_is_no_longer_open_is_not_worked_in_after_a_restart(tmp_path: Path, root: Path) -> None:
    task_id, call = waiting(instance(tmp_path, root).stream(WRITE))
    closed = Devtool(tmp_path, settings={"DEVTOOL_WORKSPACES": str(root / "src")}).client()
    done = closed.decide(task_id, call["tool_call_id"], "proceed_once")
    assert calls(done)[-1]["status"] == "FAILED"
    assert not (root / "new.txt").exists()


def test_a_program_that_is_no_longer_allowed_does_not_run_after_a_restart(tmp_path: Path, root: Path) -> None:
    task_id, call = waiting(instance(tmp_path, root).stream(COUNT))
    done = instance(tmp_path, root, DEVTOOL_COMMANDS="echo").decide(task_id, call["tool_call_id"], "proceed_once")
    assert calls(done)[-1]["error"]["type"] == "program_not_allowed"
    assert not (root / "ran.txt").exists()


@pytest.mark.parametrize("instances", [1, 2])
def test_of_decisions_that_come_at_once_one_is_executed(tmp_path: Path, root: Path, instances: int) -> None:
    clients = [instance(tmp_path, root) for _ in range(instances)]
    task_id, call = waiting(clients[0].stream(COUNT))
    start = threading.Barrier(6)
    outcomes: list[list[ReceivedTask] | str] = []

    def decide(number: int) -> None:
        start.wait()
        try:
            client = clients[number % instances]
            outcomes.append(client.decide(task_id, call["tool_call_id"], "proceed_once"))
        except Refused as refused:
            outcomes.append(refused.message)

    threads = [threading.Thread(target=decide, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert clients[0].settled(task_id).state == "completed"
    assert (root / "ran.txt").read_text() == "ran\n"
    assert len(outcomes) == 6
    assert any(isinstance(outcome, list) for outcome in outcomes)


@pytest.mark.parametrize("other_instance", [False, True])
def test_cancelling_the_task_ends_the_program_and_all_that_it_started(
    tmp_path: Path, root: Path, other_instance: bool
) -> None:
    client = instance(tmp_path, root)
    beat = root / "beat"
    command = "run sh -c '(while true; do echo x >> beat; sleep 0.02; done) & wait'"
    task_id, call = waiting(client.stream(command))
    events: list[ReceivedTask] = []
    following = threading.Thread(
        target=lambda: events.extend(client.decide(task_id, call["tool_call_id"], "proceed_once"))
    )
    following.start()
    until(lambda: beat.exists() and beat.read_text())
    canceller = instance(tmp_path, root) if other_instance else client
    with contextlib.suppress(Refused):
        canceller.cancel(task_id)
    following.join(20)
    assert client.settled(task_id).state == "canceled"
    assert events[-1].state == "canceled"
    size = beat.stat().st_size
    threading.Event().wait(0.3)
    assert beat.stat().st_size == size


def test_a_task_that_waits_can_be_cancelled_and_takes_no_decision_then(tmp_path: Path, root: Path) -> None:
    client = instance(tmp_path, root)
    task_id, call = waiting(client.stream(WRITE))
    assert client.cancel(task_id).state == "canceled"
    with pytest.raises(Refused, match="ended"):
        client.decide(task_id, call["tool_call_id"], "proceed_once")
    assert not (root / "new.txt").exists()


def test_a_command_whose_process_died_is_not_run_again_and_the_task_says_so(tmp_path: Path, root: Path) -> None:
    client = instance(tmp_path, root)
    task_id, call = waiting(client.stream(COUNT))
    _decide_and_die(tmp_path, task_id, call["tool_call_id"])
    task = Devtool(tmp_path, settings={"TASK_SWEEP_SECONDS": "0.05"}).client().settled(task_id)
    assert task.state == "failed"
    assert "interrupted" in task.text
    assert not (root / "ran.txt").exists()


def _decide_and_die(folder: Path, task_id: str, call_id: str) -> None:
    """Return what a process leaves that took the decision, stored that it did, and died."""
    store = SqliteTaskStore(folder / "tasks.db", clock=time.time, new_token=new_id)
    stored = store.get(task_id, owner=None)
    assert stored
    message = Message(
        message_id="decision",
        role=Role.USER,
        parts=(Part(data={"tool_call_id": call_id, "selected_option_id": "proceed_once"}),),
        task_id=task_id,
        context_id=stored.task.context_id,
    )
    work = decode_resume_payload(stored.payload)
    work = structs.replace(work, request=structs.replace(work.request, message=message), turn=work.turn + 1)
    events: list[Event] = [status_update(stored.task, TaskState.WORKING), message]
    store.append(task_id, events, expected_version=stored.version, payload=json.encode(work))
    store.close()


def test_a_task_that_waits_long_is_seen_by_whoever_comes_back(tmp_path: Path, root: Path) -> None:
    client = instance(tmp_path, root)
    task_id, call = waiting(client.stream(COUNT))
    events = client.open_stream(
        data={"tool_call_id": call["tool_call_id"], "selected_option_id": "proceed_once"},
        task_id=task_id,
        settings=None,
    )
    next(events)
    events.close()  # type: ignore[attr-defined]
    assert client.settled(task_id).state == "completed"
    assert (root / "ran.txt").read_text() == "ran\n"


def test_a_page_in_a_browser_is_refused(tmp_path: Path, root: Path) -> None:
    client = instance(tmp_path, root)
    body = {"jsonrpc": "2.0", "id": 1, "method": "commands/get"}
    assert client.post("/", body, origin="https://page.example").status == 403
    assert client.post("/", body).status == 200


def test_the_log_says_who_decided_what_on_which_command_or_file_and_has_no_text_of_a_file(
    tmp_path: Path, root: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    client = instance(tmp_path, root)
    logged = []
    for request, decision in (("run sh -c 'exit 3'", "proceed_once"), ("write 'a secret' to new.txt", "cancel")):
        task_id, call = waiting(client.stream(request))
        client.decide(task_id, call["tool_call_id"], decision)
        out = capfd.readouterr().out
        assert "secret" not in out
        logged.append(json.decode(out.splitlines()[-1]))
    assert (
        logged[0].items()
        >= {
            "tool": "run_command",
            "decision": "proceed_once",
            "command": "sh -c 'exit 3'",
            "fault": "command_failed",
            "workspace": str(root),
            "subject": "anonymous:hub",
        }.items()
    )
    assert (logged[1]["decision"], logged[1]["file"]) == ("cancel", str(root / "new.txt"))


@pytest.mark.parametrize("name", [".gitconfig", "sub/.npmrc", ".GIT/hooks/pre-commit", ".githooks/pre-push", ".bashrc"])
def test_a_file_that_programs_obey_is_never_changed(tmp_path: Path, root: Path, name: str) -> None:
    client = instance(tmp_path, root)
    events = client.stream(f"write 'x' to {name}")
    assert events[-1].state == "completed"
    assert not (root / name).exists()


def test_always_covers_files_like_this_one_and_never_a_hidden_one(tmp_path: Path, root: Path) -> None:
    client = instance(tmp_path, root)
    task_id, call = waiting(client.stream("write 'one' to src/one.py"))
    always = call["confirmation_request"]["options"][1]
    assert (always["id"], always["description"].endswith("src/*.py")) == ("proceed_always", True)
    context_id = client.decide(task_id, call["tool_call_id"], "proceed_always")[-1].context_id
    assert client.stream("write 'two' to src/two.py", context_id=context_id)[-1].state == "completed"
    assert (root / "src" / "two.py").read_text() == "two"
    for other in ("three.py", "src/three.txt", "src/deep/three.py"):
        task_id, call = waiting(client.stream(f"write 'three' to {other}", context_id=context_id))
        assert call["input_parameters"]["path"] == other
        client.decide(task_id, call["tool_call_id"], "cancel")
    _, call = waiting(client.stream("write 'four' to src/.four.py", context_id=context_id))
    assert [option["id"] for option in call["confirmation_request"]["options"]] == ["proceed_once", "cancel"]


def test_a_file_whose_link_leads_elsewhere_since_it_was_shown_is_asked_about_again(tmp_path: Path, root: Path) -> None:
    client = instance(tmp_path, root)
    (root / "other").mkdir()
    (root / "link").symlink_to("src")
    task_id, call = waiting(client.stream("write 'one' to link/new.txt"))
    assert call["confirmation_request"]["file_edit_details"]["file_path"].endswith("/src/new.txt")
    (root / "link").unlink()
    (root / "link").symlink_to("other")
    _, call = waiting(client.decide(task_id, call["tool_call_id"], "proceed_once"))
    assert call["confirmation_request"]["file_edit_details"]["file_path"].endswith("/other/new.txt")
    assert not (root / "other" / "new.txt").exists()
    client.decide(task_id, call["tool_call_id"], "proceed_once")
    assert (root / "other" / "new.txt").read_text() == "one"


def test_always_covers_no_other_workspace_of_the_conversation(tmp_path: Path, root: Path) -> None:
    devtool = Devtool(tmp_path)
    client = devtool.client(workspace=root)
    task_id, call = waiting(client.stream("write 'one' to one.py"))
    context_id = client.decide(task_id, call["tool_call_id"], "proceed_always")[-1].context_id
    waiting(devtool.client(workspace=root / "src").stream("write 'two' to two.py", context_id=context_id))
    assert not (root / "src" / "two.py").exists()


def test_a_command_has_a_home_of_its_own_and_sees_nothing_of_the_agent(tmp_path: Path, root: Path) -> None:
    client = instance(tmp_path, root)
    task_id, call = waiting(client.stream("run sh -c 'echo home=$HOME; ls -a $HOME; cat /proc/*/environ | tr \\0 \\n'"))
    done = client.decide(task_id, call["tool_call_id"], "proceed_once")
    text = done[-2].text
    home = text.partition("home=")[2].split()[0]
    assert not Path(home).is_relative_to(root)
    assert not Path(home).exists()
    if isolating_prefix():
        assert "TASK_STORE" not in text
        assert "PYTEST_CURRENT_TEST" not in text


def test_each_person_has_a_workspace_of_their_own_where_it_says_so(root: Path) -> None:
    workspaces = Workspaces((root,), default=root, is_per_person=True)
    ada, bob = workspaces.of("google:ada"), workspaces.of("google:bob")
    assert ada.default is not None
    assert bob.default is not None
    assert ada.default.root != bob.default.root
    assert ada.named(str(bob.default.root)) is None
    assert ada.named(str(root)) is None
    # A hub that does not sign who asks comes as the same one for everybody.
    for nobody in ("", "anonymous:hub"):
        assert workspaces.of(nobody).default is None
        assert workspaces.of(nobody).named(str(root)) is None


def test_a_web_page_is_refused_whatever_name_it_calls_the_agent_by(tmp_path: Path, root: Path) -> None:
    client = instance(tmp_path, root)
    for path in ("/", "/health", "/.well-known/agent-card.json", "/doctor"):
        assert client.post(path, None, verb="GET", origin="http://127.0.0.1:8082").status == 403
        assert client.post(path, None, verb="GET", host="attacker.example:8082").status == 403
        assert client.post(path, None, verb="GET", host="127.0.0.1:8082").status != 403
        assert client.post(path, None, verb="GET", host="[::1]:8082").status != 403


def test_texts_are_in_the_language_of_the_question_to_the_end(tmp_path: Path, root: Path) -> None:
    client = instance(tmp_path, root)
    asked = client.stream("「one」を new.txt に書いて")
    task_id, call = waiting(asked)
    names = [option["name"] for option in call["confirmation_request"]["options"]]
    assert names == ["今回のみ許可", "常に許可", "キャンセル"]
    done = client.decide(task_id, call["tool_call_id"], "proceed_once")
    assert kinds(done)[-2:] == ["TEXT_CONTENT working", "STATE_CHANGE completed"]
    assert done[-2].text == "「new.txt」を作成しました。"
