"""The client that workers copy: what it makes of cancellations, lost leases, lost answers, outages and its own failures."""

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.fakes.http_server import Exchange, HttpServer
from workers.client import (
    Client,
    Failed,
    Question,
    Refused,
    Work,
    from_environment,
    google_account,
    static_token,
)

_LEASED = {
    "taskId": "task-1",
    "lease": "the-lease",
    "leaseSeconds": 60,
    "version": 1,
    "text": "Fix it",
    "history": [],
    "attempt": 1,
}
Answers = dict[str, list[Callable[[Exchange], None]]]


class Function:
    """A tasks function that gives out one task, and answers each write as it is told to, and then as it should."""

    def __init__(self, answers: Answers | None = None, **leased: Any) -> None:
        self._answers = answers or {}
        self._leased = [json.dumps(_LEASED | leased).encode()]
        self.writes: list[tuple[str, Any]] = []
        self.renewals: list[Any] = []
        self.server = HttpServer(self._behave)
        self.stopping = threading.Event()

    def work(self, do: Callable[[Work], str], **options: Any) -> list[tuple[str, Any]]:
        """The writes of a worker that does the one task and stops; `renewals` are apart, for they come with time."""
        with self.server:
            client = Client(self.server.url, static_token("a-token"), wait_seconds=1, **options)
            client.run(do, stopping=self.stopping)
        return self.writes

    def _behave(self, exchange: Exchange) -> None:
        verb = exchange.received.path.rpartition(":")[2]
        if verb != "lease":
            fields = exchange.received.json
            assert fields.pop("lease") == "the-lease"
            if verb == "renew":
                self.renewals.append(fields)
            else:
                self.writes.append((verb, fields))
        scripted = self._answers.get(verb)
        if scripted:
            scripted.pop(0)(exchange)
        elif verb == "lease" and self._leased:
            exchange.answer(200, self._leased.pop(), content_type="application/json")
        elif verb == "lease":
            self.stopping.set()
            exchange.answer(204)
        else:
            exchange.json({"taskId": "task-1", "status": "", "version": 7, "cancelRequested": False})


def test_an_answer_that_is_no_json_is_an_outage() -> None:
    def page(exchange: Exchange) -> None:
        exchange.answer(200, b"<html>", content_type="text/html")

    assert Function({"complete": [page]}).work(lambda _: "Done") == [("complete", {"version": 1, "text": "Done"})] * 2


def test_a_rejection_that_is_no_json_is_a_rejection() -> None:
    function = Function(
        {"lease": [lambda exchange: exchange.answer(403, b"{", content_type="application/problem+json")]}
    )
    with pytest.raises(Refused, match="status 403"):
        function.work(lambda _: "Done")


def test_what_the_work_returns_is_the_answer() -> None:
    function = Function()
    assert function.work(lambda work: f"Done: {work.text}", roles=["developer"], lease_seconds=9) == [
        ("complete", {"version": 1, "text": "Done: Fix it"})
    ]
    lease = function.server.received[0]
    assert lease.json == {"roles": ["developer"], "leaseSeconds": 9, "waitSeconds": 1}
    assert lease.headers["authorization"] == "Bearer a-token"


@pytest.mark.parametrize(
    ("raised", "write"),
    [
        (Question("Which page?"), ("requireInput", {"version": 1, "text": "Which page?"})),
        (Failed("There is none"), ("fail", {"version": 1, "reason": "There is none"})),
    ],
)
def test_a_question_or_a_failure_is_what_the_user_reads(raised: Exception, write: tuple[str, Any]) -> None:
    def do(_: Work) -> str:
        raise raised

    assert Function().work(do) == [write]


def test_what_goes_wrong_inside_the_work_is_not_told() -> None:
    def do(_: Work) -> str:
        raise ValueError("password=swordfish")

    ((verb, fields),) = Function().work(do)
    assert verb == "fail"
    assert "swordfish" not in fields["reason"]


def test_work_that_returns_what_is_no_json_fails_and_is_not_done_again() -> None:
    returned: Any = b"Done"
    ((verb, fields),) = Function().work(lambda _: returned)
    assert verb == "fail"
    assert "broke off" in fields["reason"]


@pytest.mark.parametrize("reason", ["PAYLOAD_TOO_LARGE", "TASK_TOO_LARGE", "INVALID_PARAMS"])
def test_a_result_that_is_not_taken_fails_the_task_and_is_not_made_again(reason: str) -> None:
    writes = Function({"complete": [_problem(reason)]}).work(lambda _: "Done")
    assert [verb for verb, _ in writes] == ["complete", "fail"]
    assert "broke off" in writes[-1][1]["reason"]


def test_a_worker_that_is_ended_gives_its_task_back() -> None:
    def do(_: Work) -> str:
        raise SystemExit

    function = Function()
    with pytest.raises(SystemExit):
        function.work(do)
    assert function.writes == [("release", {"version": 1})]


def test_progress_goes_on_from_the_version_that_the_function_named() -> None:
    def do(work: Work) -> str:
        work.progress("Halfway", {"artifactId": "a", "parts": []}, append=True)
        return "Done"

    update = {"status": "in_progress", "text": "Halfway"}
    part = {"artifact": {"artifactId": "a", "parts": []}, "append": True}
    assert Function().work(do) == [
        ("progress", {"version": 1, "updates": [update, part]}),
        ("complete", {"version": 7, "text": "Done"}),
    ]


@pytest.mark.parametrize("reason", ["LEASE_LOST", "TASK_ENDED", "WRONG_VERSION"])
def test_a_task_that_somebody_else_has_by_now_is_given_up_and_is_no_failure(
    reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    def do(work: Work) -> str:
        work.progress("Halfway")
        return "Done"

    writes = Function({"progress": [_problem(reason)]}).work(do)
    assert [verb for verb, _ in writes] == ["progress"]
    (told,) = caplog.records
    assert (told.levelname, told.exc_info) == ("WARNING", None)
    assert "task-1 is abandoned" in told.getMessage()


def test_an_outage_that_outlasts_the_lease_is_no_failure_of_the_work() -> None:
    def do(work: Work) -> str:
        work.progress("Halfway")
        return "Done"

    away: Answers = {"progress": [_unavailable] * 50, "renew": [_unavailable] * 50}
    writes = Function(away, leaseSeconds=0.2).work(do)
    assert {verb for verb, _ in writes} == {"progress"}


def _lost(exchange: Exchange) -> None:
    exchange.reset()


def _unavailable(exchange: Exchange) -> None:
    exchange.answer(503, b"{}", content_type="application/problem+json")


def _problem(reason: str) -> Callable[[Exchange], None]:
    body = json.dumps({"reason": reason, "detail": "No"}).encode()
    return lambda exchange: exchange.answer(409, body, content_type="application/problem+json")


@pytest.mark.parametrize("failure", [_lost, _unavailable])
@pytest.mark.parametrize("reason", ["WRONG_VERSION", "TASK_ENDED"])
def test_a_write_whose_answer_was_lost_is_sent_again_and_counts_once(
    failure: Callable[[Exchange], None], reason: str
) -> None:
    function = Function({"complete": [failure, _problem(reason)]})
    assert function.work(lambda _: "Done") == [("complete", {"version": 1, "text": "Done"})] * 2


@pytest.mark.parametrize("status", [408, 429])
def test_a_write_that_comes_at_a_bad_moment_is_sent_again(status: int) -> None:
    answers: Answers = {"complete": [lambda exchange: exchange.answer(status)]}
    assert Function(answers).work(lambda _: "Done") == [("complete", {"version": 1, "text": "Done"})] * 2


def test_what_follows_a_write_whose_answer_was_lost_names_no_version_that_has_passed() -> None:
    def do(work: Work) -> str:
        work.progress("Halfway")
        return "Done"

    writes = Function({"progress": [_lost, _problem("WRONG_VERSION")]}).work(do)
    assert writes[-1] == ("complete", {"version": None, "text": "Done"})


def test_a_write_that_never_arrives_is_given_up_with_the_lease() -> None:
    away: Answers = {"complete": [_lost] * 50, "renew": [_lost] * 500}
    writes = Function(away, leaseSeconds=0.2).work(lambda _: "Done")
    assert 1 <= [verb for verb, _ in writes].count("complete") < 50


@pytest.mark.parametrize("reason", ["LEASE_LOST", "TASK_ENDED", "WRONG_VERSION"])
def test_work_that_goes_on_after_its_lease_is_told_so_and_writes_no_more(reason: str) -> None:
    def do(work: Work) -> str:
        with pytest.raises(Refused, match="No"):
            work.progress("Still here")
        assert work.cancelled.is_set()
        return "Done"

    assert [verb for verb, _ in Function({"progress": [_problem(reason)]}).work(do)] == ["progress"]


@pytest.mark.parametrize(
    "answer",
    [
        lambda exchange: exchange.json({"version": 2, "cancelRequested": True}),
        _problem("LEASE_LOST"),
    ],
)
def test_a_renewal_tells_the_work_that_there_is_no_use_in_it(answer: Callable[[Exchange], None]) -> None:
    def do(work: Work) -> str:
        assert work.cancelled.wait(30)
        return "too late"

    function = Function({"renew": [_unavailable, answer]}, leaseSeconds=1)
    assert function.work(do) == []
    assert function.renewals == [{"leaseSeconds": 1, "waitSeconds": 0}] * 2


def test_a_renewal_is_held_until_the_task_is_cancelled_so_that_the_work_hears_of_it_at_once() -> None:
    working = threading.Event()

    def hold(exchange: Exchange) -> None:
        assert working.wait(30)
        exchange.json({"version": 2, "cancelRequested": True})

    def do(work: Work) -> str:
        working.set()
        assert work.cancelled.wait(30)
        return "too late"

    function = Function({"renew": [hold]}, leaseSeconds=60)
    assert function.work(do) == []
    assert function.renewals == [{"leaseSeconds": 60, "waitSeconds": 20}]


def test_a_function_that_is_away_is_asked_again() -> None:
    function = Function({"lease": [_lost, _unavailable]})
    assert [verb for verb, _ in function.work(lambda _: "Done")] == ["complete"]
    assert len(function.server.received) == 5


def test_a_worker_that_may_not_work_says_why_and_stops() -> None:
    with pytest.raises(Refused, match="No"):
        Function({"lease": [_problem("PERMISSION_DENIED")]}).work(lambda _: "Done")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_takes_a_workers_credential_nowhere(status: int) -> None:
    with HttpServer(lambda exchange: exchange.answer(204)) as elsewhere:
        function = Function({"lease": [lambda exchange: exchange.answer(status, location=elsewhere.url)]})
        with pytest.raises(Refused, match=str(status)):
            function.work(lambda _: "Done")
        assert elsewhere.connections == 0


@pytest.fixture
def metadata() -> Iterator[HttpServer]:
    """Google Cloud's metadata server, as far as a worker needs it."""
    with HttpServer(lambda exchange: exchange.answer(200, b"an-id-token")) as server:
        yield server


def test_an_account_is_shown_to_cloud_run_and_to_the_function(metadata: HttpServer) -> None:
    credential = google_account("https://tasks.example", metadata_url=metadata.url)
    bearer = "Bearer an-id-token"
    assert credential() == {"Authorization": bearer, "X-Serverless-Authorization": bearer}
    (asked,) = metadata.received
    assert asked.path == "/?audience=https%3A%2F%2Ftasks.example"
    assert asked.headers["metadata-flavor"] == "Google"


def test_a_token_in_the_environment_is_what_counts() -> None:
    assert from_environment({"WORKER_TOKEN": "abc"})() == {"Authorization": "Bearer abc"}


def test_a_worker_that_is_nobody_is_told_what_to_set() -> None:
    with HttpServer(lambda _: None, listens=False) as nobody:
        credential = google_account("https://tasks.example", metadata_url=nobody.url)
        with pytest.raises(OSError, match=r"^there is no Google account, and WORKER_TOKEN is not set \("):
            credential()
