"""The pool of threads without a limit."""

import threading
import weakref

from a2a_hub.runtime.threads import Threads


class _Work:
    def __init__(self) -> None:
        self.done = threading.Event()
        self.freed = threading.Event()
        weakref.finalize(self, self.freed.set)

    def __call__(self) -> None:
        self.done.set()


def test_a_free_thread_keeps_nothing_of_its_work() -> None:
    threads = Threads("test")
    # The first comes with the thread, the second to it.
    for _ in range(2):
        work = _Work()
        done, freed = work.done, work.freed
        threads.run(work)
        del work
        assert done.wait(30)
        assert freed.wait(10)
