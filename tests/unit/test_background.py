"""Work beside the requests: what fails goes on, and fills no log."""

import json

from a2a_hub.runtime.background import Background
from a2a_hub.telemetry.log import Log


class _Work:
    """Fails until it is mended."""

    def __init__(self) -> None:
        self.fails = True
        self.turns = 0

    def __call__(self) -> None:
        self.turns += 1
        if self.fails:
            raise OSError("the store is away")


def test_work_that_goes_on_failing_is_told_once_a_minute_and_when_it_works_again() -> None:
    lines: list[bytes] = []
    log = Log(lines.append, clock=lambda: 0.0, new_id=lambda: "1", function="tasks")
    now, work = [1000.0], _Work()
    background = Background(log, in_threads=False, now=lambda: now[0])
    background.every(0.0, work, name="The sweep")

    def run(times: int) -> None:
        for _ in range(times):
            background.run_due()

    run(5)
    assert _told(lines) == ["The sweep failed; it will be tried again"]
    now[0] += 60
    run(5)
    assert len(_told(lines)) == 2
    work.fails = False
    run(5)
    assert _told(lines)[2:] == ["The sweep works again"]
    assert work.turns == 15


def _told(lines: list[bytes]) -> list[str]:
    return [json.loads(line)["message"] for line in lines]
