"""The numbers of an owner's tasks: claimed in blocks, so that no document is written by every creation."""

import threading
from collections.abc import Callable

from a2a_hub.task_store.firestore_client import Database
from a2a_hub.task_store.firestore_documents import digest

_GROWS_WITHIN_SECONDS = 2.0
_LARGEST_BLOCK = 64
_MOST_OWNERS = 10_000


class _Block:
    """The claimed and unused numbers of one owner, and the size and time of the last claim."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.unused: list[int] = []
        self.size = 1
        self.claimed_at = 0.0


class TaskNumbers:
    """The next numbers of owners. A block begins with one number, and doubles while claims follow each other within two seconds.

    So somebody's numbers are consecutive, while a program's have gaps between instances. None is given twice.
    """

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock
        self._blocks: dict[str, _Block] = {}

    def take(self, owner: str) -> int:
        """Return a number that no other task of the owner has. Raise Contention, Unavailable."""
        if len(self._blocks) > _MOST_OWNERS:
            self._blocks = {}
        block = self._blocks.setdefault(owner, _Block())
        with block.lock:
            if not block.unused:
                now = self._clock()
                grows = now - block.claimed_at < _GROWS_WITHIN_SECONDS
                block.size, block.claimed_at = min(2 * block.size, _LARGEST_BLOCK) if grows else 1, now
                counter = self._database.collection("owners").document(digest(owner))
                last = self._database.increment(counter, "last_number", block.size)
                block.unused += range(last - block.size + 1, last + 1)
            return block.unused.pop(0)
