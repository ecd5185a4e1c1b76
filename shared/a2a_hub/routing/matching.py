"""Finds the keywords and patterns of a route table in a text, in a time that hardly grows with the table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import Generic, TypeVar

from msgspec import Struct

from a2a_hub.routing.patterns import Pattern, compile_pattern
from a2a_hub.routing.required_literals import required_literals
from a2a_hub.routing.routes import Route
from a2a_hub.text.normalization import normalise

# Scripts below this code point separate words by blanks; Japanese and its neighbours above it do not.
_FIRST_UNSPACED_SCRIPT = "\u1100"
# A short katakana word is part of longer ones by accident (リスク in アスタリスク), a long one hardly ever.
_LONGEST_WHOLE_KATAKANA = 3
_LONGEST_SHOWN = 60
K = TypeVar("K")
Clue = int | bytes
ClueKind = Callable[[str], Sequence[Clue]]
Clues = dict[ClueKind, Sequence[Clue]]
"""The clues of one text, found once for all indexes."""

# Has a bit of every number of a pair in which a character is not ASCII.
_BEYOND_ASCII = 0xFFFFFF80_FFFFFF80
_BLANKED = bytes(code if chr(code).isalnum() and code < 128 else 32 for code in range(256))


class Literal(Struct, frozen=True):
    """A piece of normalised text; `whole` if it counts only as whole ASCII words."""

    text: str
    whole: bool = False


class Keyword(Struct, frozen=True):
    """A keyword of a route in one of its forms. It is shown as the table writes it."""

    route: Route
    word: str
    form: str

    @property
    def literals(self) -> tuple[Literal, ...]:
        """The literals of which a text must have one to match."""
        return (Literal(self.form, whole=True),)

    def found_in(self, text: str) -> str | None:
        """Return what of the normalised text matches, as it is shown; None if nothing does."""
        return self.word if stands_in(self.form, text) else None


def keywords_of(route: Route, words: Iterable[str]) -> list[Keyword]:
    """Return the keywords in all their forms."""
    return [Keyword(route, word, form) for word in words for form in _forms(normalise(word))]


class RoutePattern(Struct, frozen=True):
    """A pattern of a route. The matched text is shown, shortened. A text must have one of the literals, if there are any."""

    route: Route
    pattern: Pattern
    literals: tuple[Literal, ...]

    def found_in(self, text: str) -> str | None:
        """See `Keyword.found_in`."""
        match = self.pattern.search(text)
        return _shortened(match.group()) if match else None


def patterns_of(route: Route, patterns: Iterable[str], known: Mapping[str, tuple[str, ...]]) -> list[RoutePattern]:
    """Return the compiled patterns; `known` are the literals of patterns (`RouteTable.literals`)."""
    literals = {each: known[each] if each in known else required_literals(each) for each in patterns}
    return [
        RoutePattern(route, compile_pattern(each), tuple(map(Literal, required))) for each, required in literals.items()
    ]


class MatcherIndex(Generic[K]):
    """An index of the keywords and patterns of all routes in groups, the best group first."""

    def __init__(self, groups: Sequence[tuple[K, Sequence[Keyword] | Sequence[RoutePattern]]]) -> None:
        """Index the matchers of each group, which are in the order of priority."""
        self._groups = [group for group, _ in groups]
        self._entries = [(number, each) for number, (_, matchers) in enumerate(groups) for each in matchers]
        self._literals = LiteralIndex([each.literals for _, each in self._entries])

    def matches(self, text: str, clues: Clues) -> Iterator[tuple[K, Route, tuple[str, ...]]]:
        """Yield each route with matchers for the normalised text, by group and in order, with what each of them shows."""
        possible = map(self._entries.__getitem__, self._literals.present(text, clues))
        for (group, _), entries in groupby(possible, key=lambda entry: (entry[0], entry[1].route.id)):
            found = [(each.route, shown) for _, each in entries if (shown := each.found_in(text)) is not None]
            if found:
                yield self._groups[group], found[0][0], tuple(dict.fromkeys(shown for _, shown in found))


def stands_in(word: str, text: str) -> bool:
    """Return True if `word` is in `text` as a whole word, as far as its script separates words."""
    at = text.find(word)
    while at >= 0:
        if _is_whole(word, before=text[at - 1 : at], after=text[at + len(word) : at + len(word) + 1]):
            return True
        at = text.find(word, at + 1)
    return False


def _is_whole(word: str, *, before: str, after: str) -> bool:
    if (_is_spaced(before) and _is_spaced(word[0])) or (_is_spaced(after) and _is_spaced(word[-1])):
        return False
    if len(word) <= _LONGEST_WHOLE_KATAKANA and all(map(_is_katakana, word)):
        return not (_is_katakana(before) or _is_katakana(after))
    return True


def _is_spaced(character: str) -> bool:
    return character < _FIRST_UNSPACED_SCRIPT and (character.isalnum() or character == "_")


def _is_katakana(character: str) -> bool:
    return "ァ" <= character <= "ヺ" or character == "ー"


def _forms(keyword: str) -> tuple[str, ...]:
    """Return the keyword and its English plural: of its last word, if that has three letters or more."""
    last = keyword.rsplit(" ", 1)[-1]
    if len(last) < 3 or not (last.isascii() and last.isalpha()):
        return (keyword,)
    if last.endswith("y") and last[-2] not in "aeiou":
        return (keyword, keyword[:-1] + "ies")
    return (keyword, keyword + ("es" if last.endswith(("s", "x", "z", "ch", "sh")) else "s"))


def _shortened(matched: str) -> str:
    return matched if len(matched) <= _LONGEST_SHOWN else matched[: _LONGEST_SHOWN - 1] + "…"


class LiteralIndex:
    """An index of sets of literals, each literal by its rarest clue: a pair of characters, a word, or four letters.

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

    def present(self, text: str, clues: Clues) -> list[int]:
        """Return the numbers of the sets with a literal in the text and of those without literals, ascending."""
        numbers = set(self._always)
        numbers.update([number for literal, number in self._short if literal in text])
        for kind, literals_of in self._literals_of.items():
            if kind not in clues:
                clues[kind] = kind(text)
            known = literals_of.keys() & clues[kind]
            numbers.update([number for clue in known for literal, number in literals_of[clue] if literal in text])
        return sorted(numbers)


def _kind_of(literal: Literal) -> ClueKind:
    """Return the most selective kind of clue for `literal`."""
    if not literal.text.isascii():
        return _pairs
    return _words if literal.whole else _fours


def _clues_of_all(kind: ClueKind, literals: Sequence[str]) -> list[Sequence[Clue]]:
    """Return for each literal the clues of every text that has it."""
    if kind is _words:
        return [_words(literal) for literal in literals]
    # All literals as one text, split afterwards: many times faster than one by one.
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
    """Return all pairs of neighbouring characters, as numbers; none for a text of ASCII."""
    # "utf-32" writes a mark of four bytes, then the machine's own byte order; naming the order would load another codec.
    return [] if text.isascii() else _runs(memoryview(text.encode("utf-32"))[4:], size=8, step=4)


def _words(text: str) -> list[bytes]:
    """Return all words of ASCII letters and digits."""
    return text.encode("ascii", "replace").translate(_BLANKED).split()


def _fours(text: str) -> list[int]:
    """Return all runs of four ASCII characters, as numbers, regardless of other characters between them."""
    return _runs(memoryview(text.encode("ascii", "ignore")), size=4, step=1)


def _runs(view: memoryview, *, size: int, step: int) -> list[int]:
    """Return all runs of `size` bytes at each multiple of `step`: first those at 0, `size` and so on, then those a step later."""
    runs: list[int] = []
    for offset in range(0, min(size, len(view)), step):
        end = len(view) - (len(view) - offset) % size
        runs += view[offset:end].cast("Q" if size == 8 else "I").tolist()
    return runs


def _in_order(runs: Sequence[Clue], steps: int) -> list[Clue]:
    """Return the result of `_runs`, for runs of so many `steps`, in the order of the text."""
    ordered = list(runs)
    taken = 0
    for first in range(steps):
        count = len(range(first, len(ordered), steps))
        ordered[first::steps] = runs[taken : taken + count]
        taken += count
    return ordered
