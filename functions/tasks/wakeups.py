"""Wake-ups at the tasks function: `POST /wakeups`, and the waking of threads that wait for work."""

import threading
from collections import Counter
from collections.abc import Collection

from a2a_hub.a2a.error_response import read_body
from a2a_hub.a2a.errors import INVALID_REQUEST, METHOD_NOT_ALLOWED, PERMISSION_DENIED, A2AError
from a2a_hub.http.messages import Request, Response
from a2a_hub.identity.principal import HUB_FUNCTION, Principal
from a2a_hub.queue.wakeups import BadEnvelope, read_push, topic_of
from a2a_hub.task_store.store import HUB
from a2a_hub.telemetry.log import Record
from functions.tasks.hub_runs import HubRunStarter

_MOST_BYTES = 100_000


class TopicCondition:
    """A condition per topic. To miss no wake-up: read `count`, look for work, then `wait` for one since."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._condition = threading.Condition()

    def notify(self, topic: str) -> None:
        """Wake the threads that wait for this topic."""
        with self._condition:
            self._counts[topic] += 1
            self._condition.notify_all()

    def count(self, topics: Collection[str]) -> int:
        """Return the number of wake-ups for these topics so far."""
        with self._condition:
            return self._sum(topics)

    def wait(self, topics: Collection[str], *, since: int, timeout_seconds: float) -> bool:
        """Wait until the count of these topics exceeds `since`; return False on a timeout."""
        with self._condition:
            return self._condition.wait_for(lambda: self._sum(topics) > since, timeout_seconds)

    def _sum(self, topics: Collection[str]) -> int:
        return sum(self._counts[topic] for topic in set(topics))


class WakeupEndpoint:
    """The endpoint `POST /wakeups`. It wakes waiting workers, and starts hub runs; a duplicate costs one query."""

    def __init__(self, condition: TopicCondition, *, accounts: frozenset[str], hub_runs: HubRunStarter) -> None:
        """`accounts` are the ones that Pub/Sub pushes as."""
        self._condition = condition
        self._accounts = accounts
        self._hub_runs = hub_runs

    def handle(self, request: Request, principal: Principal, record: Record) -> Response:
        """Return the response. Raise A2AError, also for a body that is not a wake-up."""
        if principal.subject != HUB_FUNCTION and principal.email not in self._accounts:
            raise A2AError(PERMISSION_DENIED, "Only the hub, and the accounts in WAKEUP_ACCOUNTS, tell of tasks here")
        if request.method != "POST":
            raise A2AError(METHOD_NOT_ALLOWED, headers={"allow": "POST"})
        body = read_body(request, _MOST_BYTES)
        try:
            wakeup = read_push(body)
        except BadEnvelope as bad:
            raise A2AError(INVALID_REQUEST, f"This is no wake-up: {bad}") from None
        record |= {"outcome": "woken", "taskId": wakeup.task_id, "topic": wakeup.topic}
        self._condition.notify(wakeup.topic)
        if wakeup.topic == topic_of(HUB):
            self._hub_runs.start_due()
        return Response(status=204)
