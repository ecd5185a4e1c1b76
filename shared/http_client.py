"""Outbound HTTP: pooled connections, one deadline for the whole exchange, bounded answers, no redirects, retries only where
nothing was sent.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    NameResolutionError,
    NewConnectionError,
    SSLError,
    TimeoutError,
)

from shared.a2a.call import Cancellation

_CHUNK_BYTES = 65536
# gunicorn closes an idle connection after 2 s, Google's front end after several minutes: a connection that the other side
# may be closing right now is not used again, since a request lost that way must not be repeated.
_PLAIN_IDLE_SECONDS = 1.0
_TLS_IDLE_SECONDS = 60.0


class Fault(StrEnum):
    """Why there is no complete HTTP answer."""

    UNRESOLVED = "unresolved"
    UNREACHABLE = "unreachable"
    TLS = "tls"
    TIMEOUT = "timeout"
    CUT = "cut"
    TOO_LARGE = "too_large"
    CANCELLED = "cancelled"


class HttpFailure(Exception):
    """No complete answer. `detail` is a sentence for the operator, without addresses or text of foreign exceptions."""

    def __init__(self, fault: Fault, detail: str) -> None:
        super().__init__(detail)
        self.fault = fault
        self.detail = detail


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What one exchange may take. `deadline` is on the client's clock; `idle_seconds` bounds each silence."""

    deadline: float
    connect_seconds: float
    idle_seconds: float
    max_bytes: int
    retries: int = 0


class HttpClient:
    """Holds connections to every host it has talked to; thread-safe."""

    def __init__(
        self, *, clock: Callable[[], float] = time.monotonic, connections_per_host: int = 64
    ) -> None:
        self.clock = clock
        self._pools = urllib3.PoolManager(num_pools=64, maxsize=connections_per_host, retries=False)
        self._pools.pool_classes_by_scheme = {"http": _Pool, "https": _TlsPool}

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
        """The answer's status and headers, its body still to be read. Raises HttpFailure."""
        attempts_left = budget.retries
        while True:
            remaining = self._remaining(budget)
            try:
                response = self._pools.urlopen(
                    method,
                    url,
                    body=body,
                    headers={"accept-encoding": "identity", **headers},
                    timeout=urllib3.Timeout(
                        connect=min(budget.connect_seconds, remaining),
                        read=min(budget.idle_seconds, remaining),
                    ),
                    preload_content=False,
                    redirect=False,
                    retries=False,
                    decode_content=False,
                )
            except HTTPError as error:
                failure, nothing_sent = _failure(error)
                if cancellation is not None and cancellation.cancelled:
                    raise HttpFailure(Fault.CANCELLED, "the caller left") from None
                if not nothing_sent or attempts_left <= 0 or self.clock() >= budget.deadline:
                    raise failure from None
                attempts_left -= 1
                continue
            answer = Answer(response, budget, self.clock, cancellation)
            if cancellation is not None:
                cancellation.on_cancel(answer.abort)
            return answer

    def _remaining(self, budget: Budget) -> float:
        remaining = budget.deadline - self.clock()
        if remaining <= 0:
            raise HttpFailure(Fault.TIMEOUT, "there was no time left to ask")
        return remaining


class Answer:
    """An answer whose body is read as it comes. Read it to the end or `close` it: then its connection is free again."""

    def __init__(
        self,
        response: urllib3.BaseHTTPResponse,
        budget: Budget,
        clock: Callable[[], float],
        cancellation: Cancellation | None,
    ) -> None:
        self.status = response.status
        self.headers = response.headers
        self._response: Any = response
        self._budget = budget
        self._clock = clock
        self._cancellation = cancellation
        connection = getattr(response, "_connection", None)
        self._socket: socket.socket | None = getattr(connection, "wire", None)

    @property
    def media_type(self) -> str:
        """The Content-Type without parameters, in lower case."""
        return str(self.headers.get("content-type", "")).split(";", 1)[0].strip().lower()

    def chunks(self) -> Iterator[bytes]:
        """The body's bytes as they arrive. Raises HttpFailure for a silence, the deadline, the size limit and a cut."""
        size = 0
        try:
            while True:
                self._bound_next_read()
                chunk = self._response.read1(_CHUNK_BYTES)
                if not chunk:
                    break
                size += len(chunk)
                if size > self._budget.max_bytes:
                    raise HttpFailure(
                        Fault.TOO_LARGE, f"the answer is larger than {self._budget.max_bytes} bytes"
                    )
                yield chunk
            if self._cancelled:
                raise HttpFailure(Fault.CANCELLED, "the caller left")
            self._response.release_conn()
        except HTTPError as error:
            raise self._read_failure(error) from None
        except (OSError, ValueError):
            raise self._cut() from None
        finally:
            if not self._response.isclosed():
                self._response.close()

    def read(self) -> bytes:
        """The whole body. Raises HttpFailure."""
        return b"".join(self.chunks())

    def finish(self, *, within_seconds: float) -> None:
        """Waits a moment for the other side to end the answer, so that the connection can be used again."""
        self._budget = replace(
            self._budget, deadline=min(self._budget.deadline, self._clock() + within_seconds)
        )
        try:
            for _ in self.chunks():
                pass
        except HttpFailure:
            self.close()

    def close(self) -> None:
        """Gives the answer up; unless it was read to its end, the connection is closed."""
        self._response.close()

    def abort(self) -> None:
        """Wakes, from another thread, whoever reads this answer."""
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    @property
    def _cancelled(self) -> bool:
        return self._cancellation is not None and self._cancellation.cancelled

    def _bound_next_read(self) -> None:
        remaining = self._budget.deadline - self._clock()
        if remaining <= 0:
            raise HttpFailure(Fault.TIMEOUT, "the answer was not complete in time")
        if self._socket is not None and self._socket.fileno() >= 0:
            self._socket.settimeout(min(self._budget.idle_seconds, remaining))

    def _read_failure(self, error: HTTPError) -> HttpFailure:
        if self._cancelled:
            return HttpFailure(Fault.CANCELLED, "the caller left")
        if isinstance(error, TimeoutError):
            return HttpFailure(Fault.TIMEOUT, "the answer stopped coming in")
        return self._cut()

    def _cut(self) -> HttpFailure:
        if self._cancelled:
            return HttpFailure(Fault.CANCELLED, "the caller left")
        return HttpFailure(Fault.CUT, "the connection was cut in the middle of the answer")


def _failure(error: HTTPError) -> tuple[HttpFailure, bool]:
    """The failure, and whether it is certain that nothing of the request was sent."""
    match error:
        case NameResolutionError():
            return HttpFailure(Fault.UNRESOLVED, "the host name could not be resolved"), True
        case NewConnectionError():
            return HttpFailure(Fault.UNREACHABLE, "the connection was refused"), True
        case ConnectTimeoutError():
            return HttpFailure(Fault.UNREACHABLE, "no connection in time"), True
        case TimeoutError():
            return HttpFailure(Fault.TIMEOUT, "no answer in time"), False
        case SSLError():
            return HttpFailure(Fault.TLS, "the TLS handshake failed"), True
        case _:
            return HttpFailure(Fault.CUT, "the connection was cut before an answer came"), False


class _Fresh:
    """A connection that remembers its socket, for deadlines and cancellation, and that does not live on when idle for long."""

    max_idle_seconds = _PLAIN_IDLE_SECONDS
    sock: socket.socket | None
    wire: socket.socket | None = None
    used_at = 0.0

    def request(self, *args: Any, **kwargs: Any) -> None:
        super().request(*args, **kwargs)  # type: ignore[misc]
        self.wire = self.sock
        self.used_at = time.monotonic()

    def getresponse(self) -> Any:
        response = super().getresponse()  # type: ignore[misc]
        self.used_at = time.monotonic()
        return response

    @property
    def is_connected(self) -> bool:
        alive: bool = super().is_connected  # type: ignore[misc]
        return alive and time.monotonic() - self.used_at < self.max_idle_seconds


class _Connection(_Fresh, HTTPConnection):
    pass


class _TlsConnection(_Fresh, HTTPSConnection):
    max_idle_seconds = _TLS_IDLE_SECONDS


class _Pool(urllib3.HTTPConnectionPool):
    ConnectionCls = _Connection


class _TlsPool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _TlsConnection
