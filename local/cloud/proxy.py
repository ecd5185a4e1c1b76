"""Passes requests on as they are, and answers back piece by piece as they come."""

from __future__ import annotations

from a2a_hub.http.client import Budget, Fault, HttpClient, HttpFailure
from a2a_hub.http.messages import Request, Response

_SECONDS = 3600.0
_MOST_BYTES = 1 << 30
_LONGEST_BODY = 32 << 20
_OF_ONE_CONNECTION = frozenset(
    {"connection", "content-length", "date", "host", "keep-alive", "server", "transfer-encoding", "upgrade"}
)


class Proxy:
    """In front of the program at `url`."""

    def __init__(self, url: str, *, http: HttpClient) -> None:
        self._url = url
        self._http = http

    def handle(self, request: Request) -> Response:
        """The program's answer; 503 where there is none."""
        body = request.read_body(_LONGEST_BODY)
        if body is None:
            return Response(status=413)
        budget = Budget(
            deadline=self._http.clock() + _SECONDS,
            connect_seconds=5.0,
            idle_seconds=_SECONDS,
            max_bytes=_MOST_BYTES,
            retries=1,
        )
        headers = {name: value for name, value in request.headers.items() if name not in _OF_ONE_CONNECTION}
        try:
            answer = self._http.request(
                request.method,
                self._url + (request.target or request.path),
                headers=headers,
                body=body or None,
                budget=budget,
            )
            passed = {
                name: value
                for name, value in answer.headers.items()
                if name.lower() not in _OF_ONE_CONNECTION
            }
            # An answer with a length is read whole, which keeps the connection; one without is a stream.
            whole = answer.headers.get("content-length") is not None
            return Response(
                status=answer.status, headers=passed, body=answer.read() if whole else answer.chunks()
            )
        except HttpFailure as failure:
            return Response(status=504 if failure.fault is Fault.TIMEOUT else 503)
