"""Finds the keywords of a route table in a normalised text, as words and not as parts of words."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from a2a_hub.routing.matching.literal_index import Literal, LiteralIndex, SearchedText
from a2a_hub.routing.routes import Route
from a2a_hub.text.normalization import normalise

# Scripts below this point put blanks between words; Japanese and its neighbours stand above it and do not.
_FIRST_UNSPACED_SCRIPT = "\u1100"
# A short katakana word stands in longer ones by accident (リスク in アスタリスク), a long one hardly ever.
_LONGEST_WHOLE_KATAKANA = 3


class KeywordIndex:
    """The keywords of all routes, in all their forms."""

    def __init__(self, routes: Sequence[Route]) -> None:
        """`routes` are in the order in which they are tried."""
        self._entries = [
            (route, keyword, form)
            for route in routes
            for keyword in route.keywords
            for form in _forms(normalise(keyword))
        ]
        self.literals = LiteralIndex([(Literal(form, whole=True),) for _, _, form in self._entries])

    def matches(self, searched: SearchedText) -> Iterator[tuple[Route, tuple[str, ...]]]:
        """Each route with keywords in the text, in order, with those keywords as they stand in the table."""
        possible = map(self._entries.__getitem__, self.literals.present(searched))
        for _, entries in groupby(possible, key=lambda entry: entry[0].id):
            found = [(route, keyword) for route, keyword, form in entries if stands_in(form, searched.text)]
            if found:
                yield found[0][0], tuple(dict.fromkeys(keyword for _, keyword in found))


def stands_in(word: str, text: str) -> bool:
    """Whether `word` stands in `text` as a word of its own, as far as its script has a way to tell."""
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
    """The keyword and its English plural: of its last word, when that has three letters or more."""
    last = keyword.rsplit(" ", 1)[-1]
    if len(last) < 3 or not (last.isascii() and last.isalpha()):
        return (keyword,)
    if last.endswith("y") and last[-2] not in "aeiou":
        return (keyword, keyword[:-1] + "ies")
    return (keyword, keyword + ("es" if last.endswith(("s", "x", "z", "ch", "sh")) else "s"))
