"""Ports of this machine's loopback interface."""

import secrets
import socket

LOOPBACK = "127.0.0.1"
# Below the ports that systems give to connections: Linux begins at 32768, others at 49152 (RFC 6335 §6).
_NOT_GIVEN_OUT = range(15_000, 32_000)


def free_ports(count: int) -> list[int]:
    """Return `count` different free ports; another program may take them at any time.

    None is an ephemeral port: on a busy machine, such a port is taken again at once.
    """
    sockets: list[socket.socket] = []
    try:
        while len(sockets) < count:
            one = socket.socket()
            sockets.append(one)
            try:
                one.bind((LOOPBACK, secrets.choice(_NOT_GIVEN_OUT)))
            except OSError:
                sockets.pop().close()
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def why_not_free(port: int) -> str | None:
    """Return the system's reason why nobody can listen on `port` now; None when it is free."""
    with socket.socket() as probe:
        # Connections that a former listener left behind do not count as taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
            probe.listen()
        except OSError as refusal:
            return refusal.strerror or type(refusal).__name__
        except OverflowError:
            return "ports end at 65535"
    return None
