"""Wake-ups at the tasks function: `POST /wakeups`, and the waking of threads that wait for work."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection, Mapping

from a2a_hub.a2a.bindings.exchange import read_body
from a2a_hub.a2a.errors import (
    INVALID_REQUEST,
    METHOD_NOT_ALLOWED,
    PERMISSION_DENIED,
    A2AError,
)
from a2a_hub.http.messages import Request, Response
from a2a_hub.identity.principal import HUB_FUNCTION, Principal
from a2a_hub.queue.wakeups import WAKEUPS_PATH, BadEnvelope, read_push
from a2a_hub.telemetry.log import Record

_MOST_BYTES = 100_000


class TopicCondition:
    """Take `rung` first, then look for work, then `wait` for a ring since: so that none is missed in between."""

    def __init__(self) -> None:
        self._rings: Counter[str] = Counter()
        self._rung = threading.Condition()

    def ring(self, topic: str) -> None:
        """Wakes who waits for this topic."""
        with self._rung:
            self._rings[topic] += 1
            self._rung.notify_all()

    def rung(self, topics: Collection[str]) -> int:
        """How often it has rung for these topics so far."""
        with self._rung:
            return self._sum(topics)

    def wait(self, topics: Collection[str], *, since: int, timeout_seconds: float) -> bool:
        """Waits until it has rung for these topics more often than `since`; False when it did not in time."""
        with self._rung:
            return self._rung.wait_for(lambda: self._sum(topics) > since, timeout_seconds)

    def _sum(self, topics: Collection[str]) -> int:
        return sum(self._rings[topic] for topic in set(topics))


class WakeupEndpoint:
    """Rings the bell, and calls what a topic `starts`. A wake-up that comes twice costs one more look into the store."""

    def __init__(
        self, bell: TopicCondition, *, accounts: frozenset[str], starts: Mapping[str, Callable[[], object]]
    ) -> None:
        """`accounts` are those with which Pub/Sub pushes."""
        self._bell = bell
        self._accounts = accounts
        self._starts = starts

    def handle(self, request: Request, principal: Principal, record: Record) -> Response | None:
        """The answer; None for another path. Raises A2AError, also for a body that is no wake-up."""
        if request.path != WAKEUPS_PATH:
            return None
        if principal.subject != HUB_FUNCTION and principal.email not in self._accounts:
            raise A2AError(
                PERMISSION_DENIED, "Only the hub, and the accounts in WAKEUP_ACCOUNTS, tell of tasks here"
            )
        if request.method != "POST":
            raise A2AError(METHOD_NOT_ALLOWED, headers={"allow": "POST"})
        body = read_body(request, _MOST_BYTES)
        try:
            wakeup = read_push(body)
        except BadEnvelope as bad:
            raise A2AError(INVALID_REQUEST, f"This is no wake-up: {bad}") from None
        record |= {"outcome": "woken", "taskId": wakeup.task_id, "topic": wakeup.topic}
        self._bell.ring(wakeup.topic)
        start = self._starts.get(wakeup.topic)
        if start is not None:
            start()
        return Response(status=204)
