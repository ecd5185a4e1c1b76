"""What agents say in tests of kept tasks."""

import threading
from collections.abc import Callable, Iterator

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.reply import Piece, Text
from tests.fakes.task_instance import PATIENCE_SECONDS


class Steps:
    """A script that says one text after the other, each when the test lets it."""

    def __init__(self, *texts: str) -> None:
        self._texts = texts
        self._let = threading.Semaphore(0)
        self.reached = threading.Semaphore(0)

    def __call__(self, _: Call) -> Iterator[Piece]:
        for text in self._texts:
            self.reached.release()
            assert self._let.acquire(timeout=PATIENCE_SECONDS)
            yield Text(text, more=True)

    def let(self, count: int = 1) -> None:
        self._let.release(count)

    def await_step(self) -> None:
        assert self.reached.acquire(timeout=PATIENCE_SECONDS)


def at_once(text: str) -> Callable[[Call], Iterator[Piece]]:
    return lambda _: iter((Text(text),))
