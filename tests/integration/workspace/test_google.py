"""What the Workspace worker makes of Google's failures: what is tried again, what the person reads, and what the operator."""

import logging
from typing import Any

import pytest
from google.auth import exceptions

from tests.fakes.http_server import Exchange, HttpServer
from tests.fakes.workspace import Workspace
from tests.fakes.workspace_tools import Bench
from workers.workspace.failures import Cause, GoogleFailed
from workers.workspace.google import Api, Google

_BUSY = (503, {"error": {"code": 503, "message": "Backend error"}})
_LIMIT = (403, {"error": {"code": 403, "errors": [{"reason": "userRateLimitExceeded"}]}})


@pytest.mark.parametrize("trouble", [_BUSY, _LIMIT, None])
def test_what_passes_is_tried_again(workspace: Workspace, bench: Bench, trouble: Any) -> None:
    workspace.add_file("f-1", "Figures", "x")
    workspace.trouble = [("/files", trouble), ("/files", trouble)]
    assert len(bench.use("find_files", words="Figures")["files"]) == 1


def test_what_does_not_pass_is_told_after_three_attempts(workspace: Workspace, bench: Bench) -> None:
    workspace.trouble = [("/files", _BUSY)] * 4
    assert "busy" in bench.use("find_files", words="x")["error"]
    assert len(workspace.trouble) == 1


def test_a_draft_is_never_written_twice_by_itself(workspace: Workspace, bench: Bench) -> None:
    workspace.trouble = [("/drafts", None)]
    assert "cannot be reached" in bench.use("draft_mail", to="aki@example.com", subject="s", body="b")["error"]
    assert len(workspace.mail.drafts) == 1


def test_a_scope_that_is_missing_is_missed_only_where_it_is_needed(
    workspace: Workspace, bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    workspace.scopes = {"drive.readonly"}
    assert bench.use("find_files", words="x") == {"files": []}
    error = bench.use("search_mail", query="x")["error"]
    assert "no access to that part" in error
    assert "gmail.readonly" not in error
    (told,) = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert "https://www.googleapis.com/auth/gmail.readonly" in told
    assert "ya29" not in told


def test_an_api_that_is_off_is_told_with_its_command(
    workspace: Workspace, bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    workspace.faults.switch_on("disable-api", api="calendar")
    assert "its log says" in bench.use("list_events", start="2026-11-24", end="2026-11-25")["error"]
    assert "gcloud services enable calendar-json.googleapis.com" in caplog.text


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ((404, {"error": {"code": 404}}), "nothing like that"),
        ((403, {"error": {"code": 403, "errors": [{"reason": "forbidden"}]}}), "not allow"),
        ((400, {"error": {"code": 400, "message": "Invalid Value"}}), "cannot do that"),
        ((400, "no JSON"), "cannot do that"),
        ((200, "no JSON"), "cannot be reached"),
        ((302, {}), "cannot do that"),
    ],
)
def test_each_failure_has_its_sentence(workspace: Workspace, bench: Bench, answer: Any, told: str) -> None:
    workspace.trouble = [("/files", answer)] * 3
    assert told in bench.use("find_files", words="x")["error"]


@pytest.mark.parametrize(
    ("problem", "cause"),
    [
        (exceptions.RefreshError("503", retryable=True), Cause.UNREACHABLE),  # type: ignore[no-untyped-call]
        (exceptions.TransportError("no route"), Cause.UNREACHABLE),  # type: ignore[no-untyped-call]
        (exceptions.RefreshError("invalid_grant"), Cause.SETTING_UP),  # type: ignore[no-untyped-call]
    ],
)
def test_a_token_that_is_not_to_be_had_now_is_no_fault_of_the_operator(problem: Exception, cause: Cause) -> None:
    def credentials(_: str) -> Any:
        raise problem

    with pytest.raises(GoogleFailed) as failed:
        Google(credentials, first_wait_seconds=0.01).get(Api.DRIVE, "/files", scope="drive.readonly")
    assert failed.value.cause is cause


def test_a_redirect_takes_the_persons_token_nowhere(workspace: Workspace) -> None:
    def redirect(exchange: Exchange) -> None:
        exchange.answer(302, location=f"{elsewhere.url}/files")

    with (
        HttpServer(lambda exchange: exchange.json({"files": []})) as elsewhere,
        HttpServer(redirect) as redirecting,
    ):
        assert "cannot do that" in Bench(workspace, endpoint=redirecting.url).use("find_files", words="x")["error"]
    assert elsewhere.received == []


def test_a_google_that_is_gone_is_told(workspace: Workspace, bench: Bench) -> None:
    bench.use("find_files", words="x")
    workspace.server.__exit__()
    assert "cannot be reached" in bench.use("find_files", words="x")["error"]
