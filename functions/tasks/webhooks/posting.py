"""Posts one entry of a task's log to its receiver, once."""

from __future__ import annotations

from collections.abc import Callable

from a2a_hub.http.client import Budget, HttpClient, HttpFailure
from a2a_hub.task_store.push import PushConfig
from functions.tasks.webhooks.attempts import Failure, Prospect, of_answer, of_fault
from functions.tasks.webhooks.notification import Told, headers
from functions.tasks.webhooks.signing import Signer

_MOST_ANSWER_BYTES = 64_000


class Posting:
    """`refuses` says of a URL why it may not be notified now. Without a `signer`, nothing is signed."""

    def __init__(
        self,
        *,
        http: HttpClient,
        refuses: Callable[[str], str | None],
        signer: Signer | None,
        timeout_seconds: float,
        now: Callable[[], float],
    ) -> None:
        """`now` is the time of day, which a receiver's Retry-After may name."""
        self._http = http
        self._refuses = refuses
        self._signer = signer
        self.timeout_seconds = timeout_seconds
        self._now = now

    def post(self, push: PushConfig, each: Told) -> Failure | None:
        """Why the receiver has not taken it; None where it has."""
        reason = self._refuses(push.config.url)
        if reason is not None:
            return Failure(reason=f"the URL {reason}", prospect=Prospect.POOR)
        budget = Budget(
            deadline=self._http.clock() + self.timeout_seconds,
            connect_seconds=self.timeout_seconds / 2,
            idle_seconds=self.timeout_seconds,
            max_bytes=_MOST_ANSWER_BYTES,
        )
        said = headers(push, each, signer=self._signer)
        try:
            answer = self._http.request("POST", push.config.url, headers=said, body=each.body, budget=budget)
        except HttpFailure as failure:
            return of_fault(failure)
        # The status decides. What else the receiver says is read only so that the connection can be used again.
        failed = of_answer(answer.status, answer.headers.get("retry-after"), now=self._now())
        answer.finish(within_seconds=self.timeout_seconds / 10)
        return failed
