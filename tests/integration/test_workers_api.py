"""The life of a task in a worker's hands: leased, renewed, reported on, and ended, by whoever holds its lease and nobody else."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.a2a.model import TaskState
from tests.fakes.tasks_function import Tasks


@pytest.fixture
def tasks(tmp_path: Path) -> Iterator[Tasks]:
    function = Tasks(tmp_path)
    yield function
    function.close()


def test_a_worker_gets_the_task_that_has_waited_longest_with_all_that_it_needs(tasks: Tasks) -> None:
    first = tasks.add("Fix the login page", metadata={"skill": "software-development"})
    tasks.add("Write a parser")
    leased = tasks.lease(roles=["developer"], leaseSeconds=30)
    assert leased.pop("lease")
    (message,) = leased.pop("history")
    assert message["parts"] == [{"text": "Fix the login page"}]
    assert message["metadata"] == {"skill": "software-development"}
    assert leased == {
        "taskId": first.task.id,
        "contextId": first.task.context_id,
        "role": "developer",
        "status": "assigned",
        "attempt": 1,
        "leaseSeconds": 30,
        "version": 1,
        "text": "Fix the login page",
    }


def test_where_nothing_is_due_there_is_no_content(tasks: Tasks) -> None:
    assert tasks.ask("/v1/tasks:lease", {}) == (204, None)
    tasks.add()
    tasks.lease()
    assert tasks.ask("/v1/tasks:lease", {}) == (204, None)


def test_a_task_that_a_wakeup_named_is_leased_once(tasks: Tasks) -> None:
    tasks.add()
    heard = tasks.add("Write a parser")
    assert tasks.lease(taskId=heard.task.id)["text"] == "Write a parser"
    assert tasks.ask("/v1/tasks:lease", {"taskId": heard.task.id}) == (204, None)


def test_progress_is_texts_and_artifacts_in_one_write(tasks: Tasks) -> None:
    tasks.add()
    leased = tasks.lease()
    updates = [
        {"status": "in_progress", "text": "Reading the code"},
        {"artifact": {"artifactId": "patch", "name": "patch", "parts": [{"text": "--- a"}]}},
        {
            "artifact": {"artifactId": "patch", "parts": [{"text": "+++ b"}]},
            "append": True,
            "lastChunk": True,
        },
        {"text": "Running the tests"},
    ]
    status, answer = tasks.write(leased, "progress", updates=updates)
    assert (status, answer) == (
        200,
        {"taskId": leased["taskId"], "status": "in_progress", "version": 5, "cancelRequested": False},
    )
    task = tasks.task(leased)
    assert task.status.state is TaskState.WORKING
    assert task.status.message is not None
    assert task.status.message.parts[0].text == "Running the tests"
    assert [part.text for part in task.artifacts[0].parts] == ["--- a", "+++ b"]


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("created", TaskState.SUBMITTED),
        ("assigned", TaskState.SUBMITTED),
        ("in_progress", TaskState.WORKING),
        ("complete", TaskState.COMPLETED),
        ("blocked", TaskState.FAILED),
        ("failed", TaskState.FAILED),
        ("cancelled", TaskState.CANCELED),
    ],
)
def test_each_word_of_a_worker_is_a_state_of_the_protocol(tasks: Tasks, word: str, state: TaskState) -> None:
    tasks.add()
    leased = tasks.lease()
    assert tasks.write(leased, "progress", updates=[{"status": word}])[0] == 200
    assert tasks.task(leased).status.state is state


def test_work_that_has_begun_does_not_go_back(tasks: Tasks) -> None:
    tasks.add()
    leased = tasks.lease()
    tasks.write(leased, "progress", updates=[{"status": "in_progress"}])
    tasks.write(leased, "progress", updates=[{"status": "assigned"}])
    assert tasks.task(leased).status.state is TaskState.WORKING


def test_a_result_ends_the_task(tasks: Tasks) -> None:
    tasks.add()
    leased = tasks.lease()
    report = {"artifactId": "report", "parts": [{"data": {"tests": 12}}]}
    status, answer = tasks.write(leased, "complete", text="Done: it was a typo", artifacts=[report])
    assert (status, answer["status"]) == (200, "complete")
    task = tasks.task(leased)
    assert task.status.state is TaskState.COMPLETED
    assert [artifact.parts[0].text for artifact in task.artifacts] == ["Done: it was a typo", None]
    assert task.artifacts[1].parts[0].data == {"tests": 12}


def test_the_owner_reads_why_a_task_failed(tasks: Tasks) -> None:
    tasks.add()
    leased = tasks.lease()
    assert tasks.write(leased, "fail", reason="There is no login page")[1]["status"] == "failed"
    status = tasks.task(leased).status
    assert status.state is TaskState.FAILED
    assert status.message is not None
    assert status.message.parts[0].text == "There is no login page"


@pytest.mark.parametrize(
    ("auth", "state", "word"),
    [
        (False, TaskState.INPUT_REQUIRED, "input_required"),
        (True, TaskState.AUTH_REQUIRED, "auth_required"),
    ],
)
def test_a_task_that_waits_for_its_user_is_nobodys(tasks: Tasks, auth: bool, state: TaskState, word: str) -> None:
    tasks.add()
    leased = tasks.lease()
    assert tasks.write(leased, "requireInput", text="Which page?", auth=auth)[1]["status"] == word
    assert tasks.task(leased).status.state is state
    assert tasks.ask("/v1/tasks:lease", {}) == (204, None)
    assert tasks.write(leased, "renew")[1]["reason"] == "LEASE_LOST"


def test_what_is_given_back_can_be_had_at_once_with_the_next_attempts_number(tasks: Tasks) -> None:
    tasks.add()
    leased = tasks.lease()
    assert tasks.write(leased, "release")[1]["status"] == "created"
    again = tasks.lease()
    assert (again["taskId"], again["attempt"]) == (leased["taskId"], 2)


_WRITES: list[tuple[str, dict[str, Any]]] = [
    ("renew", {}),
    ("progress", {"updates": [{"text": "Still here"}]}),
    ("progress", {"updates": []}),
    ("complete", {"text": "Done"}),
    ("fail", {"reason": "No"}),
    ("requireInput", {"text": "Which?"}),
]


@pytest.mark.parametrize(("verb", "fields"), _WRITES)
def test_an_old_lease_is_refused(tasks: Tasks, verb: str, fields: dict[str, Any]) -> None:
    tasks.add()
    old = tasks.lease()
    tasks.write(old, "release")
    tasks.lease()
    status, problem = tasks.write(old, verb, **fields)
    assert (status, problem["reason"]) == (409, "LEASE_LOST")
    assert problem["errors"] == [{"field": "lease", "detail": "is not the task's lease"}]
    assert "drop this work" in problem["detail"]
    assert tasks.task(old).status.state is TaskState.SUBMITTED


@pytest.mark.parametrize(("verb", "fields"), _WRITES)
def test_nothing_can_be_said_of_a_task_that_has_ended(tasks: Tasks, verb: str, fields: dict[str, Any]) -> None:
    tasks.add()
    leased = tasks.lease()
    tasks.write(leased, "complete", text="Done")
    status, problem = tasks.write(leased, verb, **fields)
    assert (status, problem["reason"]) == (409, "TASK_ENDED")
    assert [artifact.parts[0].text for artifact in tasks.task(leased).artifacts] == ["Done"]


def test_what_is_sent_again_after_a_lost_answer_is_not_written_twice(tasks: Tasks) -> None:
    tasks.add()
    leased = tasks.lease()
    update = {"updates": [{"text": "Half of it"}], "version": leased["version"]}
    assert tasks.write(leased, "progress", **update)[1]["version"] == 2
    status, problem = tasks.write(leased, "progress", **update)
    assert (status, problem["reason"]) == (409, "WRONG_VERSION")
    assert not [message for message in tasks.task(leased).history if message.role == "ROLE_AGENT"]


def test_a_renewal_that_is_held_answers_when_the_task_is_cancelled(tasks: Tasks) -> None:
    tasks.add()
    leased = tasks.lease()
    answer = _in_thread(lambda: tasks.write(leased, "renew", waitSeconds=60))
    tasks.store.request_cancel(leased["taskId"])
    status, result = answer()
    assert (status, result["cancelRequested"], result["status"]) == (200, True, "cancelled")
    assert tasks.task(leased).status.state is TaskState.CANCELED


def test_a_renewal_that_is_held_answers_when_the_work_has_ended(tasks: Tasks) -> None:
    tasks.add()
    leased = tasks.lease()
    answer = _in_thread(lambda: tasks.write(leased, "renew", waitSeconds=60))
    assert tasks.write(leased, "complete", text="Done")[0] == 200
    status, result = answer()
    # It may have come after the end.
    assert (status, result.get("status"), result.get("reason")) in ((200, "complete", None), (409, 409, "TASK_ENDED"))


def _in_thread(do: Callable[[], Any]) -> Callable[[], Any]:
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(do()))
    thread.start()

    def answer() -> Any:
        thread.join(30)
        return answers[0]

    return answer


def test_a_renewal_is_held_for_no_longer_than_the_lease(tasks: Tasks) -> None:
    tasks.add()
    leased = tasks.lease()
    assert tasks.write(leased, "renew", leaseSeconds=10, waitSeconds=11)[0] == 400
    assert tasks.write(leased, "renew", leaseSeconds=10, waitSeconds=1)[1]["cancelRequested"] is False


def test_a_renewal_tells_of_a_cancellation_and_the_task_has_ended_with_it(tasks: Tasks) -> None:
    tasks.add()
    leased = tasks.lease()
    assert tasks.write(leased, "renew", leaseSeconds=90)[1]["cancelRequested"] is False
    tasks.store.request_cancel(leased["taskId"])
    status, answer = tasks.write(leased, "renew")
    assert (status, answer["status"], answer["cancelRequested"]) == (200, "cancelled", True)
    assert tasks.task(leased).status.state is TaskState.CANCELED


@pytest.mark.parametrize(("verb", "fields"), [write for write in _WRITES if write[0] != "complete"])
def test_any_other_report_ends_what_was_cancelled_too(tasks: Tasks, verb: str, fields: dict[str, Any]) -> None:
    tasks.add()
    leased = tasks.lease()
    tasks.store.request_cancel(leased["taskId"])
    assert tasks.write(leased, verb, **fields)[1]["cancelRequested"] is True
    assert tasks.task(leased).status.state is TaskState.CANCELED


def test_a_result_that_comes_beside_its_cancellation_is_not_thrown_away(tasks: Tasks) -> None:
    tasks.add()
    leased = tasks.lease()
    tasks.store.request_cancel(leased["taskId"])
    assert tasks.write(leased, "complete", text="Done")[1]["status"] == "complete"
    assert tasks.task(leased).status.state is TaskState.COMPLETED


def test_a_task_that_is_cancelled_while_it_is_given_back_is_given_to_nobody(tasks: Tasks) -> None:
    tasks.add()
    leased = tasks.lease()
    tasks.store.request_cancel(leased["taskId"])
    assert tasks.write(leased, "release")[1]["status"] == "cancelled"
    assert tasks.ask("/v1/tasks:lease", {}) == (204, None)
