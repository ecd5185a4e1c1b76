"""Google's SDK over this project's own HTTP: one deadline, bounded silence and size, and a caller who leaves ends the call.

Imported when the first question is asked, as is the SDK.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

import httpx2

from a2a_hub.http.client import Answer, Budget, HttpClient
from a2a_hub.http.messages import Cancellation


class Sent:
    """What was sent for one question. `close` lets go of its connection; idempotent."""

    def __init__(self, budget: Budget, cancellation: Cancellation) -> None:
        self.budget = budget
        self.cancellation = cancellation
        self.answer: Answer | None = None

    def close(self) -> None:
        """Gives the answer up, unless it was read to its end."""
        if self.answer is not None:
            self.answer.close()


class Transport(httpx2.BaseTransport):
    """Sends what the SDK asks for within the limits of the thread's present `sending`."""

    def __init__(self, http: HttpClient) -> None:
        self._http = http
        self._present = threading.local()

    @contextlib.contextmanager
    def sending(self, sent: Sent) -> Iterator[None]:
        """Requests of this thread belong to `sent` meanwhile."""
        self._present.sent = sent
        try:
            yield
        finally:
            del self._present.sent

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """See `httpx2.BaseTransport`. Raises HttpFailure."""
        sent: Sent = self._present.sent
        # The body is read as it comes; nothing here would unpack it.
        headers = {name: value for name, value in request.headers.items() if name != "accept-encoding"}
        sent.answer = answer = self._http.request(
            request.method,
            str(request.url),
            headers=headers,
            body=request.read(),
            budget=sent.budget,
            cancellation=sent.cancellation,
        )
        return httpx2.Response(
            answer.status, headers=list(answer.headers.items()), stream=_Body(answer), request=request
        )


class NoTransport(httpx2.AsyncBaseTransport):
    """For the SDK's other client, which nobody uses: it would read the certificates of every authority."""


class _Body(httpx2.SyncByteStream):
    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        return self._answer.chunks()

    def close(self) -> None:
        self._answer.close()
