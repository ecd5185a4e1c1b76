"""Notices that the files of a corpus have changed, by their names, sizes and times: cheap enough to ask between questions."""

import hashlib
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

REFRESH_SECONDS = 3.0
# Looking at a million files takes a second: no more than this share of the time is spent on it.
_LARGEST_SHARE = 0.02


class Watch:
    """Looks at the corpus at most every `seconds`. Safe to share between threads."""

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
        self._seen = b""
        self._next = 0.0

    def refresh(self, update: Callable[[], object]) -> None:
        """Call `update` at first, and if files have changed since it last ended well; one thread at a time, the others go on.

        What `update` raises is raised here, and it is tried again after `seconds`.
        """
        if self._clock() < self._next or not self._lock.acquire(blocking=False):
            return
        start = self._clock()
        took = 0.0
        try:
            now = signature(self._corpus_dir)
            took = self._clock() - start
            if now != self._seen:
                update()
                self._seen = now
        finally:
            self._next = self._clock() + max(self._seconds, took / _LARGEST_SHARE)
            self._lock.release()


def signature(corpus_dir: Path) -> bytes:
    """Return what stands for the path, size and time of change of every file under `corpus_dir`: cheap enough to ask often."""
    digest = hashlib.blake2b(digest_size=16)
    for folder, folders, names in os.walk(corpus_dir):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            # A file may have gone in between, and a link may lead nowhere.
            with suppress(OSError):
                if not name.startswith((".", "~$")):
                    file = Path(folder, name)
                    state = file.stat()
                    digest.update(f"{file} {state.st_size} {state.st_mtime_ns}\n".encode("utf-8", "surrogateescape"))
    return digest.digest()
