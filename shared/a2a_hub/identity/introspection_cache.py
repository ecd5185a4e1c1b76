"""A bounded cache of what an identity provider said about a token, by the token's SHA-256: facts, never verdicts.

One question per token is under way at a time; whoever else brings the token meanwhile waits for its answer. Only so many may
wait, so that a slow provider and a flood of unknown tokens leave threads for those who are known.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

F = TypeVar("F")


class TooManyWait(Exception):
    """Too many are waiting for the provider already."""


class IntrospectionCache(Generic[F]):
    """Keeps at most `most` entries; the one unused for longest goes first. `clock` gives seconds that never go back."""

    def __init__(self, *, clock: Callable[[], float], most: int = 10_000, most_waiting: int = 40) -> None:
        self._clock = clock
        self._most = most
        self._places = most_waiting
        self._lock = threading.Lock()
        self._facts: OrderedDict[str, tuple[float, F]] = OrderedDict()
        self._asking: dict[str, Future[F]] = {}

    def get(self, key: str, ask: Callable[[], tuple[F, float]]) -> F:
        """The facts for `key`: kept ones, else those of `ask`, which returns them with the seconds to keep them.

        What `ask` raises is raised to all who wait, and not kept. Raises TooManyWait.
        """
        with self._lock:
            kept = self._facts.get(key)
            if kept is not None and self._clock() < kept[0]:
                self._facts.move_to_end(key)
                return kept[1]
            if not self._places:
                raise TooManyWait
            self._places -= 1
            agent_request = self._asking.get(key)
            if agent_request is None:
                mine: Future[F] = Future()
                self._asking[key] = mine
        try:
            return self._asked(key, ask, mine) if agent_request is None else agent_request.result()
        finally:
            with self._lock:
                self._places += 1

    def _asked(self, key: str, ask: Callable[[], tuple[F, float]], told: Future[F]) -> F:
        try:
            facts, seconds = ask()
        except BaseException as error:
            self._ended(key)
            told.set_exception(error)
            raise
        with self._lock:
            if seconds > 0:
                self._facts[key] = (self._clock() + seconds, facts)
                self._facts.move_to_end(key)
                if len(self._facts) > self._most:
                    self._facts.popitem(last=False)
        self._ended(key)
        told.set_result(facts)
        return facts

    def _ended(self, key: str) -> None:
        with self._lock:
            del self._asking[key]
