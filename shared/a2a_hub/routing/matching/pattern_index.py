"""Finds the patterns of a route table that match a normalised text, without running those that cannot."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from a2a_hub.routing.matching.literal_index import Literal, LiteralIndex, SearchedText
from a2a_hub.routing.patterns import compile_pattern
from a2a_hub.routing.required_literals import required_literals
from a2a_hub.routing.routes import Route

_LONGEST_SHOWN = 60


class PatternIndex:
    """The patterns of all routes, each with the literals that it cannot do without."""

    def __init__(self, routes: Sequence[Route], literals: Mapping[str, tuple[str, ...]]) -> None:
        """`routes` are in the order in which they are tried; `literals` are those that are known (`RouteTable.literals`)."""
        self._entries = [(route, compile_pattern(pattern)) for route in routes for pattern in route.patterns]
        self.literals = LiteralIndex(
            [
                tuple(map(Literal, literals[pattern] if pattern in literals else required_literals(pattern)))
                for route in routes
                for pattern in route.patterns
            ]
        )

    def matches(self, searched: SearchedText) -> Iterator[tuple[Route, tuple[str, ...]]]:
        """Each route with patterns that match the text, in order, with what each of them matched, shortened."""
        possible = map(self._entries.__getitem__, self.literals.present(searched))
        for _, entries in groupby(possible, key=lambda entry: entry[0].id):
            found = [(route, match) for route, pattern in entries if (match := pattern.search(searched.text))]
            if found:
                yield found[0][0], tuple(dict.fromkeys(_shortened(match.group()) for _, match in found))


def _shortened(matched: str) -> str:
    return matched if len(matched) <= _LONGEST_SHOWN else matched[: _LONGEST_SHOWN - 1] + "…"
