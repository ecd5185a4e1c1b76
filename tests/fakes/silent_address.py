"""An address at which nobody answers: what asks for a connection there hears nothing, not even a refusal."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress


@contextmanager
def silent_address(host: str, port: int = 0) -> Iterator[int]:
    """The port. Its queue of connections is full, and nobody takes any out of it."""
    with ExitStack() as open_sockets:
        listener = open_sockets.enter_context(socket.create_server((host, port), backlog=0))
        taken: int = listener.getsockname()[1]
        for _ in range(4):
            waiting = open_sockets.enter_context(socket.socket())
            waiting.setblocking(False)
            with suppress(BlockingIOError):
                waiting.connect((host, taken))
        yield taken
