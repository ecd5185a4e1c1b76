"""Finds which of many literals can be in a text, in one pass whose time does not grow with their number."""

from collections import Counter
from collections.abc import Sequence

_SIZE_BYTES = 4  # what `memoryview.cast("I")` reads at once


class FragmentIndex:
    """Sets of literals, each literal known by one rare four-byte fragment of its UTF-8.

    Looking up the fragments of a 2 kB text takes as long for ten thousand literals as for ten. An automaton over all of
    them is faster on a text like those it has seen, but takes milliseconds to build its states for a new one.
    """

    def __init__(self, literal_sets: Sequence[tuple[str, ...]]) -> None:
        frequency = Counter(fragment for literals in literal_sets for each in literals for fragment in _fragments(each))
        self._numbers: dict[int, list[int]] = {}
        self._short: dict[str, list[int]] = {}
        self._always = [number for number, literals in enumerate(literal_sets) if not literals]
        for number, literals in enumerate(literal_sets):
            for literal in literals:
                fragments = _fragments(literal)
                if fragments:
                    rarest = min(fragments, key=lambda each: (frequency[each], each))
                    self._numbers.setdefault(rarest, []).append(number)
                else:
                    self._short.setdefault(literal, []).append(number)
        self._known = frozenset(self._numbers)

    def candidates(self, text: str) -> list[int]:
        """The numbers, ascending, of the sets of which a literal may be in `text`; one without literals always may."""
        found = set(self._always)
        for literal, numbers in self._short.items():
            if literal in text:
                found.update(numbers)
        for fragment in self._known.intersection(_fragments(text)):
            found.update(self._numbers[fragment])
        return sorted(found)


def _fragments(text: str) -> list[int]:
    """All runs of four bytes in the UTF-8 of `text`, as numbers."""
    encoded = memoryview(text.encode())
    fragments: list[int] = []
    for offset in range(min(_SIZE_BYTES, len(encoded))):
        end = len(encoded) - (len(encoded) - offset) % _SIZE_BYTES
        fragments += encoded[offset:end].cast("I").tolist()
    return fragments
