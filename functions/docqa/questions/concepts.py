"""A question's words to concepts: English by stop words and phrases, Japanese by script and known words."""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache

from msgspec import structs

from functions.docqa.questions.asides import within
from functions.docqa.questions.concept import Concept, Role
from functions.docqa.questions.english import english_concepts
from functions.docqa.questions.japanese import japanese_concepts, known_japanese
from functions.docqa.vocabulary.lexicon import Lexicon, lexicon
from functions.docqa.vocabulary.words import HIRAGANA, KANJI, KATAKANA, is_japanese

_PIECE = re.compile(rf"[a-z0-9\u00c0-\u024f][a-z0-9\u00c0-\u024f.'-]*|[{KANJI}{KATAKANA}{HIRAGANA}]+")
_LATIN = re.compile(r"[a-z]")
_ENOUGH = 2
_SIDES = frozenset("前後間以内中超目")


def concepts_in(
    normal: str,
    *,
    proper: Collection[str] = (),
    settled: Sequence[tuple[int, int]] = (),
    beside: Sequence[tuple[int, int]] = (),
) -> tuple[Concept, ...]:
    """The concepts of a normalised question, in their order, without duplicates.

    `proper` are words that are names; `settled` are the spans whose meaning is an entity's and needs no words, `beside`
    those that stand beside the question.
    """
    words = lexicon()
    found: list[tuple[int, int, Concept]] = []
    english: list[tuple[int, int, str]] = []
    for match in _PIECE.finditer(normal):
        if is_japanese(match.group()):
            found.extend(japanese_concepts(match.group(), match.start(), words))
        else:
            piece = match.group().rstrip(".'-")
            english.append((match.start(), match.start() + len(piece), piece))
    found.extend(english_concepts(english, words))
    found = _with_mixed(found, normal, words)
    found.sort(key=lambda entry: entry[0])
    unique: list[tuple[int, int, Concept]] = []
    for start, end, concept in found:
        entry = (start, end, concept)
        if concept.surface in proper and not concept.known:
            entry = (start, end, structs.replace(concept, role=Role.NOUN, proper=True))
        elif within(start, end - len(_side_of(concept.surface)), settled):
            entry = (start, end, structs.replace(concept, role=Role.LIGHT))
        if not any(entry[2].own == other[2].own for other in unique):
            unique.append(entry)
    return tuple(_modifying(_told_beside(unique, beside), normal))


def _with_mixed(found: list[tuple[int, int, Concept]], normal: str, words: Lexicon) -> list[tuple[int, int, Concept]]:
    """`found` with each known word that is written in both scripts, such as usbメモリ, as one concept."""
    mixed = [] if normal.isascii() else list(_mixed_words().finditer(normal))
    spans = [match.span() for match in mixed]
    return [
        *(entry for entry in found if not any(entry[0] < end and start < entry[1] for start, end in spans)),
        *((*match.span(), known_japanese(match.group(), Role.NOUN, words)) for match in mixed),
    ]


@cache
def _mixed_words() -> re.Pattern[str]:
    known = (key for key in lexicon().groups.standing if is_japanese(key) and _LATIN.search(key))
    longest_first = map(re.escape, sorted(known, key=len, reverse=True))
    return re.compile(rf"(?<![a-z0-9])(?:{'|'.join(longest_first)})(?![a-z0-9])")


def _side_of(surface: str) -> str:
    """What follows an amount in the same run of Japanese: the 前 of 「1週間前」."""
    return surface[-1] if len(surface) > 1 and surface[-1] in _SIDES else ""


def _told_beside(
    found: list[tuple[int, int, Concept]], beside: Sequence[tuple[int, int]]
) -> list[tuple[int, int, Concept]]:
    """`found` with what stands beside the question marked, where the question itself says enough."""
    inside = [within(start, end, beside) for start, end, _ in found]
    things = [
        concept.known or concept.role is Role.NOUN
        for (_, _, concept), aside in zip(found, inside, strict=True)
        if not aside and concept.role in (Role.NOUN, Role.ACTION)
    ]
    if sum(things) < _ENOUGH:
        return found
    return [
        (start, end, structs.replace(concept, aside=aside))
        for (start, end, concept), aside in zip(found, inside, strict=True)
    ]


def _modifying(found: list[tuple[int, int, Concept]], normal: str) -> Iterator[Concept]:
    for at, (_, end, concept) in enumerate(found):
        head = None
        if at + 1 < len(found) and concept.role is not Role.LIGHT:
            start, _, following = found[at + 1]
            if normal[end:start] in ("", " ", "-") and following.role not in (Role.LIGHT, Role.ACTION):
                head = at + 1
        yield structs.replace(concept, modifies=head)
