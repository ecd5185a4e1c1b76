"""A question's words to concepts: English by stop words and phrases, Japanese by script and known words."""

import re
from collections.abc import Collection, Iterator, Sequence

from msgspec import structs

from functions.docqa.concept import Concept, Role
from functions.docqa.english import english_concepts
from functions.docqa.japanese import japanese_concepts
from functions.docqa.lexicon import lexicon
from functions.docqa.words import HIRAGANA, KANJI, KATAKANA, is_japanese

_PIECE = re.compile(rf"[a-z0-9\u00c0-\u024f][a-z0-9\u00c0-\u024f.'-]*|[{KANJI}{KATAKANA}{HIRAGANA}]+")


def concepts_in(
    normal: str, *, proper: Collection[str] = (), settled: Sequence[tuple[int, int]] = ()
) -> tuple[Concept, ...]:
    """The concepts of a normalised question, in their order, without duplicates.

    `proper` are words that are names; `settled` are the spans whose meaning is an entity's and needs no words.
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
    found.sort(key=lambda entry: entry[0])
    unique: list[tuple[int, int, Concept]] = []
    for start, end, concept in found:
        entry = (start, end, concept)
        if concept.surface in proper and not concept.known:
            entry = (start, end, structs.replace(concept, role=Role.NOUN, proper=True))
        elif any(first <= start and end <= last for first, last in settled):
            entry = (start, end, structs.replace(concept, role=Role.LIGHT))
        if not any(entry[2].own == other[2].own for other in unique):
            unique.append(entry)
    return tuple(_modifying(unique, normal))


def _modifying(found: list[tuple[int, int, Concept]], normal: str) -> Iterator[Concept]:
    for at, (_, end, concept) in enumerate(found):
        head = None
        if at + 1 < len(found) and concept.role is not Role.LIGHT:
            start, _, following = found[at + 1]
            if normal[end:start] in ("", " ", "-") and following.role not in (Role.LIGHT, Role.ACTION):
                head = at + 1
        yield structs.replace(concept, modifies=head)
