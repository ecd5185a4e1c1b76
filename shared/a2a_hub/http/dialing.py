"""From a host's name to a socket, in time: the name resolved, and the first of its addresses that takes the connection."""

from __future__ import annotations

import os
import select
import socket
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future

from a2a_hub.runtime.threads import Threads

# RFC 8305 §8: after so long without an answer, the next address is tried beside this one.
_NEXT_SECONDS = 0.25

Addresses = Callable[[str, int], Sequence[str]]
"""The IP addresses at which a host and port may be connected to, the best first; raises for a host that may not be."""


def system_addresses(host: str, port: int) -> Sequence[str]:
    """What the operating system resolves the name to. Raises OSError or UnicodeError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))


class Names:
    """Asks `addresses` for no longer than there is time: the system's resolver waits for silent name servers as it likes.

    Each name is asked for once at a time, so that silence holds one thread for it. Thread-safe.
    """

    def __init__(self, addresses: Addresses) -> None:
        self._addresses = addresses
        self._threads = Threads("names")
        self._lock = threading.Lock()
        self._asked: dict[tuple[str, int], Future[Sequence[str]]] = {}

    def resolved(self, host: str, port: int, *, seconds: float) -> Sequence[str]:
        """The addresses of a host. Raises what `addresses` raises, and socket.gaierror when it takes longer than `seconds`."""
        if _is_address(host):
            return self._addresses(host, port)
        with self._lock:
            answer = self._asked.get((host, port))
            if answer is None:
                answer = self._ask(host, port)
        try:
            return answer.result(timeout=seconds)
        except TimeoutError:
            raise socket.gaierror(socket.EAI_AGAIN, "no name server answered in time") from None

    def _ask(self, host: str, port: int) -> Future[Sequence[str]]:
        answer: Future[Sequence[str]] = Future()

        def ask() -> None:
            try:
                found = self._addresses(host, port)
            except BaseException as error:
                self._forget(host, port)
                answer.set_exception(error)
            else:
                self._forget(host, port)
                answer.set_result(found)

        self._threads.run(ask)
        self._asked[host, port] = answer
        return answer

    def _forget(self, host: str, port: int) -> None:
        with self._lock:
            del self._asked[host, port]


def connected(
    addresses: Sequence[str], port: int, *, seconds: float, clock: Callable[[], float]
) -> socket.socket:
    """A connection to the address that takes it first (RFC 8305 §5). One that is silent keeps its chance while others are tried.

    Raises OSError: TimeoutError, or the last refusal where there was nothing else.
    """
    deadline = clock() + seconds
    left = list(addresses)
    waiting: dict[int, socket.socket] = {}
    poll = select.poll()
    failure: OSError = TimeoutError()
    try:
        while left or waiting:
            if left:
                try:
                    attempt = _begun(left.pop(0), port)
                except OSError as error:
                    failure = error
                    continue
                waiting[attempt.fileno()] = attempt
                poll.register(attempt, select.POLLOUT)
            remaining = max(0.0, deadline - clock())
            answered = poll.poll(1000 * (min(remaining, _NEXT_SECONDS) if left else remaining))
            if not answered and (not left or not remaining):
                raise TimeoutError
            for number, _ in answered:
                attempt = waiting.pop(number)
                poll.unregister(number)
                refusal = attempt.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                if not refusal:
                    return attempt
                attempt.close()
                failure = OSError(refusal, os.strerror(refusal))
        raise failure
    finally:
        for attempt in waiting.values():
            attempt.close()


def _begun(address: str, port: int) -> socket.socket:
    attempt = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    try:
        attempt.setblocking(False)
        attempt.connect((address, port))
    except BlockingIOError:
        pass
    except BaseException:
        attempt.close()
        raise
    return attempt


def _is_address(host: str) -> bool:
    try:
        socket.inet_pton(socket.AF_INET6 if ":" in host else socket.AF_INET, host)
    except (OSError, ValueError):
        return False
    return True
