"""Bodies from the ASGI server that arrive at the same time."""

import asyncio
from collections.abc import MutableMapping
from typing import Any

from a2a_hub.http.admission import BoundedCounter, Limits
from a2a_hub.http.asgi_body import AsgiBody
from a2a_hub.http.request_body import WaitLimits

LIMITS = Limits(awaited_bodies=2)


async def _read(wait_limits: WaitLimits) -> list[bool]:
    """Read five bodies, which arrive once all are awaited."""
    arrives, awaited = asyncio.Event(), dict[AsgiBody, None]()

    async def receive() -> MutableMapping[str, Any]:
        await arrives.wait()
        return {"type": "http.request", "body": b"12345"}

    bodies = [
        AsgiBody({"content-length": "5"}, receive, limits=LIMITS, held_bytes=BoundedCounter(1000)) for _ in range(5)
    ]
    reads = [asyncio.create_task(body.read(wait_limits, awaited)) for body in bodies]
    await asyncio.wait(reads, timeout=0.0)
    if not wait_limits.pause_seconds:
        await asyncio.wait(reads[:3])
    arrives.set()
    return [await each for each in reads]


def test_a_burst_of_bodies_is_read() -> None:
    assert asyncio.run(_read(WaitLimits(pause_seconds=20.0))) == [True] * 5


def test_of_slow_bodies_the_last_are_read() -> None:
    assert asyncio.run(_read(WaitLimits(pause_seconds=0.0))) == [False] * 3 + [True] * 2


def test_a_client_that_left_before_the_first_question_is_not_there() -> None:
    async def asked(*, has_left: bool) -> bool:
        async def receive() -> dict[str, str]:
            if not has_left:
                await asyncio.Event().wait()
            return {"type": "http.disconnect"}

        body = AsgiBody({}, receive, limits=LIMITS, held_bytes=BoundedCounter(1000))
        is_there = await asyncio.to_thread(body.client_is_there, asyncio.get_running_loop())
        body.release()
        return is_there

    assert not asyncio.run(asked(has_left=True))
    assert asyncio.run(asked(has_left=False))
