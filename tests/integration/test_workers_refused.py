"""What is refused to a worker: others' tasks and roles, and what is no request."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.tasks_function import ALL_ROLES, DEVELOPER, NO_ROLE, REVIEWER, Tasks


@pytest.fixture
def tasks(tmp_path: Path) -> Iterator[Tasks]:
    function = Tasks(tmp_path)
    yield function
    function.close()


def test_for_a_worker_the_tasks_of_other_roles_do_not_exist(tasks: Tasks) -> None:
    tasks.add(role="developer")
    leased = tasks.lease(token=ALL_ROLES, roles=["developer"])
    path, body = f"/v1/tasks/{leased['taskId']}:renew", {"lease": leased["lease"]}
    assert tasks.ask(path, body, token=DEVELOPER)[0] == 200
    assert tasks.ask(path, body, token=REVIEWER)[0] == 404
    assert tasks.ask("/v1/tasks/unknown:renew", body, token=REVIEWER)[0] == 404


def test_the_hubs_own_tasks_are_no_workers(tasks: Tasks) -> None:
    own = tasks.add(role="")
    assert tasks.ask("/v1/tasks:lease", {"taskId": own.task.id, "roles": ["developer"]}, token=ALL_ROLES)[0] == 204
    assert tasks.ask("/v1/tasks:lease", {"roles": [""]}, token=ALL_ROLES)[0] == 403
    assert tasks.ask(f"/v1/tasks/{own.task.id}:renew", {"lease": "any"}, token=ALL_ROLES)[0] == 404


def test_a_foreign_role_is_refused_with_the_workers_own(tasks: Tasks) -> None:
    tasks.add(role="developer")
    status, problem = tasks.ask("/v1/tasks:lease", {"roles": ["architect", "developer"]}, token=REVIEWER)
    assert (status, problem["reason"]) == (403, "PERMISSION_DENIED")
    assert problem["errors"] == [{"field": "roles[1]", "detail": "must be one of architect, reviewer"}]
    assert tasks.ask("/v1/tasks:lease", {}, token=REVIEWER) == (204, None)


def test_who_was_given_no_role_gets_no_work(tasks: Tasks) -> None:
    status, problem = tasks.ask("/v1/tasks:lease", {}, token=NO_ROLE)
    assert status == 403
    assert "works on no role" in problem["detail"]


@pytest.mark.parametrize("token", [None, "somebodys-guess"])
def test_who_does_not_say_who_they_are_gets_nothing(tasks: Tasks, token: str | None) -> None:
    status, problem = tasks.ask("/v1/tasks:lease", {}, token=token)
    assert (status, problem["reason"]) == (401, "UNAUTHENTICATED")


@pytest.mark.parametrize(
    ("verb", "body", "field"),
    [
        (":lease", {"waitSeconds": 61}, "waitSeconds"),
        (":lease", {"waitSeconds": -1}, "waitSeconds"),
        (":lease", {"leaseSeconds": 0}, "leaseSeconds"),
        (":lease", {"leaseSeconds": 601}, "leaseSeconds"),
        (":lease", {"roles": "developer"}, "roles"),
        (":lease", {"taskId": 7}, "taskId"),
        ("/t:renew", {}, "lease"),
        ("/t:renew", {"lease": "a", "leaseSeconds": 0}, "leaseSeconds"),
        ("/t:progress", {"lease": "a"}, "updates"),
        ("/t:progress", {"lease": "a", "updates": [{}]}, "updates[0]"),
        ("/t:progress", {"lease": "a", "updates": [{"status": "done"}]}, "updates[0].status"),
        ("/t:progress", {"lease": "a", "updates": [{"status": "failed"}, {"text": "b"}]}, "updates[1]"),
        (
            "/t:progress",
            {"lease": "a", "updates": [{"artifact": {"parts": []}}]},
            "updates[0].artifact.artifactId",
        ),
        (
            "/t:progress",
            {
                "lease": "a",
                "updates": [{"text": "b"}, {"artifact": {"artifactId": "", "parts": [{"text": "c"}]}}],
            },
            "updates[1].artifact.artifactId",
        ),
        (
            "/t:progress",
            {"lease": "a", "updates": [{"artifact": {"artifactId": "r", "parts": []}}]},
            "updates[0].artifact.parts",
        ),
        ("/t:complete", {"lease": "a"}, "text"),
        (
            "/t:complete",
            {"lease": "a", "text": "b", "artifacts": [{"artifactId": "", "parts": [{"text": "c"}]}]},
            "artifacts[0].artifactId",
        ),
        (
            "/t:complete",
            {"lease": "a", "artifacts": [{"artifactId": "r", "parts": []}]},
            "artifacts[0].parts",
        ),
        ("/t:fail", {"lease": "a", "reason": " "}, "reason"),
        ("/t:requireInput", {"lease": "a", "text": ""}, "text"),
        ("/t:requireInput", {"lease": "a", "text": "b", "auth": "yes"}, "auth"),
    ],
)
def test_what_is_wrong_with_a_request_is_named(tasks: Tasks, verb: str, body: dict[str, Any], field: str) -> None:
    task = tasks.add()
    status, problem = tasks.ask(f"/v1/tasks{verb}".replace("/t:", f"/{task.task.id}:"), body)
    assert (status, problem["status"]) == (400, 400)
    assert [error["field"] for error in problem["errors"]] == [field]


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/v1/tasks:lease", b"{", 400),
        ("POST", "/v1/tasks:lease", b"[]", 400),
        ("POST", "/v1/tasks:lease", b" " * 3000, 413),
        ("GET", "/v1/tasks:lease", b"", 405),
        ("POST", "/v1/tasks/a:steal", b"{}", 404),
        ("POST", "/v1/tasks/a", b"{}", 404),
        ("POST", "/v1/tasks/a/b:renew", b"{}", 404),
        ("POST", "/internal/tasks:run", b"{}", 404),
    ],
)
def test_what_is_no_request_of_a_worker_is_refused(
    tmp_path: Path, method: str, path: str, body: bytes, status: int
) -> None:
    tasks = Tasks(tmp_path, MAX_BODY_BYTES="2000")
    response = tasks.request(path, body, token=DEVELOPER, method=method)
    assert response.status == status
    assert response.headers["content-type"] == "application/problem+json"
    tasks.close()
