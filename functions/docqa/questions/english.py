"""English words to concepts: stop words, phrases of the lexicon, and the other words that mean the same."""

from collections.abc import Iterator, Sequence

from functions.docqa.questions.concept import Concept, Role
from functions.docqa.questions.english_roles import role_of
from functions.docqa.vocabulary.lexicon import LONGEST_PHRASE, Lexicon
from functions.docqa.vocabulary.words import normalise, root, stem, tokens

_PREFIX = 5  # notified, notification: more than this many letters alike, among words that mean the same


def english_concepts(pieces: Sequence[tuple[int, int, str]], words: Lexicon) -> Iterator[tuple[int, int, Concept]]:
    """The concepts of the English `pieces` (start, end, word) of a question, each with its span."""
    raw = [piece for _, _, piece in pieces]
    at = 0
    while at < len(pieces):
        size = _size(raw, at, words)
        if size:
            yield pieces[at][0], pieces[at + size - 1][1], _concept(raw, at, size, words)
        at += max(1, size)


def _size(raw: Sequence[str], at: int, words: Lexicon) -> int:
    """How many words from `at` on are one concept; 0 where the first says nothing."""
    taken = _longest(raw, at, LONGEST_PHRASE, words)
    if taken > 1:
        return taken
    silent = raw[at] in words.stop or (not taken and not _key(raw[at : at + 1]).strip())
    return 0 if silent else 1


def _longest(raw: Sequence[str], at: int, most: int, words: Lexicon) -> int:
    return next((size for size in range(most, 0, -1) if _is_phrase(raw, at, size, words)), 0)


def _concept(raw: Sequence[str], at: int, size: int, words: Lexicon) -> Concept:
    key, surface = _key(raw[at : at + size]), " ".join(raw[at : at + size])
    role, told = role_of(raw, at, size, key, words)
    alternatives = words.groups.get(key)
    own: tuple[str, ...] = (key, f" {key.replace(' ', '')} ") if "-" in surface else (key,)
    own += _derived(key, alternatives.words if alternatives else ())
    content = [f" {word} " for word in key.split() if word not in words.stop]
    return Concept(
        surface=surface,
        role=role,
        own=own,
        words=alternatives.words if alternatives else own,
        texts=alternatives.texts if alternatives else (),
        broader=words.broader.get(key, ()),
        parts=tuple(content) if len(content) > 1 or (role is Role.ACTION and size > 1) else (),
        loose=len(content) > 2,
        kinds=words.kinds_of(key),
        known=alternatives is not None,
        vital=told,
        sought=at > 0 and raw[at - 1] == "which",
    )


def _derived(key: str, alternatives: Sequence[str]) -> tuple[str, ...]:
    """Those of the alternatives that are the same word in another form: notification, notified."""
    return tuple(
        word
        for word in alternatives
        if word != key and word.count(" ") == 2 == key.count(" ") and _alike(word.strip(), key.strip())
    )


def _alike(first: str, second: str) -> bool:
    return root(first) == root(second) or (len(first) > _PREFIX and first[:_PREFIX] == second[:_PREFIX])


def _is_phrase(raw: Sequence[str], at: int, size: int, words: Lexicon) -> bool:
    if at + size > len(raw) or (size > 1 and all(piece in words.stop for piece in raw[at : at + size])):
        return False
    key = _key(raw[at : at + size])
    return key in words.groups or key in words.broader or (size > 1 and key in words.attributes)


def _key(raw: Sequence[str]) -> str:
    return f" {' '.join(stem(token) for piece in raw for token in tokens(normalise(piece)))} "
