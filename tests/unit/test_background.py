"""Work beside the requests: what fails goes on, and fills no log."""

import json
import threading

from a2a_hub.runtime.background import Background
from a2a_hub.telemetry.log import Log

_PATIENCE_SECONDS = 10.0


class _Work:
    """Fails until it is mended; each turn waits until it may go on."""

    def __init__(self) -> None:
        self.fails = True
        self.go_on, self._begun = threading.Semaphore(0), threading.Semaphore(0)

    def __call__(self) -> None:
        self._begun.release()
        assert self.go_on.acquire(timeout=_PATIENCE_SECONDS)
        if self.fails:
            raise OSError("the store is away")

    def turns(self, count: int) -> None:
        """So many turns have ended, and the next one has begun."""
        for _ in range(count):
            self.go_on.release()
            assert self._begun.acquire(timeout=_PATIENCE_SECONDS)

    def begun(self) -> None:
        assert self._begun.acquire(timeout=_PATIENCE_SECONDS)


def test_work_that_goes_on_failing_is_told_once_a_minute_and_when_it_works_again() -> None:
    lines: list[bytes] = []
    log = Log(lines.append, clock=lambda: 0.0, new_id=lambda: "1", function="tasks")
    now, work = [1000.0], _Work()
    background = Background(log, now=lambda: now[0])
    background.every(0.0, work, name="The sweep")
    background.start()
    try:
        work.begun()
        work.turns(5)
        assert _told(lines) == ["The sweep failed; it will be tried again"]
        now[0] += 60
        work.turns(5)
        assert len(_told(lines)) == 2
        work.fails = False
        work.turns(5)
        assert _told(lines)[2:] == ["The sweep works again"]
    finally:
        background.stop()
        work.go_on.release(2)


def _told(lines: list[bytes]) -> list[str]:
    return [json.loads(line)["message"] for line in lines]
