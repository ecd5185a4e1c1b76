"""The circuit breaker: who failed again and again is left alone for a while, then tried by one request."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier

from a2a_hub.routing.routes import BreakerLimits
from functions.hub.downstream.breaker import CircuitBreaker
from functions.hub.failure import Failure, FailureKind

DOWN = Failure(kind=FailureKind.DOWN, fault="unreachable", cause="it is away")
REFUSED = Failure(kind=FailureKind.NOT_ALLOWED, fault="forbidden", cause="the role is missing")


@dataclass
class _Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


def test_it_opens_at_the_threshold_and_says_for_how_long() -> None:
    clock, breaker = _breaker()
    for _ in range(2):
        breaker.failed(DOWN)
        assert breaker.admit().seconds_to_wait == 0
    breaker.failed(DOWN)
    assert breaker.admit().seconds_to_wait == 30
    clock.now += 12
    assert breaker.admit().seconds_to_wait == 18


def test_failures_that_a_success_interrupts_do_not_add_up() -> None:
    _, breaker = _breaker()
    for _ in range(5):
        breaker.failed(DOWN)
        breaker.failed(DOWN)
        breaker.succeeded()
    assert breaker.admit().seconds_to_wait == 0


def test_one_request_tries_again_and_the_others_wait_for_it() -> None:
    clock, breaker = _opened()
    clock.now += 30
    assert breaker.admit().seconds_to_wait == 0
    assert breaker.admit().seconds_to_wait > 0


def test_of_many_callers_at_once_exactly_one_tries_again() -> None:
    callers = 16
    clock, breaker = _opened()
    clock.now += 30
    at_once = Barrier(callers)

    def ask() -> float:
        at_once.wait(timeout=10)
        return breaker.admit().seconds_to_wait

    for _ in range(5):
        with ThreadPoolExecutor(callers) as threads:
            waits = [each.result() for each in [threads.submit(ask) for _ in range(callers)]]
        assert sorted(waits) == [0.0] + [30.0] * (callers - 1)
        breaker.failed(DOWN)
        clock.now += 30


def test_a_trial_that_never_ends_makes_room_for_another_after_the_same_time() -> None:
    clock, breaker = _opened()
    clock.now += 30
    assert breaker.admit().seconds_to_wait == 0
    clock.now += 29
    assert breaker.admit().seconds_to_wait == 1
    clock.now += 1
    assert [breaker.admit().seconds_to_wait for _ in range(2)] == [0, 30]


def test_a_trial_that_succeeds_closes_it() -> None:
    clock, breaker = _opened()
    clock.now += 30
    assert breaker.admit().seconds_to_wait == 0
    breaker.succeeded()
    assert [breaker.admit().seconds_to_wait for _ in range(3)] == [0, 0, 0]


def test_a_trial_that_fails_opens_it_for_as_long_again() -> None:
    clock, breaker = _opened()
    clock.now += 31
    assert breaker.admit().seconds_to_wait == 0
    clock.now += 5
    breaker.failed(DOWN)
    assert breaker.admit().seconds_to_wait == 30


def test_a_trial_that_says_nothing_leaves_the_next_one_to_try() -> None:
    clock, breaker = _opened()
    clock.now += 30
    trial = breaker.admit()
    assert trial.seconds_to_wait == 0
    breaker.undecided(trial)
    assert breaker.admit().seconds_to_wait == 0
    assert breaker.admit().seconds_to_wait > 0


def test_what_says_nothing_does_not_open_a_circuit_earlier() -> None:
    _, breaker = _opened()
    breaker.undecided(breaker.admit())
    assert breaker.admit().seconds_to_wait == 30


def test_a_request_from_before_the_circuit_opened_makes_no_room_for_a_second_trial() -> None:
    clock, breaker = _breaker()
    earlier = breaker.admit()
    for _ in range(3):
        breaker.failed(DOWN)
    clock.now += 30
    assert breaker.admit().seconds_to_wait == 0
    breaker.undecided(earlier)
    assert breaker.admit().seconds_to_wait == 30


def test_a_trial_makes_room_once_and_not_while_its_successor_tries() -> None:
    clock, breaker = _opened()
    clock.now += 30
    first = breaker.admit()
    breaker.undecided(first)
    assert breaker.admit().seconds_to_wait == 0
    breaker.undecided(first)
    assert breaker.admit().seconds_to_wait == 30


def test_an_open_circuit_keeps_the_failure_that_opened_it_last() -> None:
    clock, breaker = _opened()
    assert breaker.admit().opened_by == DOWN
    clock.now += 30
    assert breaker.admit().opened_by is None
    breaker.failed(REFUSED)
    assert breaker.admit().opened_by == REFUSED


def test_a_look_at_the_circuit_is_no_trial() -> None:
    clock, breaker = _breaker()
    assert breaker.pause() is None
    clock, breaker = _opened()
    clock.now += 31
    pause = breaker.pause()
    assert pause is not None
    assert (pause.seconds_to_wait, pause.opened_by) == (0, DOWN)
    assert breaker.admit().seconds_to_wait == 0


def test_without_limits_it_never_opens() -> None:
    breaker = CircuitBreaker(None, clock=_Clock())
    for _ in range(100):
        breaker.failed(DOWN)
    assert (breaker.admit().seconds_to_wait, breaker.pause()) == (0, None)


def _breaker() -> tuple[_Clock, CircuitBreaker]:
    clock = _Clock()
    return clock, CircuitBreaker(BreakerLimits(failures=3, pause_seconds=30), clock=clock)


def _opened() -> tuple[_Clock, CircuitBreaker]:
    clock, breaker = _breaker()
    for _ in range(3):
        breaker.failed(DOWN)
    return clock, breaker
