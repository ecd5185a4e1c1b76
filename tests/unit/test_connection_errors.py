"""What operators read of a connection that did not come about is not the agent's fault where it is this machine's."""

import errno
import os
import socket
import ssl

import pytest

from a2a_hub.http import dialing


@pytest.mark.parametrize(
    ("number", "why"),
    [
        (errno.ECONNREFUSED, "the connection was refused"),
        (errno.ENETUNREACH, "there is no way to the host's network"),
        (errno.EHOSTUNREACH, "there is no way to the host"),
        (errno.EMFILE, "this process has as many files open as it may"),
        (errno.EADDRNOTAVAIL, "this machine has no port left to connect from"),
    ],
)
def test_what_this_machine_lacks_is_told_from_a_refusal(number: int, why: str) -> None:
    assert dialing.connection_failure(OSError(number, os.strerror(number))) == why


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (socket.gaierror(socket.EAI_NONAME, "x"), "there is no such name"),
        (socket.gaierror(socket.EAI_AGAIN, "x"), "no name server gave an answer"),
        (UnicodeError("label too long"), "it is not one that hosts have"),
    ],
)
def test_a_name_that_does_not_exist_is_told_from_name_servers_that_say_nothing(
    error: OSError | ValueError, why: str
) -> None:
    assert dialing.resolution_failure(error) == f"the host name could not be resolved: {why}"


@pytest.mark.parametrize(
    ("reason", "why"),
    [
        ("HTTP_REQUEST", "what answers does not speak TLS"),
        ("TLSV1_ALERT_NO_APPLICATION_PROTOCOL", "the other side does not speak HTTP/1.1"),
        ("SOMETHING_NEW", "the other side broke it off"),
        (None, "the other side broke it off"),
    ],
)
def test_a_handshake_that_fails_has_its_reason(reason: str | None, why: str) -> None:
    error = ssl.SSLError(1, "x")
    error.reason = reason  # type: ignore[assignment]
    assert dialing.tls_failure(error) == f"the TLS handshake failed: {why}"


def test_what_nobody_has_words_for_is_still_a_sentence() -> None:
    assert dialing.resolution_failure(socket.gaierror(-99, "x")) == "the host name could not be resolved"
    assert dialing.connection_failure(OSError()) == "the connection was refused"
