"""Outbound HTTP: one deadline for the whole exchange, bounded answers, no redirects, retries only if nothing was sent."""

from __future__ import annotations

import math
import socket
import ssl
import threading
import time
import weakref
from collections.abc import Callable, Generator, Mapping
from enum import StrEnum
from functools import cache
from typing import Protocol, Self

from msgspec import Struct, structs

from a2a_hub.http import dialing
from a2a_hub.http.connections import (
    Connection,
    ConnectionPool,
    NotHttp,
    Origin,
    open_connection,
    split_url,
    verifying_context,
)
from a2a_hub.http.messages import Cancellation, Headers
from a2a_hub.telemetry import tracing


class Fault(StrEnum):
    """The reason why there is no complete HTTP answer."""

    UNRESOLVED = "unresolved"
    UNREACHABLE = "unreachable"
    TLS = "tls"
    TIMEOUT = "timeout"
    UNANSWERED = "unanswered"
    CUT = "cut"
    TOO_LARGE = "too_large"
    CANCELLED = "cancelled"


class HttpFailure(Exception):
    """A failed exchange. `detail` is a sentence for the operator, without addresses or text of foreign exceptions."""

    def __init__(self, fault: Fault, detail: str) -> None:
        super().__init__(detail)
        self.fault = fault
        self.detail = detail


class Budget(Struct, frozen=True, kw_only=True):
    """The limits of one exchange. `deadline` is on the client's clock; `idle_seconds` bounds each silence, and the time until
    the headers are complete. `retries` counts further attempts to connect. After `late_seconds` without headers, the exchange
    times out unless the caller `waits_longer`.
    """

    deadline: float
    connect_seconds: float
    idle_seconds: float
    max_bytes: int
    retries: int = 0
    late_seconds: float = math.inf
    waits_longer: Callable[[], bool] = lambda: True

    @classmethod
    def within(
        cls, seconds: float, *, now: float, max_bytes: int, connect_seconds: float = 5.0, retries: int = 1
    ) -> Self:
        """Return the limits of an exchange that ends `seconds` after `now` at the latest."""
        return cls(
            deadline=now + seconds,
            connect_seconds=connect_seconds,
            idle_seconds=seconds,
            max_bytes=max_bytes,
            retries=retries,
        )


class Http(Protocol):
    """A sender of requests: an `HttpClient`, or a wrapper around one."""

    @property
    def clock(self) -> Callable[[], float]:
        """Monotonic seconds; deadlines refer to this clock."""

    def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes | None,
        budget: Budget,
        cancellation: Cancellation | None = None,
    ) -> ClientResponse:
        """Return the answer's status and headers, with its body still to be read. Raises HttpFailure."""


def fetch(
    http: Http,
    method: str,
    url: str,
    *,
    headers: Mapping[str, str],
    body: bytes | None = None,
    seconds: float,
    max_bytes: int = 1 << 20,
    retries: int = 1,
    cancellation: Cancellation | None = None,
) -> tuple[ClientResponse, bytes]:
    """Return the answer with its whole body, within `seconds`. Raises HttpFailure."""
    budget = Budget.within(seconds, now=http.clock(), max_bytes=max_bytes, retries=retries)
    answer = http.request(method, url, headers=headers, body=body, budget=budget, cancellation=cancellation)
    return answer, answer.read()


class HttpClient:
    """A client with a pool of connections. Thread-safe. `tls` returns the context that verifies servers.

    `addresses` returns the permitted addresses of a host, and raises HttpFailure if there is none.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.monotonic,
        tls: Callable[[], ssl.SSLContext] | None = None,
        max_idle_connections: int = 256,
        addresses: dialing.Addresses = dialing.system_addresses,
    ) -> None:
        self.clock = clock
        # Made on first use: loading the certificates takes time.
        self._tls = tls or cache(verifying_context)
        self._resolver = dialing.Resolver(addresses)
        self._pool = ConnectionPool(max_idle=max_idle_connections, clock=clock)

    def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes | None,
        budget: Budget,
        cancellation: Cancellation | None = None,
    ) -> ClientResponse:
        """Return the answer's status and headers, with its body still to be read. Raises HttpFailure."""
        origin, target = split_url(url)
        remaining = budget.deadline - self.clock()
        if remaining <= 0:
            raise HttpFailure(Fault.TIMEOUT, "there was no time left to ask")
        connection = self._pool.take(origin) or self._connected(origin, budget, cancellation)
        answer = ClientResponse(
            connection, budget=budget, clock=self.clock, keep=self._pool.put, cancellation=cancellation
        )
        answer.begin(method, target, headers, body)
        return answer

    def _connected(self, origin: Origin, budget: Budget, cancellation: Cancellation | None) -> Connection:
        attempts_left = budget.retries
        while True:
            try:
                return open_connection(
                    origin,
                    tls=self._tls,
                    clock=self.clock,
                    resolver=self._resolver,
                    deadline=budget.deadline,
                    seconds=budget.connect_seconds,
                )
            except (OSError, ValueError) as error:
                if cancellation is not None and cancellation.cancelled:
                    raise HttpFailure(Fault.CANCELLED, "the caller left") from None
                if attempts_left <= 0 or self.clock() >= budget.deadline:
                    raise _no_connection(error) from None
                attempts_left -= 1
                tracing.add("a2a_hub.retries", 1, reason="connect")


class ClientResponse:
    """A response whose body is read as it arrives. Its connection is released at the end of the body, or by `close`.

    `media_type` is the Content-Type without parameters, in lower case.
    """

    status: int
    headers: Headers
    media_type: str

    def __init__(
        self,
        connection: Connection,
        *,
        budget: Budget,
        clock: Callable[[], float],
        keep: Callable[[Connection], None],
        cancellation: Cancellation | None,
    ) -> None:
        self._lock = threading.Lock()
        # Until the end of the answer, a cancellation by the caller wakes blocked reads.
        self._connection: Connection | None = connection
        self._budget = budget
        self._clock = clock
        self._keep = keep
        self._cancellation = cancellation
        if cancellation is not None:
            # One cancellation may outlast many answers.
            waiting = weakref.ref(self)
            cancellation.on_cancel(lambda: answer._shut_down() if (answer := waiting()) else None)

    def begin(self, method: str, target: str, headers: Mapping[str, str], body: bytes | None) -> None:
        """Send the request, and read the answer up to its headers. Raises HttpFailure."""
        connection, budget = self._connection, self._budget
        assert connection is not None, "nothing was read before"
        sent_at = self._clock()
        late_seconds = min(budget.late_seconds, budget.idle_seconds)
        connection.limit(deadline=min(budget.deadline, sent_at + late_seconds), idle_seconds=late_seconds)
        try:
            self._incoming = connection.send(method, target, headers, body)
            try:
                self._incoming.read_head()
            except TimeoutError:
                if late_seconds == budget.idle_seconds or not budget.waits_longer():
                    raise
                latest = min(budget.deadline, sent_at + budget.idle_seconds)
                connection.limit(deadline=latest, idle_seconds=budget.idle_seconds)
                self._incoming.read_head()
        except BaseException as error:
            self.close()
            if isinstance(error, OSError | NotHttp):
                raise self._cancellation_failure() or _no_answer(error) from None
            raise
        connection.limit(deadline=budget.deadline, idle_seconds=budget.idle_seconds)
        self.status, self.headers = self._incoming.status, self._incoming.headers
        self.media_type = (self.headers.get("content-type") or "").split(";", 1)[0].strip().lower()

    def chunks(self, *, extra_bytes: int = 0) -> Generator[bytes, None, None]:
        """Yield the body's bytes as they arrive. Raises HttpFailure for an idle time-out, the deadline, the size limit, and a
        broken connection.

        `extra_bytes` is added to the budget's size limit.
        """
        most_bytes = self._budget.max_bytes + extra_bytes
        size = 0
        try:
            while chunk := self._incoming.piece():
                size += len(chunk)
                if size > most_bytes:
                    raise HttpFailure(Fault.TOO_LARGE, f"the answer is larger than {most_bytes} bytes")
                yield chunk
            if left := self._cancellation_failure():
                raise left
            self._release()
        except TimeoutError:
            late = self._clock() >= self._budget.deadline
            detail = "the answer was not complete in time" if late else "the answer stopped coming in"
            raise self._cancellation_failure() or HttpFailure(Fault.TIMEOUT, detail) from None
        except (OSError, NotHttp):
            cut = HttpFailure(Fault.CUT, "the connection was cut in the middle of the answer")
            raise self._cancellation_failure() or cut from None
        finally:
            self.close()

    def has_chunk(self) -> bool:
        """Return True if `chunks` would continue, end or fail without waiting."""
        connection = self._connection
        return connection is None or self._incoming.has_piece or connection.has_input()

    @property
    def file_number(self) -> int:
        """The number by which the operating system knows the connection, -1 after the end."""
        connection = self._connection
        return connection.file_number if connection is not None else -1

    def read(self) -> bytes:
        """Return the whole body. Raises HttpFailure."""
        return b"".join(self.chunks())

    def complete_within(self, seconds: float) -> None:
        """Limit the rest of the answer to this many seconds."""
        deadline = min(self._budget.deadline, self._clock() + seconds)
        self._budget = structs.replace(self._budget, deadline=deadline)
        if self._connection is not None:
            self._connection.limit(deadline=deadline, idle_seconds=seconds)

    def finish(self, *, within_seconds: float) -> None:
        """Wait briefly for the other side to end the answer, so that the connection can be reused."""
        self.complete_within(within_seconds)
        try:
            for _ in self.chunks():
                pass
        except HttpFailure:
            pass

    def close(self) -> None:
        """Abandon the answer, and close its connection unless it was read to the end. Idempotent."""
        connection = self._take()
        if connection is not None:
            connection.close()

    def _release(self) -> None:
        if self._incoming.leaves_connection and (connection := self._take()) is not None:
            self._keep(connection)

    def _take(self) -> Connection | None:
        with self._lock:
            connection, self._connection = self._connection, None
        return connection

    def _shut_down(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.shut_down()

    def _cancellation_failure(self) -> HttpFailure | None:
        """Return the failure of an exchange that the caller has cancelled."""
        is_left = self._cancellation is not None and self._cancellation.cancelled
        return HttpFailure(Fault.CANCELLED, "the caller left") if is_left else None


def _no_connection(error: OSError | ValueError) -> HttpFailure:
    match error:
        case ssl.SSLError():
            return HttpFailure(Fault.TLS, dialing.tls_failure(error))
        case socket.gaierror() | ValueError():
            return HttpFailure(Fault.UNRESOLVED, dialing.resolution_failure(error))
        case _:
            return HttpFailure(Fault.UNREACHABLE, dialing.connection_failure(error))


def _no_answer(error: OSError | NotHttp) -> HttpFailure:
    match error:
        case TimeoutError():
            return HttpFailure(Fault.TIMEOUT, "no answer in time")
        case ssl.SSLError() if dialing.is_tls_alert(error):
            return HttpFailure(Fault.TLS, dialing.tls_failure(error))
        case OSError():
            return HttpFailure(Fault.UNANSWERED, "the connection was cut before an answer came")
        case _:
            return HttpFailure(Fault.CUT, "what came back is not HTTP")
