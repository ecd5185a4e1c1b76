"""Workers that wait for work, wake-ups that end the wait, and tasks that nobody may have any more."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from a2a_hub.a2a.model import TaskState
from a2a_hub.queue.wakeups import Wakeup, push_body, topic_of
from a2a_hub.settings.reader import SettingsError
from tests.fakes.id_tokens import AUDIENCE, CALLER, Signer, certificates
from tests.fakes.tasks_function import ALL_ROLES, DEVELOPER, REVIEWER, Tasks

PUBSUB = "pubsub@project.iam.gserviceaccount.com"


@pytest.fixture
def tasks(tmp_path: Path) -> Iterator[Tasks]:
    function = Tasks(tmp_path)
    yield function
    function.close()


def test_a_wakeup_ends_the_wait_for_a_task_of_its_role(tasks: Tasks) -> None:
    waiting = _in_thread(lambda: tasks.ask("/v1/tasks:lease", {"waitSeconds": 60}))
    stored = tasks.add()
    # The worker may not wait yet: a wake-up before it looks is one that it does not need.
    status, leased = _woken(tasks, "developer", waiting)
    assert (status, leased["taskId"]) == (200, stored.task.id)


def test_who_waits_for_one_role_is_not_given_anothers_task(tasks: Tasks) -> None:
    waiting = _in_thread(lambda: tasks.ask("/v1/tasks:lease", {"waitSeconds": 60}, token=REVIEWER))
    tasks.add(role="developer")
    _wake(tasks, "developer")
    mine = tasks.add(role="architect")
    status, leased = _woken(tasks, "architect", waiting)
    assert (status, leased["taskId"]) == (200, mine.task.id)


def test_work_that_nobody_told_of_is_found_by_looking(tmp_path: Path) -> None:
    tasks = Tasks(tmp_path, WORKER_POLL_SECONDS="0.02")
    waiting = _in_thread(lambda: tasks.ask("/v1/tasks:lease", {"waitSeconds": 60}))
    stored = tasks.add()
    assert waiting()[1]["taskId"] == stored.task.id
    tasks.close()


def test_a_wait_ends_without_content_when_nothing_comes(tmp_path: Path) -> None:
    tasks = Tasks(tmp_path)
    assert tasks.ask("/v1/tasks:lease", {"waitSeconds": 1}) == (204, None)
    tasks.close()


def test_more_workers_than_there_are_places_for_are_not_held(tmp_path: Path) -> None:
    tasks = Tasks(tmp_path, WORKER_WAITS_AT_ONCE="1", WORKER_POLL_SECONDS="0.02")
    answers: SimpleQueue[tuple[int, Any]] = SimpleQueue()

    def wait(token: str) -> None:
        answers.put(tasks.ask("/v1/tasks:lease", {"waitSeconds": 60}, token=token))

    threads = [threading.Thread(target=wait, args=(token,)) for token in (DEVELOPER, REVIEWER)]
    for thread in threads:
        thread.start()
    assert answers.get(timeout=30) == (204, None)
    tasks.add(role="developer")
    tasks.add(role="architect")
    assert answers.get(timeout=30)[0] == 200
    for thread in threads:
        thread.join()
    tasks.close()


def test_the_same_wakeup_twice_and_one_of_a_task_that_is_done_do_no_harm(tasks: Tasks) -> None:
    stored = tasks.add()
    for _ in range(2):
        assert _wake(tasks, "developer", stored.task.id) == 204
    leased = tasks.lease()
    tasks.write(leased, "complete", text="Done")
    assert _wake(tasks, "developer", stored.task.id) == 204
    assert tasks.task(leased).status.state is TaskState.COMPLETED


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"message":{"data":"%%%"}}',
        b'{"message":{"data":"e30="}}',
        b'{"message":{"data":"bm8="}}',
    ],
)
def test_what_is_no_wakeup_is_refused(tasks: Tasks, body: bytes) -> None:
    response = tasks.request("/wakeups", body, **tasks.signed("hub", path="/wakeups", body=body))
    assert response.status == 400
    assert response.headers["content-type"] == "application/problem+json"


def test_a_wakeup_is_posted(tasks: Tasks) -> None:
    assert tasks.request("/wakeups", b"", method="GET", token=ALL_ROLES).status == 403
    body = b"x" * 200_000
    assert tasks.request("/wakeups", body, **tasks.signed("hub", path="/wakeups", body=body)).status == 413


@pytest.mark.parametrize(
    ("function", "path", "audience", "status"),
    [
        ("hub", "/wakeups", "tasks", 204),
        ("hub", "/wakeups", "hub", 401),
        ("hub", "/v1/tasks:lease", "tasks", 401),
        ("tasks", "/wakeups", "tasks", 401),
        ("gate", "/wakeups", "tasks", 401),
    ],
)
def test_the_hub_wakes_and_nobody_who_only_looks_like_it(
    tasks: Tasks, function: str, path: str, audience: str, status: int
) -> None:
    body = _push("developer")
    signed = tasks.signed(function, path=path, body=body, audience=audience)
    assert tasks.request("/wakeups", body, **signed).status == status
    another = tasks.signed(function, path=path, body=b"{}", audience=audience)
    assert tasks.request("/wakeups", body, **another).status == 401


def test_a_worker_does_not_wake_others_and_nobody_does_without_saying_who_they_are(tasks: Tasks) -> None:
    assert tasks.request("/wakeups", _push("developer"), token=ALL_ROLES).status == 403
    assert tasks.request("/wakeups", _push("developer")).status == 401


def test_an_id_token_wakes_or_works_as_its_account_may(tmp_path: Path) -> None:
    signer = Signer()
    with certificates(signer) as google:
        tasks = Tasks(
            tmp_path,
            ID_TOKEN_AUDIENCES=AUDIENCE,
            GOOGLE_CERTS_URL=google.url,
            WAKEUP_ACCOUNTS=PUBSUB,
            WORKER_ACCOUNTS=f"{CALLER}=developer, {CALLER}=architect",
        )
        tasks.add()
        pubsub, worker = signer.token(email=PUBSUB), signer.token()
        unverified = signer.token(email_verified=False)
        assert tasks.request("/wakeups", _push("developer"), token=pubsub).status == 204
        assert tasks.request("/wakeups", _push("developer"), token=worker).status == 403
        assert tasks.request("/wakeups", _push("developer"), token=Signer().token(email=PUBSUB)).status == 401
        assert tasks.ask("/v1/tasks:lease", {}, token=pubsub)[0] == 403
        assert tasks.ask("/v1/tasks:lease", {}, token=unverified)[0] == 403
        assert tasks.ask("/v1/tasks:lease", {"roles": ["reviewer"]}, token=worker)[0] == 403
        assert tasks.lease(token=worker)["role"] == "developer"
        tasks.close()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Fix the login page", "started 2 times but never finished"),
        ("ログイン画面を直して", "2回試みられましたが"),
    ],
)
def test_a_task_that_was_begun_too_often_fails_with_a_sentence(tmp_path: Path, text: str, said: str) -> None:
    tasks = Tasks(tmp_path, TASK_MOST_ATTEMPTS="2")
    tasks.add(text)
    for _ in range(2):
        leased = tasks.lease()
        tasks.write(leased, "release")
    after = tasks.add("Write a parser")
    assert tasks.lease()["taskId"] == after.task.id
    status = tasks.task(leased).status
    assert status.state is TaskState.FAILED
    assert status.message is not None
    assert said in (status.message.parts[0].text or "")
    tasks.close()


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("WORKER_ACCOUNTS", "developer"),
        ("WORKER_ACCOUNTS", "worker@project=developer,worker@project"),
        ("TASK_MOST_ATTEMPTS", "0"),
        ("WORKER_WAITS_AT_ONCE", "many"),
    ],
)
def test_a_wrong_setting_stops_the_start(tmp_path: Path, setting: str, value: str) -> None:
    with pytest.raises(SettingsError, match=setting):
        Tasks(tmp_path, **{setting: value})


def _push(role: str, task_id: str = "task-1") -> bytes:
    return push_body(Wakeup(topic_of(role), task_id), message_id="1")


def _wake(tasks: Tasks, role: str, task_id: str = "task-1") -> int:
    body = _push(role, task_id)
    return tasks.request("/wakeups", body, **tasks.signed("hub", path="/wakeups", body=body)).status


def _woken(tasks: Tasks, role: str, waiting: Callable[[], Any]) -> Any:
    assert _wake(tasks, role) == 204
    return waiting()


def _in_thread(do: Callable[[], Any]) -> Callable[[], Any]:
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(do()))
    thread.start()

    def answer() -> Any:
        thread.join(30)
        return answers[0]

    return answer
