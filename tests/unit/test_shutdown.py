"""The end of a process: callbacks side by side, and then the server's own end, even if one of them hangs or fails."""

import threading

from a2a_hub.runtime.shutdown import Shutdown


def test_what_goes_on_elsewhere_is_told_and_then_the_server_ends() -> None:
    shutdown, both, ended = Shutdown(), threading.Barrier(2), threading.Event()
    told: list[str] = []

    def tell() -> None:
        both.wait(30)
        told.append("told")

    shutdown.on_stop(tell)
    shutdown.on_stop(tell)
    shutdown.stop(ended.set)
    assert shutdown.stopping
    assert ended.wait(30)
    assert told == ["told", "told"]


def test_one_that_hangs_has_its_time_and_no_more() -> None:
    shutdown, release, ended = Shutdown(seconds=0.01), threading.Event(), threading.Event()
    shutdown.on_stop(lambda: release.wait(30))
    shutdown.stop(ended.set)
    assert ended.wait(10)
    release.set()


def test_a_process_ends_once() -> None:
    shutdown, ends = Shutdown(), threading.Semaphore(0)
    shutdown.stop(ends.release)
    shutdown.stop(ends.release)
    assert ends.acquire(timeout=30)
    assert not ends.acquire(timeout=0.05)
