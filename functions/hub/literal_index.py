"""Finds which of many literals are in a text, in a time that hardly grows with their number."""

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from msgspec import Struct

Clue = int | bytes
ClueKind = Callable[[str], Sequence[Clue]]

_UTF_32 = f"utf-32-{sys.byteorder[0]}e"
# Has a bit of every number of a pair in which a character is not ASCII.
_BEYOND_ASCII = 0xFFFFFF80_FFFFFF80
_BLANKED = bytes(code if chr(code).isalnum() and code < 128 else 32 for code in range(256))


class Literal(Struct, frozen=True):
    """A piece of normalised text to look for; `whole` when its ASCII words only count as words."""

    text: str
    whole: bool = False


class SearchedText:
    """A normalised text, and the clues in it, which are gathered once for all indexes."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._clues: dict[ClueKind, Sequence[Clue]] = {}

    def clues(self, kind: ClueKind) -> Sequence[Clue]:
        """All clues of a kind in the text."""
        if kind not in self._clues:
            self._clues[kind] = kind(self.text)
        return self._clues[kind]


class LiteralIndex:
    """Sets of literals, each literal known by its rarest clue: a pair of characters, a word, or four letters.

    An automaton over all literals is faster on a text like those it has seen, but takes milliseconds to build
    its states for a new one; the time of this index is the same for every text of a length.
    """

    def __init__(self, literal_sets: Sequence[tuple[Literal, ...]]) -> None:
        clues = {literal: _clues_of(literal) for literals in literal_sets for literal in literals}
        frequency: dict[ClueKind, Counter[Clue]] = defaultdict(Counter)
        for kind, found in clues.values():
            frequency[kind].update(found)
        self._always = [number for number, literals in enumerate(literal_sets) if not literals]
        self._short: list[tuple[str, int]] = []
        literals_of: dict[ClueKind, dict[Clue, list[tuple[str, int]]]] = {}
        for number, literals in enumerate(literal_sets):
            for literal in literals:
                kind, found = clues[literal]
                if found:
                    counted = frequency[kind]
                    _, rarest = min((counted[clue], clue) for clue in found)
                    literals_of.setdefault(kind, {}).setdefault(rarest, []).append((literal.text, number))
                else:
                    self._short.append((literal.text, number))
        self._kinds = [(kind, frozenset(known), known) for kind, known in literals_of.items()]

    def present(self, searched: SearchedText) -> list[int]:
        """The ascending numbers of the sets with a literal in the text, and of those without literals."""
        text = searched.text
        numbers = set(self._always)
        numbers.update([number for literal, number in self._short if literal in text])
        for kind, known, literals_of in self._kinds:
            numbers.update(
                [
                    number
                    for clue in known.intersection(searched.clues(kind))
                    for literal, number in literals_of[clue]
                    if literal in text
                ]
            )
        return sorted(numbers)


def _clues_of(literal: Literal) -> tuple[ClueKind, Sequence[Clue]]:
    """The kind of clue that tells most of `literal`, and those clues in every text that holds it."""
    if not literal.text.isascii() and len(literal.text) > 1:
        return _pairs, [pair for pair in _pairs(literal.text) if pair & _BEYOND_ASCII]
    return (_words, _words(literal.text)) if literal.whole else (_fours, _fours(literal.text))


def _pairs(text: str) -> list[int]:
    """All pairs of neighbouring characters, as numbers; none of a text in which all of them are ASCII."""
    return [] if text.isascii() else _runs(text.encode(_UTF_32), size=8, step=4)


def _words(text: str) -> list[bytes]:
    """All words of ASCII letters and digits."""
    return text.encode("ascii", "replace").translate(_BLANKED).split()


def _fours(text: str) -> list[int]:
    """All runs of four ASCII characters, as numbers; some more stand in the text only with others in between."""
    return _runs(text.encode("ascii", "ignore"), size=4, step=1)


def _runs(encoded: bytes, *, size: int, step: int) -> list[int]:
    view = memoryview(encoded)
    runs: list[int] = []
    for offset in range(0, min(size, len(view)), step):
        end = len(view) - (len(view) - offset) % size
        runs += view[offset:end].cast("Q" if size == 8 else "I").tolist()
    return runs
