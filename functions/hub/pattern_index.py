"""Finds the patterns of a route table that match a normalised text, without running those that cannot."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from shared.patterns import compile_pattern
from shared.routes import Route

from functions.hub.required_literals import required_literals


class PatternIndex:
    """The patterns of all routes, best route first; `literals` has what each needs to be in a text, in that order."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self._entries = [(route, compile_pattern(pattern)) for route in routes for pattern in route.patterns]
        self.literals = [required_literals(pattern) for route in routes for pattern in route.patterns]

    def matches(self, text: str, candidates: Iterable[int]) -> Iterator[tuple[Route, tuple[str, ...]]]:
        """Each route with patterns that match `text`, best first, with the text that each of them matched.

        `candidates` are the positions in `literals` worth looking at, ascending.
        """
        for _, entries in groupby(map(self._entries.__getitem__, candidates), key=lambda entry: entry[0].id):
            found: dict[str, None] = {}
            for route, pattern in entries:
                if match := pattern.search(text):
                    found[match.group()] = None
            if found:
                yield route, tuple(found)
