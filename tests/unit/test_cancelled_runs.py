"""A run is cancelled once, however often that is asked for: an instance looks again and again whether its owner wants it."""

from collections.abc import Callable

from msgspec import structs

from a2a_hub.a2a.call import Call, CurrentTask
from a2a_hub.runtime.threads import Threads
from a2a_hub.tasks.run import Run
from tests.fakes.task_instance import a_call


class _AtOnce(Threads):
    def __init__(self) -> None:
        super().__init__("none")

    def run(self, work: Callable[[], object]) -> None:
        work()


def test_whoever_works_for_a_run_is_told_of_its_cancellation_at_the_first_time_and_not_again() -> None:
    told: list[Call] = []
    call = structs.replace(a_call(), task=CurrentTask(id="task-1", notes={"running": "the agent's task"}))
    run = Run(call, iter(()), tell=told.append, threads=_AtOnce())
    run.cancel()
    assert [each.task.notes for each in told if each.task] == [{"running": "the agent's task"}]
    assert call.cancellation.cancelled
    run.cancel()
    assert len(told) == 1
