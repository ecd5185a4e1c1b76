"""A pool of threads without a limit: starting a thread takes longer than many a piece of work."""

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue

_IDLE_SECONDS = 30.0


class Threads:
    """A pool that runs each piece of work at once, in a free thread or a new one: work that blocks delays no other."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._free: list[SimpleQueue[Callable[[], object]]] = []

    def run(self, work: Callable[[], object]) -> None:
        """Start `work`, which must contain its own failures."""
        with self._lock:
            inbox = self._free.pop() if self._free else None
        if inbox is None:
            inbox = SimpleQueue()
            threading.Thread(target=self._serve, args=(inbox,), name=self._name, daemon=True).start()
        inbox.put(work)

    def _serve(self, inbox: SimpleQueue[Callable[[], object]]) -> None:
        thread = threading.current_thread()
        while True:
            try:
                work = inbox.get(timeout=_IDLE_SECONDS)
            except Empty:
                with self._lock:
                    if inbox in self._free:
                        self._free.remove(inbox)
                        return
                # `run` took this inbox at the same moment: its work is coming.
                work = inbox.get()
            thread.name = self._name
            work()
            # A free thread would keep all that its last work holds.
            del work
            thread.name = f"{self._name} (idle)"
            with self._lock:
                self._free.append(inbox)
