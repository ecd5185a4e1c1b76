"""A function behind this one, such as the hub behind the gate: forwards requests, and streams the responses back."""

import math
import time
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from a2a_hub.a2a.errors import OVERLOADED, RETRY_SOON, UNAVAILABLE, A2AError, ErrorKind
from a2a_hub.http.admission import Capacity, Overloaded
from a2a_hub.http.client import Budget, ClientResponse, Fault, HttpClient, HttpFailure
from a2a_hub.http.forwarded_body import STREAM_END, ForwardedBody, ReadinessWatcher, StreamCut
from a2a_hub.http.messages import EVENT_STREAM, JSON, Headers, Response
from a2a_hub.identity.service_tokens import IdTokenClaims, ServiceTokens, TokenUnavailable, id_token_claims

# Gemini Enterprise stops at 1,700 s, Cloud Run at 3,600 s.
_MAX_SECONDS = 3600.0
_IDLE_SECONDS = 300.0
_CONNECT_SECONDS = 10.0
_MAX_BYTES = 256 << 20
_MAX_WHOLE_BYTES = 256 << 10
_LOOK_SECONDS = 0.05
_REFUSALS = frozenset({401, 403, 429})
_RETRY_AFTER = {"retry-after": "5"}
_TIMED_OUT = ErrorKind("TIMEOUT", -32603, 504, "DEADLINE_EXCEEDED", "The service did not answer in time")

# Allow-lists: a deny-list would never be complete.
REQUEST_HEADERS = (
    "accept",
    "accept-language",
    "a2a-extensions",
    "a2a-version",
    "content-type",
    "if-modified-since",
    "if-none-match",
    "last-event-id",
    "traceparent",
    "tracestate",
    "user-agent",
    # The function's own: a caller's never gets here (`Log.requests`).
    "x-request-id",
    "x-a2a-extensions",
)
RESPONSE_HEADERS = (
    "a2a-extensions",
    "allow",
    "cache-control",
    "content-type",
    "etag",
    "last-modified",
    "retry-after",
    "vary",
    "www-authenticate",
    "x-a2a-extensions",
    "x-accel-buffering",
)


class AnsweredByPlatform(A2AError):
    """A response of the platform in place of the function; the caller sees 503, or 504 after a time-out."""

    def __init__(self, status: int) -> None:
        super().__init__(_TIMED_OUT if status == 504 else UNAVAILABLE, headers=_RETRY_AFTER)
        self.status = status


class RejectedByIam(AnsweredByPlatform):
    """A rejection of this function by Cloud Run."""


class OwnTokenUnavailable(A2AError):
    """A missing ID token for the function; the caller sees 503."""

    def __init__(self) -> None:
        super().__init__(UNAVAILABLE, headers=_RETRY_AFTER)


class Upstream:
    """The function at `url`. `tokens` is None if it needs no ID token.

    `idle_seconds` bounds the time to its first byte, and each silence after that, `late_seconds` the same for callers who do not
    wait longer; `capacity` bounds the event streams.
    """

    def __init__(
        self,
        url: str,
        *,
        http: HttpClient,
        tokens: ServiceTokens | None,
        idle_seconds: float = _IDLE_SECONDS,
        late_seconds: float = math.inf,
        capacity: Capacity | None = None,
    ) -> None:
        parts = urlsplit(url)
        self._url = url
        self._audience = f"{parts.scheme}://{parts.netloc}"
        self._http = http
        self._tokens = tokens
        self._idle_seconds = idle_seconds
        self._late_seconds = late_seconds
        self._capacity = capacity
        self._watcher = ReadinessWatcher()
        self._streams = WeakKeyDictionary[ForwardedBody, None]()

    def drain(self, *, seconds: float = 4.0) -> None:
        """Let streams finish within `seconds`; end the others with the events that the function supplied for this case."""
        deadline = time.monotonic() + seconds
        while (streams := self._open_streams()) and time.monotonic() < deadline:
            time.sleep(_LOOK_SECONDS)
        for each in streams:
            each.end()

    def send(
        self,
        method: str,
        target: str,
        *,
        headers: Mapping[str, str],
        body: bytes,
        caller: str = "",
        waits_longer: Callable[[], bool] = lambda: True,
        on_cut: Callable[[StreamCut], object] = lambda _: None,
    ) -> Response:
        """Return the response; an event stream and a large one are forwarded while they arrive. Raises A2AError (503, 504).

        An error response that is not JSON comes from Cloud Run, and raises AnsweredByPlatform. `waits_longer` is called when the
        function is late: False ends the wait; `on_cut` before the end of an answer that is not forwarded whole.
        """
        budget = Budget(
            deadline=self._http.clock() + _MAX_SECONDS,
            connect_seconds=_CONNECT_SECONDS,
            idle_seconds=self._idle_seconds,
            max_bytes=_MAX_BYTES,
            retries=1,
            late_seconds=self._late_seconds,
            waits_longer=waits_longer,
        )
        try:
            answer = self._http.request(
                method,
                self._url + target,
                headers={**headers, STREAM_END: "1", **self._credential()},
                body=body or None,
                budget=budget,
            )
            if answer.status >= 400 and not _is_json(answer.media_type):
                answer.close()
                raise (RejectedByIam if answer.status in _REFUSALS else AnsweredByPlatform)(answer.status)
            if method == "HEAD":
                # Only the upstream knows the length of the body.
                passed = allowed_headers(answer.headers, (*RESPONSE_HEADERS, "content-length"))
                answer.read()
                return Response(status=answer.status, headers=passed)
            content = self._body(answer, caller, on_cut)
            names = (*RESPONSE_HEADERS, "content-length") if isinstance(content, ForwardedBody) else RESPONSE_HEADERS
            return Response(status=answer.status, headers=allowed_headers(answer.headers, names), body=content)
        except HttpFailure as failure:
            if failure.fault is Fault.TIMEOUT:
                raise A2AError(_TIMED_OUT) from None
            raise A2AError(UNAVAILABLE, headers=_RETRY_AFTER) from None
        except TokenUnavailable:
            raise OwnTokenUnavailable from None

    def _body(
        self, answer: ClientResponse, caller: str, on_cut: Callable[[StreamCut], object]
    ) -> bytes | ForwardedBody:
        """Return a small body whole. Others are streams of the caller, of which one chunk each is held."""
        is_stream = answer.media_type == EVENT_STREAM
        length = answer.headers.get("content-length") or ""
        if not is_stream and length.isdigit() and int(length) <= _MAX_WHOLE_BYTES:
            return answer.read()
        try:
            on_close = self._capacity.open_stream(caller) if self._capacity and is_stream else lambda: None
        except Overloaded:
            answer.close()
            raise A2AError(OVERLOADED, headers=RETRY_SOON) from None
        last = b64decode(answer.headers.get(STREAM_END) or "")
        body = ForwardedBody(
            answer,
            self._watcher,
            silence_seconds=self._idle_seconds,
            on_close=on_close,
            on_cut=on_cut,
            last=last,
            late_seconds=self._late_seconds,
        )
        if is_stream:
            self._streams[body] = None
        return body

    def _open_streams(self) -> list[ForwardedBody]:
        # Listed by their references at once: others begin meanwhile.
        return [each for found in self._streams.keyrefs() if (each := found()) and not each.closed]

    def id_token_claims(self) -> IdTokenClaims | None:
        """Return the claims of this function's token for the function; None if it needs none. Raises OwnTokenUnavailable."""
        try:
            return id_token_claims(self._credential().get("authorization", ""))
        except TokenUnavailable:
            raise OwnTokenUnavailable from None

    def _credential(self) -> Mapping[str, str]:
        return {} if self._tokens is None else {"authorization": f"Bearer {self._tokens.id_token(self._audience)}"}


def _is_json(media_type: str) -> bool:
    return media_type == JSON or media_type.endswith("+json")


def allowed_headers(headers: Mapping[str, str] | Headers, allowed: Sequence[str]) -> dict[str, str]:
    """Return the headers on the list, without those that hold control characters."""
    return {name: value for name in allowed if (value := headers.get(name)) and value.isprintable()}
