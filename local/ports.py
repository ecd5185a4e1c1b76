"""Ports of this machine's loopback interface."""

import socket

LOOPBACK = "127.0.0.1"


def free_ports(count: int) -> list[int]:
    """`count` different ports that nobody holds; from now on another program may take them."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind((LOOPBACK, 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def why_not_free(port: int) -> str | None:
    """The system's reason why nobody can listen on `port` now; None when it is free."""
    with socket.socket() as probe:
        # Connections that a former listener left behind do not count as taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
            probe.listen()
        except OSError as refusal:
            return refusal.strerror or type(refusal).__name__
    return None
