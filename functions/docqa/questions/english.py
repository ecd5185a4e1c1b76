"""English words to concepts: stop words, phrases of the lexicon, and whether a word is a thing or an act."""

from collections.abc import Iterator, Sequence

from functions.docqa.questions.concept import Concept, Role
from functions.docqa.vocabulary.lexicon import LONGEST_PHRASE, Lexicon
from functions.docqa.vocabulary.words import is_participle, normalise, root, stem, tokens

_NOUN_BEFORE = {
    "the",
    "a",
    "an",
    "my",
    "our",
    "your",
    "of",
    "for",
    "per",
    "no",
    "each",
    "every",
    "which",
    "what",
    "this",
    "any",
    "with",
    "in",
}
_VERB_BEFORE = {
    "to",
    "must",
    "should",
    "can",
    "could",
    "may",
    "might",
    "do",
    "does",
    "did",
    "will",
    "would",
    "shall",
    "i",
    "we",
    "you",
    "they",
    "be",
    "been",
    "is",
    "are",
    "was",
    "were",
    "not",
    "get",
}

_ARTICLES = {"the", "a", "an", "my", "our", "your", "their", "his", "her", "its"}
_VERB_AND_PARTICLE = 2
_PREFIX = 5  # notified, notification: more than this many letters alike, among words that mean the same
_INVERTED = {"can", "could", "may", "must", "should", "do", "does", "did", "will", "would"}
_ASKING = {"what", "when", "where", "why", "how", "which", "whom", "long", "soon", "often", "much", "fast"}
_SUBJECTS = {"i", "we", "you", "they", "he", "she", "it", "one", "someone", "somebody", "anybody", "anyone"}
_PARTICLES = (" out", " up", " off", " on", " in", " over", " down")
_TOWARDS_A_THING = {
    "happens",
    "happen",
    "happened",
    "applies",
    "apply",
    "related",
    "due",
    "access",
    "subject",
    "attached",
}
_DIRECTIONS = {"to", "below", "above", "into"}
_BEING = frozenset({"is", "are", "was", "were", "be", "been", "being"})
_CASES = {"if", "when", "whenever", "unless"}
_PREPOSITIONS = {
    "of",
    "for",
    "to",
    "in",
    "on",
    "at",
    "by",
    "with",
    "from",
    "into",
    "onto",
    "about",
    "under",
    "over",
    "inside",
    "outside",
    "through",
    "during",
    "per",
    "via",
    "without",
    "within",
    "between",
    "after",
    "before",
    "until",
    "as",
    "than",
    "if",
}


def english_concepts(
    pieces: list[tuple[int, int, str]], words: Lexicon
) -> Iterator[tuple[int, int, Concept]]:
    """The concepts of the English `pieces` (start, end, word) of a question, each with its span."""
    at = 0
    while at < len(pieces):
        taken = next((size for size in range(LONGEST_PHRASE, 0, -1) if _phrase(pieces, at, size, words)), 0)
        if taken > 1 and at + taken == len(pieces) and _ends_in_verb([raw for _, _, raw in pieces]):
            # "when does the board meet" speaks of no board meeting
            taken = next((size for size in range(taken - 1, 0, -1) if _phrase(pieces, at, size, words)), 0)
        key = _key(pieces[at : at + max(1, taken)])
        raw = pieces[at][2]
        if (taken == 1 and raw in words.stop) or (not taken and (raw in words.stop or not key.strip())):
            at += 1
            continue
        size = max(1, taken)
        surface = " ".join(piece for _, _, piece in pieces[at : at + size])
        before = pieces[at - 1][2] if at else ""
        inverted = before in _INVERTED or before in ("is", "are", "was", "were")
        asked = {raw for _, _, raw in pieces[max(0, at - 3) : at - 1]} & _ASKING
        subject = (at == 1 or bool(asked)) and inverted
        if before == "to" and at > 1 and pieces[at - 2][2] in _TOWARDS_A_THING:
            before = "of"
        role = _english_role(key, surface, before, words, subject=subject)
        becomes = size == 1 and _is_verb_of_a_case([raw for _, _, raw in pieces], at, words)
        if becomes and role is Role.NOUN:
            role = Role.ACTION
        if (
            role is Role.NOUN
            and at + size == len(pieces)
            and size == 1
            and _ends_in_verb([raw for _, _, raw in pieces])
        ):
            role = Role.ACTION  # what does the label show, when does the link expire
        acting = role is Role.NOUN and size == 1 and _has_an_object([raw for _, _, raw in pieces], at)
        if role is Role.NOUN and size == 1 and _is_verb_of_a_choice([raw for _, _, raw in pieces], at):
            role = Role.ACTION
        if acting:
            role = Role.ACTION
        told = acting or (
            role is Role.ACTION
            and not becomes
            and bool(_CASES & {raw for _, _, raw in pieces[1:at]} or pieces[0][2] == "if")
        )
        alternatives = words.groups.get(key)
        own: tuple[str, ...] = (key, f" {key.replace(' ', '')} ") if "-" in surface else (key,)
        own += _derived(key, alternatives.words if alternatives else ())
        content = [f" {word} " for word in key.split() if word not in words.stop]
        yield (
            pieces[at][0],
            pieces[at + size - 1][1],
            Concept(
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
                sought=before == "which",
            ),
        )
        at += size


def _derived(key: str, alternatives: Sequence[str]) -> tuple[str, ...]:
    """Those of the alternatives that are the same word in another form: notification, notified."""
    return tuple(
        word
        for word in alternatives
        if word != key and word.count(" ") == 2 == key.count(" ") and _alike(word.strip(), key.strip())
    )


def _alike(first: str, second: str) -> bool:
    return root(first) == root(second) or (len(first) > _PREFIX and first[:_PREFIX] == second[:_PREFIX])


def _ends_in_verb(pieces: Sequence[str]) -> bool:
    """Whether the last word is the verb of a question: "when does the link expire", "where is the market held"."""
    if is_participle(pieces[-1]) and _BEING.intersection(pieces[:-2]) and pieces[-2] not in _NOUN_BEFORE:
        return True
    asked = [at for at, piece in enumerate(pieces[:-1]) if piece in _INVERTED and _is_inverted(pieces, at)]
    if not asked or pieces[-2] in _NOUN_BEFORE:
        return False
    at = asked[-1]
    between = pieces[at + 1 : -1]
    if at and pieces[at - 1] == "what" and pieces[at] in ("do", "does", "did") and between:
        return between[0] not in _SUBJECTS or len(between) == 1
    if at == 0 and sum(piece not in _NOUN_BEFORE for piece in between) > 1:
        return False
    return (
        bool(between) and not (_SUBJECTS | _PREPOSITIONS | {"be", "have"}).intersection(between)
    ) or between[-1:] == ["not"]


def _has_an_object(pieces: Sequence[str], at: int) -> bool:
    """Whether an article follows the word, as it follows the verb in "when does the guard close the gate"."""
    if at + 1 == len(pieces) or pieces[at + 1] not in _ARTICLES or pieces[at - 1] in _NOUN_BEFORE:
        return False
    return any(
        piece in _INVERTED and _is_inverted(pieces, number) for number, piece in enumerate(pieces[: at - 1])
    )


def _is_verb_of_a_choice(pieces: Sequence[str], at: int) -> bool:
    """Whether the word is what the one that is sought does: "which court decides disputes", not "which class may I …"."""
    if at < _VERB_AND_PARTICLE or pieces[at - 2] != "which" or at + 1 == len(pieces):
        return False
    does = pieces[at].endswith("s") and not pieces[at].endswith(("ss", "us"))
    return does and pieces[at + 1] not in _VERB_BEFORE and pieces[at + 1] not in _PREPOSITIONS


def _is_verb_of_a_case(pieces: Sequence[str], at: int, words: Lexicon) -> bool:
    """Whether the word is what happens in "when availability drops to 99 %"."""
    following = pieces[at + 1] if at + 1 < len(pieces) else ""
    return (
        pieces[at].endswith("s")
        and bool({*_CASES, "that"}.intersection(pieces[:at]))
        and pieces[at - 1] not in words.stop
        and (following in _DIRECTIONS or following[:1].isdigit())
    )


def _is_inverted(pieces: Sequence[str], at: int) -> bool:
    """Whether the subject follows the auxiliary: "when do suppliers …", "may a guest …", not "who may …"."""
    return at == 0 or pieces[at - 1] in _ASKING or pieces[at - 1] not in ("who", "and", "that", "which")


def _english_role(key: str, surface: str, before: str, words: Lexicon, *, subject: bool) -> Role:
    if key in words.light or surface in words.stop or before == "how":
        return Role.LIGHT
    if surface.replace(".", "").isdigit():
        return Role.LIGHT
    if before in _INVERTED and surface.endswith(("s", "ing")):
        return Role.NOUN
    if surface.startswith("get ") or (
        surface.endswith(_PARTICLES) and (surface.split()[0].endswith("ed") or before not in _NOUN_BEFORE)
    ):
        return Role.ACTION  # is it carried out, when does it change over
    if (before in _VERB_BEFORE and not subject) or (
        surface.endswith(("ed", "ing")) and before not in _NOUN_BEFORE
    ):
        return Role.ACTION
    return Role.NOUN


def _phrase(pieces: list[tuple[int, int, str]], at: int, size: int, words: Lexicon) -> bool:
    if at + size > len(pieces) or (
        size > 1 and all(piece in words.stop for _, _, piece in pieces[at : at + size])
    ):
        return False
    if size > 1 and _is_a_noun_before_a_preposition(pieces, at, size):
        return False
    key = _key(pieces[at : at + size])
    return key in words.groups or key in words.broader or (size > 1 and key in words.attributes)


def _is_a_noun_before_a_preposition(pieces: list[tuple[int, int, str]], at: int, size: int) -> bool:
    """Whether the particle of a seeming "pass on" begins "on one of …", and belongs to no verb: "my boarding pass on one"."""
    if size > _VERB_AND_PARTICLE or at < _VERB_AND_PARTICLE or not pieces[at][2].isalpha():
        return False
    particle = f" {pieces[at + size - 1][2]}" in _PARTICLES
    determined = pieces[at - 2][2] in _ARTICLES and pieces[at - 1][2] not in _VERB_BEFORE
    return particle and determined and at + size < len(pieces)


def _key(pieces: list[tuple[int, int, str]]) -> str:
    return f" {' '.join(stem(token) for _, _, piece in pieces for token in tokens(normalise(piece)))} "
