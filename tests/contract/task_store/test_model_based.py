"""Lives of tasks that nobody thought of, beside a model."""

import contextlib
import functools
from collections.abc import Callable, Iterator

import grpc
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.contract.task_store.conftest import OpenStore
from tests.contract.task_store.model_based.callers import Callers
from tests.contract.task_store.model_based.workers import Workers
from tests.contract.task_store.stores import Clock
from tests.fakes.grpc_proxy import GrpcProxy

MAX_TASK_BYTES = 400_000
REFUSES = {
    "Commit": (5, grpc.StatusCode.ABORTED),
    "RunQuery": (50, grpc.StatusCode.UNAVAILABLE),
    "BatchGetDocuments": (50, grpc.StatusCode.UNAVAILABLE),
}
LIVES = {"sqlite": settings().max_examples, "firestore": 3}


class TaskStoreMachine(Callers, Workers):
    """All of it."""


@pytest.fixture(autouse=True)
def contention(
    kind: str,
    new_data: Callable[[], OpenStore],  # which names the emulator itself
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[None]:
    """Firestore aborts commits, and is away for a moment: nobody is to notice."""
    with contextlib.ExitStack() as stack:
        if kind == "firestore":
            line = GrpcProxy(request.getfixturevalue("firestore_emulator"), REFUSES)
            monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", stack.enter_context(line).address)
        yield


def test_a_store_says_what_the_model_says(kind: str, new_data: Callable[[], OpenStore], clock: Clock) -> None:
    class OfThisStore(TaskStoreMachine):
        def __init__(self) -> None:
            open_store = functools.partial(new_data(), max_task_bytes=MAX_TASK_BYTES)
            super().__init__(open_store, clock, max_task_bytes=MAX_TASK_BYTES)

    run_state_machine_as_test(
        OfThisStore,
        settings=settings(
            max_examples=LIVES[kind],
            stateful_step_count=40,
            suppress_health_check=list(HealthCheck),
        ),
    )
