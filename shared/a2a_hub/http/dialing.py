"""From a host's name to a socket, in time: name resolution, the first address that accepts, and why a connection failed.

The reasons are for operators: in words for what OpenSSL and the operating system report, without names or addresses.
"""

import errno
import os
import select
import socket
import ssl
from collections.abc import Callable, Sequence
from functools import partial

from a2a_hub.runtime.shared_fetch import SingleFlight
from a2a_hub.runtime.threads import Threads

# RFC 8305 §8: the delay before the next address is tried beside this one.
_NEXT_SECONDS = 0.25
# X509_V_ERR_… (OpenSSL's x509_vfy.h).
_OF_CERTIFICATES = {
    9: "the certificate is not valid yet, or the clock here is slow",
    10: "the certificate has expired, or the clock here is fast",
    18: "the certificate is signed by itself, and is not trusted here",
    19: "the certificate's chain ends in one that is not trusted here",
    20: "the certificate is signed by nobody who is trusted here, or its chain is not complete",
    21: "the certificate is signed by nobody who is trusted here, or its chain is not complete",
    62: "the certificate is for another host",
    64: "the certificate is for another address",
}
_NO_TLS = "what answers does not speak TLS"
_NO_COMMON_VERSION = "there is no version of TLS that both sides accept"
_CLIENT_CERTIFICATE = "the other side broke it off, as those do that want a client's certificate"
_OF_TLS = {
    "HTTP_REQUEST": _NO_TLS,
    "WRONG_VERSION_NUMBER": _NO_TLS,
    "PACKET_LENGTH_TOO_LONG": _NO_TLS,
    "NO_PROTOCOLS_AVAILABLE": _NO_COMMON_VERSION,
    "UNSUPPORTED_PROTOCOL": _NO_COMMON_VERSION,
    "TLSV1_ALERT_PROTOCOL_VERSION": _NO_COMMON_VERSION,
    "SSLV3_ALERT_HANDSHAKE_FAILURE": _CLIENT_CERTIFICATE,
    "TLSV13_ALERT_CERTIFICATE_REQUIRED": _CLIENT_CERTIFICATE,
    "TLSV1_ALERT_NO_APPLICATION_PROTOCOL": "the other side does not speak HTTP/1.1",
    "TLSV1_UNRECOGNIZED_NAME": "the other side does not know the host's name",
    "DH_KEY_TOO_SMALL": "the other side's key is too short",
    "EE_KEY_TOO_SMALL": "the certificate's key is too short",
}
_OF_NAMES = {socket.EAI_NONAME: "there is no such name", socket.EAI_AGAIN: "no name server gave an answer"}
_OF_CONNECTIONS = {
    errno.ENETUNREACH: "there is no way to the host's network",
    errno.EHOSTUNREACH: "there is no way to the host",
    errno.EMFILE: "this process has as many files open as it may",
    errno.ENFILE: "this machine has as many files open as it may",
    errno.EADDRNOTAVAIL: "this machine has no port left to connect from",
}

Addresses = Callable[[str, int], Sequence[str]]
"""The IP addresses at which a host and port may be connected to, the best first; raises for a host that may not be."""


def system_addresses(host: str, port: int) -> Sequence[str]:
    """Return the operating system's resolution of the name. Raises OSError or UnicodeError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))


class Resolver:
    """A resolver with a time limit around `addresses`: the system's waits for silent name servers as it likes.

    Each name is resolved once at a time, so that silence holds one thread per name. Thread-safe.
    """

    def __init__(self, addresses: Addresses) -> None:
        self._addresses = addresses
        self._threads = Threads("names")
        self._flights: SingleFlight[tuple[str, int], Sequence[str]] = SingleFlight()

    def resolve(self, host: str, port: int, *, seconds: float) -> Sequence[str]:
        """Return the addresses of a host. Raises what `addresses` raises, and socket.gaierror after `seconds`."""
        ask = partial(self._addresses, host, port)
        if _is_address(host):
            return ask()
        answer, is_first = self._flights.claim((host, port))
        if is_first:
            self._flights.start(self._threads, (host, port), answer, ask)
        try:
            return answer.result(timeout=seconds)
        except TimeoutError:
            raise socket.gaierror(socket.EAI_AGAIN, "no name server answered in time") from None


def connect_first(addresses: Sequence[str], port: int, *, seconds: float, clock: Callable[[], float]) -> socket.socket:
    """Return a connection to the first address that accepts it (RFC 8305 §5). Silent addresses keep their chance meanwhile.

    Raises OSError: TimeoutError, or the last refusal if there was nothing else.
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
                    attempt = _begin_connect(left.pop(0), port)
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


def _begin_connect(address: str, port: int) -> socket.socket:
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


def tls_failure(error: ssl.SSLError) -> str:
    """Return the reason why there is no TLS."""
    if isinstance(error, ssl.SSLCertVerificationError):
        why = _OF_CERTIFICATES.get(error.verify_code, "the certificate is not valid")
    else:
        why = _OF_TLS.get(error.reason or "", "the other side broke it off")
    return f"the TLS handshake failed: {why}"


def resolution_failure(error: OSError | ValueError) -> str:
    """Return the reason why a name was not resolved."""
    why = _OF_NAMES.get(error.errno or 0) if isinstance(error, OSError) else "it is not one that hosts have"
    return f"the host name could not be resolved: {why}" if why else "the host name could not be resolved"


def connection_failure(error: OSError) -> str:
    """Return the reason why there is no connection."""
    if isinstance(error, TimeoutError):
        return "no connection in time"
    return _OF_CONNECTIONS.get(error.errno or 0, "the connection was refused")


def is_tls_alert(error: OSError) -> bool:
    """Return True if the other side ended TLS with an alert; since 1.3, a missing client certificate comes to one."""
    return isinstance(error, ssl.SSLError) and "_ALERT_" in (error.reason or "")
