"""A body whose chunks are there as soon as they are asked for."""

from collections.abc import Callable, Iterable

from a2a_hub.http.messages import Response


class Chunks:
    """A polled body of an iterable, whose exception is the body's."""

    failure: Response | None = None
    idle_seconds = 30.0

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)

    def poll(self) -> bytes | None:
        return next(self._chunks)

    def on_ready(self, wake: Callable[[], None]) -> None:
        wake()

    def close(self) -> None:
        """There is nothing to give back."""
