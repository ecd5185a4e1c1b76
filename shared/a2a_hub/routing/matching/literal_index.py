"""Finds which of many literals are in a text, in a time that hardly grows with their number."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain

from msgspec import Struct

Clue = int | bytes
ClueKind = Callable[[str], Sequence[Clue]]

# Has a bit of every number of a pair in which a character is not ASCII.
_BEYOND_ASCII = 0xFFFFFF80_FFFFFF80
_BLANKED = bytes(code if chr(code).isalnum() and code < 128 else 32 for code in range(256))


class Literal(Struct, frozen=True):
    """A piece of normalised text to look for; `whole` when its ASCII words only count as words."""

    text: str
    whole: bool = False


Known = Mapping[ClueKind, frozenset[Clue]]
"""By their kind, the clues by which some index knows a literal."""


class SearchedText:
    """A normalised text, and the `known` clues in it, which are looked up once for all indexes."""

    def __init__(self, text: str, known: Known) -> None:
        self.text = text
        self._known = known
        self._clues: dict[ClueKind, frozenset[Clue]] = {}

    def clues(self, kind: ClueKind) -> frozenset[Clue]:
        """The known clues of a kind that are in the text."""
        if kind not in self._clues:
            self._clues[kind] = self._known[kind].intersection(kind(self.text))
        return self._clues[kind]


def known_to(*indexes: "LiteralIndex") -> Known:
    """The clues by which one of the indexes knows a literal."""
    kinds = {kind for index in indexes for kind in index.known}
    return {kind: frozenset().union(*(index.known.get(kind, ()) for index in indexes)) for kind in kinds}


class LiteralIndex:
    """Sets of literals, each literal known by its rarest clue: a pair of characters, a word, or four letters.

    An automaton over all literals is faster on a text like those it has seen, but takes milliseconds to build
    its states for a new one; the time of this index is the same for every text of a length.
    """

    def __init__(self, literal_sets: Sequence[tuple[Literal, ...]]) -> None:
        self._always = [number for number, literals in enumerate(literal_sets) if not literals]
        self._short: list[tuple[str, int]] = []
        self._literals_of: dict[ClueKind, dict[Clue, list[tuple[str, int]]]] = {}
        numbered: dict[ClueKind, list[tuple[str, int]]] = {_pairs: [], _words: [], _fours: []}
        for number, literals in enumerate(literal_sets):
            for literal in literals:
                numbered[_kind_of(literal)].append((literal.text, number))
        for kind, entries in numbered.items():
            literals_of: dict[Clue, list[tuple[str, int]]] = {}
            clues_of = _clues_of_all(kind, [text for text, _ in entries])
            counted = Counter(chain.from_iterable(clues_of)).__getitem__
            for entry, clues in zip(entries, clues_of, strict=True):
                if clues:
                    literals_of.setdefault(min(clues, key=counted), []).append(entry)
                else:
                    self._short.append(entry)
            if literals_of:
                self._literals_of[kind] = literals_of
        self.known: Known = {kind: frozenset(found) for kind, found in self._literals_of.items()}

    def present(self, searched: SearchedText) -> list[int]:
        """The ascending numbers of the sets with a literal in the text, and of those without literals."""
        text = searched.text
        numbers = set(self._always)
        numbers.update([number for literal, number in self._short if literal in text])
        for kind, literals_of in self._literals_of.items():
            numbers.update(
                [
                    number
                    for clue in self.known[kind] & searched.clues(kind)
                    for literal, number in literals_of[clue]
                    if literal in text
                ]
            )
        return sorted(numbers)


def _kind_of(literal: Literal) -> ClueKind:
    """The kind of clue that tells most of `literal`."""
    if not literal.text.isascii():
        return _pairs
    return _words if literal.whole else _fours


def _clues_of_all(kind: ClueKind, literals: Sequence[str]) -> list[Sequence[Clue]]:
    """For each literal the clues that are in every text which holds it."""
    if kind is _words:
        return [_words(literal) for literal in literals]
    # All literals as one text, whose runs are then divided: many times faster than one by one.
    length = 2 if kind is _pairs else 4
    runs = _in_order(kind("".join(literals)), length)
    clues_of: list[Sequence[Clue]] = []
    start = 0
    for literal in literals:
        clues_of.append(runs[start : max(start, start + len(literal) + 1 - length)])
        start += len(literal)
    if kind is _pairs:
        return [[pair for pair in pairs if pair & _BEYOND_ASCII] for pairs in clues_of]  # type: ignore[operator]
    return clues_of


def _pairs(text: str) -> list[int]:
    """All pairs of neighbouring characters, as numbers; none of a text in which all of them are ASCII."""
    # "utf-32" writes a mark of four bytes, then the machine's own byte order; naming the order would load another codec.
    return [] if text.isascii() else _runs(memoryview(text.encode("utf-32"))[4:], size=8, step=4)


def _words(text: str) -> list[bytes]:
    """All words of ASCII letters and digits."""
    return text.encode("ascii", "replace").translate(_BLANKED).split()


def _fours(text: str) -> list[int]:
    """All runs of four ASCII characters, as numbers; in the text, others may stand between them."""
    return _runs(memoryview(text.encode("ascii", "ignore")), size=4, step=1)


def _runs(view: memoryview, *, size: int, step: int) -> list[int]:
    """All runs of `size` bytes from each multiple of `step` on: first those at 0, `size` and so on, then those a step later."""
    runs: list[int] = []
    for offset in range(0, min(size, len(view)), step):
        end = len(view) - (len(view) - offset) % size
        runs += view[offset:end].cast("Q" if size == 8 else "I").tolist()
    return runs


def _in_order(runs: Sequence[Clue], steps: int) -> list[Clue]:
    """What `_runs` found, where a run has so many `steps`, in the order in which it stands in the text."""
    ordered = list(runs)
    taken = 0
    for first in range(steps):
        count = len(range(first, len(ordered), steps))
        ordered[first::steps] = runs[taken : taken + count]
        taken += count
    return ordered
