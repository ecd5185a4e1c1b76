"""A question to a role is answered by a worker: hub, tasks function and worker are real processes."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from local.functions import ROOT
from tests.e2e.worker_runs import OTHER_USER, REVIEWER, WorkedHub, WorkerProcess, request, worked_hub

ECHO = ("-m", "workers.echo", "developer")
_SETTINGS = {"WORKER_POLL_SECONDS": "0.5", "TASK_UI_SECONDS": "30", "KEEP_ALIVE_SECONDS": "0.2"}
TASK = "Fix the bug in the login page"


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkedHub]:
    """One run for all of these tests."""
    with worked_hub(tmp_path_factory.mktemp("worked"), **_SETTINGS) as hub:
        yield hub


@pytest.fixture
def echo(hub: WorkedHub) -> Iterator[WorkerProcess]:
    with WorkerProcess(hub, *ECHO) as worker:
        yield worker


@pytest.mark.usefixtures("echo")
def test_a_question_to_a_role_is_answered_by_its_worker(hub: WorkedHub) -> None:
    (artifact,) = hub.send(TASK)["task"]["artifacts"]
    assert artifact["parts"] == [{"text": f"You said: {TASK}"}]


@pytest.mark.usefixtures("echo")
def test_the_answer_is_streamed(hub: WorkedHub) -> None:
    answer = hub.user().post("/", request(TASK, streaming=True), {"A2A-Version": "1.0"})
    results = [event["result"] for event in answer.events()]
    assert "task" in results[0]
    states = [result["statusUpdate"]["status"]["state"] for result in results if "statusUpdate" in result]
    assert states == ["TASK_STATE_WORKING", "TASK_STATE_COMPLETED"]
    texts = [
        part["text"]
        for result in results
        if "artifactUpdate" in result
        for part in result["artifactUpdate"]["artifact"]["parts"]
    ]
    assert texts == [f"You said: {TASK}"]


@pytest.mark.usefixtures("echo")
def test_a_user_interface_gets_one_text(hub: WorkedHub) -> None:
    result = hub.user().post("/", request(TASK, ui=True)).json["result"]
    assert result["kind"] == "message"
    assert result["parts"] == [{"kind": "text", "text": f"You said: {TASK}"}]


def test_a_user_interface_whose_patience_ends_gets_a_number_to_ask_by(tmp_path: Path) -> None:
    with worked_hub(tmp_path, **{**_SETTINGS, "TASK_UI_SECONDS": "1"}) as impatient:
        result = impatient.user(OTHER_USER).post("/", request(TASK, ui=True)).json["result"]
        (part,) = result["parts"]
        assert "/task 1" in part["text"]
        with WorkerProcess(impatient, *ECHO):
            listed = _settled(impatient, token=OTHER_USER)
            assert listed["status"]["state"] == "TASK_STATE_COMPLETED"
        told = impatient.user(OTHER_USER).post("/", request("/task 1", ui=True)).json["result"]
        assert f"You said: {TASK}" in told["parts"][0]["text"]


@pytest.mark.parametrize("streaming", [False, True])
def test_a_user_interface_reads_why_a_task_failed(hub: WorkedHub, streaming: bool) -> None:
    program = "raise SystemExit(3)"
    arguments = ("-m", "workers.shell_command", "--role", "developer", "--", sys.executable, "-c", program)
    with WorkerProcess(hub, *arguments):
        answer = hub.user().post("/", request(TASK, ui=True, streaming=streaming))
    if not streaming:
        assert "status 3" in answer.json["result"]["parts"][0]["text"]
        return
    *_, artifact, last = [event["result"] for event in answer.events()]
    assert "status 3" in artifact["artifact"]["parts"][0]["text"]
    assert (last["status"]["state"], last["final"]) == ("completed", True)


@pytest.mark.usefixtures("echo")
def test_what_a_worker_asks_the_user_answers_by_context_alone(hub: WorkedHub) -> None:
    asked = hub.send("Is there a bug in the login page?")["task"]
    assert asked["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
    assert asked["status"]["message"]["parts"] == [{"text": "Do you mean: Is there a bug in the login page?"}]
    done = hub.send("Yes, on the second page", context_id=asked["contextId"])["task"]
    assert done["id"] == asked["id"]
    assert done["artifacts"][0]["parts"] == [{"text": "You said: Yes, on the second page"}]
    said = [message["parts"][0]["text"] for message in done["history"]]
    assert said[:3] == [
        "Is there a bug in the login page?",
        "Do you mean: Is there a bug in the login page?",
        "Yes, on the second page",
    ]


def test_a_worker_gets_the_history_with_the_answer(hub: WorkedHub) -> None:
    task = hub.send(TASK, at_once=True)["task"]
    leased = hub.lease(waitSeconds=30).json
    hub.write(leased, "requireInput", text="Which page?")
    assert hub.lease().status == 204
    hub.send("The second one", context_id=task["contextId"], at_once=True)
    again = hub.lease(waitSeconds=30).json
    assert (again["taskId"], again["text"], again["attempt"]) == (task["id"], "The second one", 1)
    said = [message["parts"][0]["text"] for message in again["history"]]
    assert said == [TASK, "Which page?", "The second one"]
    hub.write(again, "complete", text="Done")


def test_a_dead_workers_task_goes_to_the_next_and_the_old_lease_is_refused(hub: WorkedHub) -> None:
    task = hub.send(TASK, at_once=True)["task"]
    first = hub.lease(waitSeconds=30, leaseSeconds=1).json
    again = _until_leased(hub)
    assert (again["taskId"], again["attempt"]) == (task["id"], 2)
    refused = hub.write(first, "complete", text="Too late")
    assert (refused.status, refused.json["reason"]) == (409, "LEASE_LOST")
    assert refused.media_type == "application/problem+json"
    hub.write(again, "complete", text="In time")
    done = hub.operation("GetTask", {"id": task["id"]})
    assert [artifact["parts"][0]["text"] for artifact in done["artifacts"]] == ["In time"]


def test_a_worker_that_is_killed_loses_its_task_to_the_next(hub: WorkedHub, tmp_path: Path) -> None:
    program = tmp_path / "holding.py"
    program.write_text(_HOLDING)
    task = hub.send(TASK, at_once=True)["task"]
    with WorkerProcess(hub, str(program)) as holding:
        assert holding.line() == f"holds attempt 1 of {task['id']}"
        holding.kill()
    with WorkerProcess(hub, str(program)) as holding:
        assert holding.line() == f"holds attempt 2 of {task['id']}"
        hub.operation("CancelTask", {"id": task["id"]})
        assert holding.line() == "was told to stop"
    assert hub.operation("GetTask", {"id": task["id"]})["status"]["state"] == "TASK_STATE_CANCELED"


def test_a_cancellation_reaches_a_running_worker_at_its_next_renewal(hub: WorkedHub) -> None:
    task = hub.send(TASK, at_once=True)["task"]
    leased = hub.lease(waitSeconds=30).json
    assert hub.write(leased, "renew").json["cancelRequested"] is False
    hub.operation("CancelTask", {"id": task["id"]})
    answer = hub.write(leased, "renew").json
    assert (answer["cancelRequested"], answer["status"]) == (True, "cancelled")
    assert hub.operation("GetTask", {"id": task["id"]})["status"]["state"] == "TASK_STATE_CANCELED"


def test_a_worker_that_left_while_it_waited_is_given_nothing(hub: WorkedHub) -> None:
    with WorkerProcess(hub, *ECHO) as worker:
        hub.send(TASK)
        worker.kill()
    task = hub.send(TASK, at_once=True)["task"]
    leased = hub.lease(waitSeconds=30).json
    assert (leased["taskId"], leased["attempt"]) == (task["id"], 1)
    hub.write(leased, "complete", text="Done")


def test_a_worker_of_another_role_never_sees_it(hub: WorkedHub) -> None:
    task = hub.send(TASK, at_once=True)["task"]
    reviewer = hub.worker(REVIEWER)
    assert reviewer.post("/v1/tasks:lease", {}).status == 204
    assert reviewer.post("/v1/tasks:lease", {"roles": ["developer"]}).status == 403
    assert reviewer.post(f"/v1/tasks/{task['id']}:renew", {"lease": "guessed"}).status == 404
    hub.operation("CancelTask", {"id": task["id"]})


def test_a_command_does_the_work(hub: WorkedHub) -> None:
    count = "import sys; print(len(sys.stdin.read().split()), 'words')"
    arguments = ("-m", "workers.shell_command", "--role", "developer", "--", sys.executable, "-c", count)
    with WorkerProcess(hub, *arguments):
        (artifact,) = hub.send("Fix the bug; rm -rf $HOME && `reboot`")["task"]["artifacts"]
    assert artifact["parts"] == [{"text": "8 words"}]


def test_the_ten_lines_of_the_documentation_are_a_worker(hub: WorkedHub, tmp_path: Path) -> None:
    documentation = (ROOT / "docs/workers.md").read_text(encoding="utf-8")
    program = tmp_path / "shouting.py"
    program.write_text(documentation.partition("```python\n")[2].partition("```")[0])
    assert len([line for line in program.read_text().splitlines() if line]) <= 10
    with WorkerProcess(hub, str(program)):
        assert hub.send(TASK)["task"]["artifacts"][0]["parts"] == [{"text": TASK.upper()}]


@pytest.mark.parametrize(
    ("text", "skill", "role"),
    [
        ("Anything at all", "crm", "crm"),
        ("Review my pull request", None, "reviewer"),
        ("テスト計画を書いて", None, "qa"),
        ("Who can help me?", None, "coordinator"),
    ],
)
def test_the_skill_or_the_words_or_the_default_decide_whose_task_it_is(
    hub: WorkedHub, text: str, skill: str | None, role: str
) -> None:
    task = hub.send(text, skill=skill, at_once=True)["task"]
    anybody = hub.worker("a-development-token")
    leased = anybody.post("/v1/tasks:lease", {"taskId": task["id"]}).json
    assert leased["role"] == role
    path = f"/v1/tasks/{task['id']}:complete"
    assert anybody.post(path, {"lease": leased["lease"], "text": "Done"}).status == 200


def test_an_unknown_skill_is_a_bad_request_that_names_the_known_ones(hub: WorkedHub) -> None:
    message = {
        "messageId": "unknown-skill",
        "role": "ROLE_USER",
        "parts": [{"text": "Hello"}],
        "metadata": {"skill": "plumbing"},
    }
    version = {"A2A-Version": "1.0"}
    answer = hub.user().post("/v1/message:send", {"message": message}, version)
    assert answer.status == 400
    assert "software-development" in answer.body.decode()
    answer = hub.user().post("/tools/query", {"query": "Hello", "route": "plumbing"})
    assert answer.status == 400
    assert "software-development" in answer.body.decode()
    # In JSON-RPC, the transport succeeds.
    request = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}
    answer = hub.user().post("/", request, version)
    assert (answer.status, answer.json["error"]["code"]) == (200, -32602)
    assert "software-development" in answer.json["error"]["message"]


_HOLDING = """
import os
from workers.client import Client, Work
from workers.client import from_environment

def hold(work: Work) -> str:
    print("holds attempt", work.attempt, "of", work.task_id, flush=True)
    work.cancelled.wait()
    print("was told to stop", flush=True)
    return "nothing"

Client(os.environ["TASKS_URL"], from_environment(os.environ), roles=["developer"], lease_seconds=2).run(hold)
"""


def _until_leased(hub: WorkedHub) -> Any:
    for _ in range(60):
        answer = hub.lease(waitSeconds=1)
        if answer.status == 200:
            return answer.json
    raise AssertionError("nothing became due")


def _settled(hub: WorkedHub, *, token: str) -> Any:
    """The caller's newest task, when its turn has ended."""
    (task,) = hub.operation("ListTasks", {"pageSize": 1}, token=token)["tasks"]
    subscribe = {"jsonrpc": "2.0", "id": 1, "method": "SubscribeToTask", "params": {"id": task["id"]}}
    hub.user(token).post("/", subscribe, {"A2A-Version": "1.0"}).events()
    return hub.operation("GetTask", {"id": task["id"]}, token=token)
