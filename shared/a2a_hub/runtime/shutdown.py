"""Graceful shutdown: SIGTERM stops new work, hands over work that can continue elsewhere, and then ends the server."""

import signal
import threading
import time
from collections.abc import Callable
from types import FrameType

# The engine's turns get 5 s; their last events are on their way then. Cloud Run ends the process after 10 s.
_SECONDS = 7.0


class Shutdown:
    """The state of the process, and the callbacks that end its work; together they get `seconds`."""

    def __init__(self, *, seconds: float = _SECONDS) -> None:
        self.seconds = seconds
        self._callbacks: list[Callable[[], object]] = []
        self._stopping = threading.Event()

    @property
    def stopping(self) -> bool:
        """True once the process has been told to end; it accepts no new work."""
        return self._stopping.is_set()

    def on_stop(self, callback: Callable[[], object]) -> None:
        """Call `callback` when the process is told to end. It contains its own failures."""
        self._callbacks.append(callback)

    def stop(self, then: Callable[[], object]) -> None:
        """Call the callbacks, side by side, and `then` when all have returned, or when they have had their time."""
        if self.stopping:
            return
        self._stopping.set()

        def wait() -> None:
            deadline = time.monotonic() + self.seconds
            for each in [_start(callback) for callback in self._callbacks]:
                each.join(max(0.0, deadline - time.monotonic()))
            then()

        _start(wait)

    def install(self, *, last: Callable[[], object]) -> None:
        """Handle SIGTERM before the server does, and call `last` in between; in the main thread of a server that runs."""
        before = signal.getsignal(signal.SIGTERM)

        def handle(number: int, frame: FrameType | None) -> None:
            def end() -> None:
                last()
                if callable(before):
                    before(number, frame)

            self.stop(end)

        signal.signal(signal.SIGTERM, handle)


def _start(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work, name="shutdown", daemon=True)
    thread.start()
    return thread
