"""Finds the patterns of a route table that match a normalised text, without running those that cannot."""

from collections.abc import Iterator, Sequence

from shared.patterns import compile_pattern
from shared.routes import Route


class PatternIndex:
    """The patterns of all routes, best route first."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self._routes = [
            (route, tuple(compile_pattern(pattern) for pattern in route.patterns)) for route in routes if route.patterns
        ]

    def matches(self, text: str) -> Iterator[tuple[Route, tuple[str, ...]]]:
        """Each route with patterns that match `text`, best first, with the text that each of them matched."""
        for route, patterns in self._routes:
            found = tuple(match.group() for pattern in patterns if (match := pattern.search(text)))
            if found:
                yield route, tuple(dict.fromkeys(found))
