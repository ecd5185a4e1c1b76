"""Index readers, each used by one thread at a time, handed from question to question."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from functions.docqa.search import index
from functions.docqa.search.corpus import Corpus


class Readers:
    """As many open readers of one index as were ever needed at once; none is carried over a fork."""

    def __init__(self, index_path: Path) -> None:
        self._index_path = index_path
        self._lock = threading.Lock()
        self._idle: list[Corpus] = []
        self._process = os.getpid()
        self._renewed = 0

    @contextmanager
    def reader(self) -> Iterator[Corpus]:
        """A reader for the length of the block, opened when none is idle."""
        with self._lock:
            if self._process != os.getpid():
                self._idle, self._process = [], os.getpid()
            renewed = self._renewed
            corpus = self._idle.pop() if self._idle else None
        if corpus is None:
            corpus = self._opened()
        try:
            yield corpus
        except BaseException:
            corpus.connection.close()
            raise
        with self._lock:
            kept = renewed == self._renewed
            if kept:
                self._idle.append(corpus)
        if not kept:
            corpus.connection.close()

    def _opened(self) -> Corpus:
        connection = index.reading(self._index_path)
        try:
            return Corpus(connection)
        except BaseException:
            connection.close()
            raise

    def renew(self) -> None:
        """What readers remember of the index is forgotten: the index has changed. Those at work end their question."""
        with self._lock:
            self._renewed += 1
        self.close()

    def close(self) -> None:
        """Closes the idle readers."""
        with self._lock:
            idle, self._idle = self._idle, []
        for corpus in idle:
            corpus.connection.close()
