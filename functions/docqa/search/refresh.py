"""Whether the files of a corpus have changed, by their names, sizes and times: cheap enough to ask between questions."""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from functions.docqa.documents.sources import SUFFIXES

REFRESH_SECONDS = 3.0
_SUFFIXES = tuple(SUFFIXES)
Signature = frozenset[tuple[str, int, int]]


class Watch:
    """Says, at most every `seconds`, whether the corpus is no longer what it was. Safe to share between threads."""

    def __init__(
        self,
        corpus_dir: Path,
        *,
        seconds: float = REFRESH_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._corpus_dir = corpus_dir
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._seen = signature(corpus_dir)
        self._next = clock() + seconds

    def refresh(self, update: Callable[[], None]) -> None:
        """Calls `update` when files have changed since it last ended well; one thread at a time, the others go on.

        What `update` raises is raised here, and it is tried again after `seconds`.
        """
        if self._clock() < self._next or not self._lock.acquire(blocking=False):
            return
        try:
            now = signature(self._corpus_dir)
            if now != self._seen:
                update()
                self._seen = now
        finally:
            self._next = self._clock() + self._seconds
            self._lock.release()


def signature(corpus_dir: Path) -> Signature:
    """(path, size, time of change in ns) of every file of a known kind under `corpus_dir`; empty when it is gone."""
    found = []
    folders = [str(corpus_dir)]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.name.startswith("."):
                        continue
                    # As rglob does it: a link to a folder above would lead round and round.
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    elif entry.name.lower().endswith(_SUFFIXES):
                        state = entry.stat()
                        found.append((entry.path, state.st_size, state.st_mtime_ns))
        except OSError:
            continue  # a folder or a file that went away in between: the next look sees what is left
    return frozenset(found)
