"""When a notification that failed is sent again, and when never."""

from email.utils import formatdate

import pytest

from a2a_hub.http.client import Fault, HttpFailure
from a2a_hub.task_store.store import Delivery
from a2a_hub.tasks.webhook_address import AddressRefused
from functions.tasks.webhooks.notification import (
    Failure,
    RetryLimits,
    RetryProspect,
    after_failure,
    failure_of_fault,
    failure_of_status,
)
from tests.contract.task_store.stores import webhook

NOW = 1_700_000_000.0
FAILURE = Failure(reason="it was down")


def _after(failures: int, failure: Failure = FAILURE, *, jitter: float = 1.0, most: int = 150) -> Delivery:
    """A delivery after one failure more than these."""
    return after_failure(
        Delivery(push=webhook("t"), delivered=3, failures=failures),
        failure,
        limits=RetryLimits(max_failures=most),
        now=NOW,
        random=lambda: jitter,
    )


def _pause(delivery: Delivery) -> float:
    return delivery.next_attempt_at - NOW


def test_pauses_double_up_to_an_hour() -> None:
    pauses = [_pause(_after(failures)) for failures in range(14)]
    assert pauses == [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600, 3600]
    assert _pause(_after(10_000, most=20_000)) == 3600


@pytest.mark.parametrize("jitter", [0.0, 0.25, 0.5])
def test_a_pause_is_anything_up_to_its_longest(jitter: float) -> None:
    assert _pause(_after(20, jitter=jitter)) == 3600 * jitter


def test_an_attempt_that_failed_moves_nothing_but_the_next_attempt() -> None:
    after = _after(4)
    assert (after.delivered, after.failures, after.dead) == (3, 5, "")


def test_the_last_failure_says_why_there_is_no_further_attempt() -> None:
    assert _after(148).dead == ""
    assert _after(149).dead == "it was down (150 failed in a row)"


def test_by_default_a_receiver_has_about_three_days() -> None:
    limits, days = 0, 0.0
    while not (delivery := _after(limits, jitter=0.5)).dead:
        days += _pause(delivery) / 86_400
        limits += 1
    assert 2.5 < days < 3.5


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_a_receiver_accepts_with_any_success(status: int) -> None:
    assert failure_of_status(status, None, now=NOW) is None


@pytest.mark.parametrize(
    ("status", "limits"),
    [
        (301, 10),
        (307, 10),
        (400, 10),
        (401, 10),
        (403, 10),
        (404, 10),
        (405, 10),
        (408, 150),
        (410, 1),
        (413, 10),
        (425, 150),
        (429, 150),
        (500, 150),
        (502, 150),
        (503, 150),
        (504, 150),
    ],
)
def test_how_often_a_receiver_is_asked_depends_on_its_answer(status: int, limits: int) -> None:
    failure = failure_of_status(status, None, now=NOW)
    assert failure is not None
    assert _after(limits - 1, failure).dead.startswith(f"the receiver answered with status {status}")
    assert limits == 1 or not _after(limits - 2, failure).dead


@pytest.mark.parametrize(
    ("fault", "prospect"),
    [
        (HttpFailure(Fault.UNREACHABLE, "no connection in time"), RetryProspect.GOOD),
        (HttpFailure(Fault.TLS, "the TLS handshake failed"), RetryProspect.GOOD),
        (AddressRefused(), RetryProspect.POOR),
    ],
)
def test_no_answer_is_a_failure_too(fault: HttpFailure, prospect: RetryProspect) -> None:
    assert failure_of_fault(fault) == Failure(reason=fault.detail, prospect=prospect)


@pytest.mark.parametrize(
    ("retry_after", "pause"),
    [
        ("120", 120.0),
        ("0", 0.0),
        ("999999", 3600.0),
        ("9" * 400, 3600.0),
        (formatdate(NOW + 90, usegmt=True), 90.0),
        (formatdate(NOW - 90, usegmt=True), 0.0),
        ("Tue, 14 Nov 2023 22:14:50 -0000", 90.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 3600.0),
        ("-5", 0.0),
        ("soon", 0.0),
        ("Mon, 01 Jan 99999999999999999999 00:00:00 GMT", 0.0),
        ("Mon, 01 Jan 2024 00:00:00 +99999999999999999999", 0.0),
        ("١٢", 0.0),
        ("", 0.0),
    ],
)
def test_a_receiver_may_ask_for_a_pause_within_bounds(retry_after: str, pause: float) -> None:
    failure = failure_of_status(503, retry_after, now=NOW)
    assert failure is not None
    assert _pause(_after(0, failure, jitter=0.0)) == pause
