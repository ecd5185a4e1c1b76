"""Outbound HTTP: one deadline for the whole exchange, bounded answers, no redirects, retries only if nothing was sent."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Generator, Mapping
from enum import StrEnum
from typing import Protocol, Self

from msgspec import Struct, structs

from a2a_hub.http.connections import Connection, ConnectionPool, IncomingAnswer, NotHttp, Origin, TlsContext, split_url
from a2a_hub.http.dialing import (
    Addresses,
    Resolver,
    connection_failure,
    is_tls_alert,
    resolution_failure,
    system_addresses,
    tls_failure,
)
from a2a_hub.http.messages import Cancellation


class Fault(StrEnum):
    """The reason why there is no complete HTTP answer."""

    UNRESOLVED = "unresolved"
    UNREACHABLE = "unreachable"
    TLS = "tls"
    TIMEOUT = "timeout"
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
    the headers are complete. `retries` counts further attempts to connect.
    """

    deadline: float
    connect_seconds: float
    idle_seconds: float
    max_bytes: int
    retries: int = 0

    @classmethod
    def within(
        cls, seconds: float, *, now: float, max_bytes: int, connect_seconds: float = 5.0, retries: int = 1
    ) -> Self:
        """Return the limits of an exchange that ends `seconds` after `now` at the latest."""
        deadline = now + seconds
        return cls(
            deadline=deadline,
            connect_seconds=connect_seconds,
            idle_seconds=seconds,
            max_bytes=max_bytes,
            retries=retries,
        )


class Http(Protocol):
    """A sender of requests: an `HttpClient`, or a part in front of one."""

    @property
    def clock(self) -> Callable[[], float]:
        """Seconds that never go back; deadlines are on this clock."""

    def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes | None,
        budget: Budget,
        cancellation: Cancellation | None = None,
    ) -> Answer:
        """Return the answer's status and headers, with its body still to be read. Raises HttpFailure."""


class HttpClient:
    """A client with a pool of connections. Thread-safe. `tls` returns the context that verifies servers.

    `addresses` returns the permitted addresses of a host, and raises HttpFailure if there is none.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.monotonic,
        tls: Callable[[], ssl.SSLContext] | None = None,
        most_idle_connections: int = 256,
        addresses: Addresses = system_addresses,
    ) -> None:
        self.clock = clock
        self._tls = tls or TlsContext()
        self._resolver = Resolver(addresses)
        self._pool = ConnectionPool(most=most_idle_connections, clock=clock)

    def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes | None,
        budget: Budget,
        cancellation: Cancellation | None = None,
    ) -> Answer:
        """Return the answer's status and headers, with its body still to be read. Raises HttpFailure."""
        origin, target = split_url(url)
        remaining = budget.deadline - self.clock()
        if remaining <= 0:
            raise HttpFailure(Fault.TIMEOUT, "there was no time left to ask")
        connection = self._pool.take(origin) or self._connected(origin, budget, cancellation)
        hold = _Hold(connection, cancellation)
        connection.limit(
            deadline=min(budget.deadline, self.clock() + budget.idle_seconds),
            idle_seconds=budget.idle_seconds,
        )
        try:
            incoming = connection.exchange(method, target, headers, body)
        except BaseException as error:
            hold.close()
            if isinstance(error, OSError | NotHttp):
                raise _no_answer(error, hold) from None
            raise
        connection.limit(deadline=budget.deadline, idle_seconds=budget.idle_seconds)
        return Answer(incoming, hold, budget=budget, clock=self.clock, keep=self._pool.put)

    def _connected(self, origin: Origin, budget: Budget, cancellation: Cancellation | None) -> Connection:
        attempts_left = budget.retries
        while True:
            connection = Connection(origin, tls=self._tls, clock=self.clock, resolver=self._resolver)
            try:
                connection.connect(deadline=budget.deadline, seconds=budget.connect_seconds)
                return connection
            except (OSError, ValueError) as error:
                if cancellation is not None and cancellation.cancelled:
                    raise HttpFailure(Fault.CANCELLED, "the caller left") from None
                if attempts_left <= 0 or self.clock() >= budget.deadline:
                    raise _no_connection(error) from None
                attempts_left -= 1


class Answer:
    """An answer whose body is read as it arrives. Its connection is free after the end of the body, or after `close`.

    `media_type` is the Content-Type without parameters, in lower case.
    """

    def __init__(
        self,
        incoming: IncomingAnswer,
        hold: _Hold,
        *,
        budget: Budget,
        clock: Callable[[], float],
        keep: Callable[[Connection], None],
    ) -> None:
        self.status = incoming.status
        self.headers = incoming.headers
        self.media_type = (self.headers.get("content-type") or "").split(";", 1)[0].strip().lower()
        self._incoming = incoming
        self._hold = hold
        self._budget = budget
        self._clock = clock
        self._keep = keep

    def chunks(self) -> Generator[bytes, None, None]:
        """Yield the body's bytes as they arrive. Raises HttpFailure for a silence, the deadline, the size limit and a cut."""
        size = 0
        try:
            while chunk := self._incoming.piece():
                size += len(chunk)
                if size > self._budget.max_bytes:
                    raise HttpFailure(Fault.TOO_LARGE, f"the answer is larger than {self._budget.max_bytes} bytes")
                yield chunk
            if self._hold.cancelled:
                raise self._cut()
            self._release()
        except TimeoutError:
            if self._hold.cancelled:
                raise self._cut() from None
            late = self._clock() >= self._budget.deadline
            detail = "the answer was not complete in time" if late else "the answer stopped coming in"
            raise HttpFailure(Fault.TIMEOUT, detail) from None
        except (OSError, NotHttp):
            raise self._cut() from None
        finally:
            self.close()

    def read(self) -> bytes:
        """Return the whole body. Raises HttpFailure."""
        return b"".join(self.chunks())

    def complete_within(self, seconds: float) -> None:
        """Limit the rest of the answer to this many seconds."""
        deadline = min(self._budget.deadline, self._clock() + seconds)
        self._budget = structs.replace(self._budget, deadline=deadline)
        self._hold.limit(deadline=deadline, idle_seconds=seconds)

    def finish(self, *, within_seconds: float) -> None:
        """Wait briefly for the other side to end the answer, so that the connection can be reused."""
        self.complete_within(within_seconds)
        try:
            for _ in self.chunks():
                pass
        except HttpFailure:
            pass

    def close(self) -> None:
        """Give the answer up and close its connection unless it was read to its end. Idempotent."""
        self._hold.close()

    def _release(self) -> None:
        connection = self._hold.release()
        if connection is not None:
            if self._incoming.leaves_connection:
                self._keep(connection)
            else:
                connection.close()

    def _cut(self) -> HttpFailure:
        if self._hold.cancelled:
            return HttpFailure(Fault.CANCELLED, "the caller left")
        return HttpFailure(Fault.CUT, "the connection was cut in the middle of the answer")


class _Hold:
    """One exchange's hold on its connection. During it, and no longer, the caller's leaving wakes blocked reads."""

    def __init__(self, connection: Connection, cancellation: Cancellation | None) -> None:
        self._lock = threading.Lock()
        self._connection: Connection | None = connection
        self._cancellation = cancellation
        if cancellation is not None:
            cancellation.on_cancel(self._shut_down)

    @property
    def cancelled(self) -> bool:
        return self._cancellation is not None and self._cancellation.cancelled

    def limit(self, *, deadline: float, idle_seconds: float) -> None:
        if self._connection is not None:
            self._connection.limit(deadline=deadline, idle_seconds=idle_seconds)

    def release(self) -> Connection | None:
        with self._lock:
            connection, self._connection = self._connection, None
        return connection

    def close(self) -> None:
        connection = self.release()
        if connection is not None:
            connection.close()

    def _shut_down(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.shut_down()


def _no_connection(error: OSError | ValueError) -> HttpFailure:
    match error:
        case ssl.SSLError():
            return HttpFailure(Fault.TLS, tls_failure(error))
        case socket.gaierror() | ValueError():
            return HttpFailure(Fault.UNRESOLVED, resolution_failure(error))
        case _:
            return HttpFailure(Fault.UNREACHABLE, connection_failure(error))


def _no_answer(error: OSError | NotHttp, hold: _Hold) -> HttpFailure:
    if hold.cancelled:
        return HttpFailure(Fault.CANCELLED, "the caller left")
    match error:
        case TimeoutError():
            return HttpFailure(Fault.TIMEOUT, "no answer in time")
        case ssl.SSLError() if is_tls_alert(error):
            return HttpFailure(Fault.TLS, tls_failure(error))
        case OSError():
            return HttpFailure(Fault.CUT, "the connection was cut before an answer came")
        case _:
            return HttpFailure(Fault.CUT, "what came back is not HTTP")
