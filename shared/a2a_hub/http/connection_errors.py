"""Why there is no connection: what the operating system and OpenSSL say, in words for operators, without names or addresses."""

from __future__ import annotations

import errno
import socket
import ssl

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
_OF_NAMES = {
    socket.EAI_NONAME: "there is no such name",
    socket.EAI_AGAIN: "no name server gave an answer",
}
_OF_CONNECTIONS = {
    errno.ENETUNREACH: "there is no way to the host's network",
    errno.EHOSTUNREACH: "there is no way to the host",
    errno.EMFILE: "this process has as many files open as it may",
    errno.ENFILE: "this machine has as many files open as it may",
    errno.EADDRNOTAVAIL: "this machine has no port left to connect from",
}


def of_tls(error: ssl.SSLError) -> str:
    """Why there is no TLS."""
    if isinstance(error, ssl.SSLCertVerificationError):
        why = _OF_CERTIFICATES.get(error.verify_code, "the certificate is not valid")
    else:
        why = _OF_TLS.get(error.reason or "", "the other side broke it off")
    return f"the TLS handshake failed: {why}"


def of_name(error: OSError | ValueError) -> str:
    """Why a name leads nowhere."""
    why = _OF_NAMES.get(error.errno or 0) if isinstance(error, OSError) else "it is not one that hosts have"
    return f"the host name could not be resolved{f': {why}' if why else ''}"


def of_connection(error: OSError) -> str:
    """Why no connection came about."""
    if isinstance(error, TimeoutError):
        return "no connection in time"
    return _OF_CONNECTIONS.get(error.errno or 0, "the connection was refused")


def ended_tls(error: OSError) -> bool:
    """The other side ended TLS in so many words: since 1.3, who wants a client's certificate does so after the handshake."""
    return isinstance(error, ssl.SSLError) and "_ALERT_" in (error.reason or "")
