"""Lives of tasks that nobody thought of, beside a model."""

import functools
from collections.abc import Callable

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.contract.task_store.conftest import OpenStore
from tests.contract.task_store.lives.callers import Callers
from tests.contract.task_store.lives.workers import Workers
from tests.contract.task_store.stores import Clock

MOST_TASK_BYTES = 400_000
LIVES = {"sqlite": 25, "firestore": 3}


class Life(Callers, Workers):
    """All of it."""


def test_a_store_says_what_the_model_says(kind: str, new_data: Callable[[], OpenStore], clock: Clock) -> None:
    class OfThisStore(Life):
        def __init__(self) -> None:
            open_store = functools.partial(new_data(), most_task_bytes=MOST_TASK_BYTES)
            super().__init__(open_store, clock, most_task_bytes=MOST_TASK_BYTES)

    run_state_machine_as_test(
        OfThisStore,
        settings=settings(
            max_examples=LIVES[kind],
            stateful_step_count=40,
            suppress_health_check=list(HealthCheck),
        ),
    )
