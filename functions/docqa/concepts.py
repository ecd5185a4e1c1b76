"""A question's words to concepts: English by stop words and phrases, Japanese by script and known words."""

import re
from collections.abc import Collection, Iterator, Sequence
from enum import StrEnum

from msgspec import Struct, structs

from functions.docqa.lexicon import LONGEST_JAPANESE, LONGEST_PHRASE, Lexicon, lexicon
from functions.docqa.words import HIRAGANA, KANJI, KATAKANA, is_japanese, normalise, stem, tokens

_PIECE = re.compile(rf"[a-z0-9\u00c0-\u024f][a-z0-9\u00c0-\u024f.'-]*|[{KANJI}{KATAKANA}{HIRAGANA}]+")
_KANJI_RUN = re.compile(rf"[{KANJI}]+")
_KATAKANA_RUN = re.compile(rf"[{KATAKANA}]{{2,}}")
_ONLY_HIRAGANA = re.compile(rf"[{HIRAGANA}]+$")
_SURU = re.compile(r"(?:する|した|して|され|します|しま|しな|すれ|せ|でき)")
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

_INVERTED = {"can", "could", "may", "must", "should", "do", "does", "did", "will", "would"}
_ASKING = {"what", "when", "where", "why", "how", "which", "whom", "long", "soon", "often", "much", "fast"}
_SUBJECTS = {"i", "we", "you", "they", "he", "she", "it", "one", "someone", "somebody", "anybody", "anyone"}
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
_PREFIXES = frozenset("各全同当本新旧毎約第御貴両計総満片再未非不無両諸副正主準現前元初")
_INFLECTION = re.compile(r"(?:れば|れる|る|った|って|たい|ない|なければ|られ|ろ|ります|りた)")
_PARTICLE = re.compile(r"[のはがをにでともへや]|から|まで|より")


class Role(StrEnum):
    """How much it says when a concept of the question is not in a source."""

    NOUN = "noun"
    ACTION = "action"
    ATTRIBUTE = "attribute"
    LIGHT = "light"


class Concept(Struct, frozen=True):
    """One thing a question speaks of, with every way to say it.

    `own` are the question's own forms, `words` and `texts` their alternatives (`View.words`, `View.text`), `broader`
    words for more than it (laptop → device), `vital` an act that makes the case ("if solvent is spilled"), `parts` the words of a phrase or the halves of an unknown Japanese compound
    (`loose` when one of them may be missing). `modifies` is the index of the concept this one narrows down (legal → team).
    """

    surface: str
    role: Role
    own: tuple[str, ...]
    words: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    broader: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    loose: bool = False
    kinds: frozenset[str] = frozenset()
    known: bool = False
    modifies: int | None = None
    vital: bool = False


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
            found.extend(_japanese(match.group(), match.start(), words))
        else:
            piece = match.group().rstrip(".'-")
            english.append((match.start(), match.start() + len(piece), piece))
    found.extend(_english(english, words))
    found.sort(key=lambda entry: entry[0])
    unique: list[tuple[int, int, Concept]] = []
    for start, end, concept in found:
        entry = (start, end, concept)
        if concept.surface in proper and not concept.known:
            entry = (start, end, structs.replace(concept, role=Role.NOUN))
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


def _english(pieces: list[tuple[int, int, str]], words: Lexicon) -> Iterator[tuple[int, int, Concept]]:
    at = 0
    while at < len(pieces):
        taken = next((size for size in range(LONGEST_PHRASE, 0, -1) if _phrase(pieces, at, size, words)), 0)
        key = _key(pieces[at : at + max(1, taken)])
        raw = pieces[at][2]
        if (taken == 1 and raw in words.stop) or (not taken and (raw in words.stop or not key.strip())):
            at += 1
            continue
        size = max(1, taken)
        surface = " ".join(piece for _, _, piece in pieces[at : at + size])
        before = pieces[at - 1][2] if at else ""
        inverted = before in _INVERTED or before in ("is", "are", "was", "were")
        subject = (at == 1 or (at > 1 and pieces[at - 2][2] in _ASKING)) and inverted
        role = _english_role(key, surface, before, words, subject=subject)
        if role is Role.NOUN and at + size == len(pieces) and size == 1 and _ends_in_verb([raw for _, _, raw in pieces]):
            role = Role.ACTION  # what does the label show, when does the link expire
        told = role is Role.ACTION and (before in _SUBJECTS or "if" in [raw for _, _, raw in pieces[:at]])
        alternatives = words.groups.get(key)
        own = (key, f" {key.replace(' ', '')} ") if "-" in surface else (key,)
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
                kinds=words.kinds_of(key),
                known=alternatives is not None,
                vital=told,
            ),
        )
        at += size


def _ends_in_verb(pieces: Sequence[str]) -> bool:
    """Whether the last word is the verb of a question such as "when does the link expire"."""
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
    if (before in _VERB_BEFORE and not subject) or (surface.endswith(("ed", "ing")) and before not in _NOUN_BEFORE):
        return Role.ACTION
    return Role.NOUN


def _phrase(pieces: list[tuple[int, int, str]], at: int, size: int, words: Lexicon) -> bool:
    if at + size > len(pieces) or (
        size > 1 and all(piece in words.stop for _, _, piece in pieces[at : at + size])
    ):
        return False
    key = _key(pieces[at : at + size])
    return key in words.groups or key in words.broader or (size > 1 and key in words.attributes)


def _key(pieces: list[tuple[int, int, str]]) -> str:
    return f" {' '.join(stem(token) for _, _, piece in pieces for token in tokens(normalise(piece)))} "


def _japanese(run: str, offset: int, words: Lexicon) -> Iterator[tuple[int, int, Concept]]:
    at = unknown = 0
    while at < len(run):
        key = _known(run, at, words)
        if not key:
            at += 1
            continue
        yield from _unknown(run[unknown:at], offset + unknown, run[at:], words, suffix=unknown > 0)
        alternatives = words.groups.get(key)
        after = run[at + len(key) :]
        yield (
            offset + at,
            offset + at + len(key),
            Concept(
                surface=key,
                role=_japanese_role(key, after, words),
                own=(key,),
                words=alternatives.words if alternatives else (),
                texts=alternatives.texts if alternatives else (key,),
                broader=words.broader.get(key, ()),
                kinds=words.kinds_of(key),
                known=alternatives is not None,
            ),
        )
        at += len(key)
        unknown = at
    yield from _unknown(run[unknown:], offset + unknown, "", words, suffix=unknown > 0)


def _known(run: str, at: int, words: Lexicon) -> str:
    for size in range(min(LONGEST_JAPANESE, len(run) - at), 0, -1):
        key = run[at : at + size]
        listed = key in words.groups or key in words.attributes or key in words.broader
        if not listed and not (size > 1 and key in words.light):
            continue
        before, after = run[at - 1 : at] if at else "", run[at + size : at + size + 1]
        if size == 1 and (_KANJI_RUN.match(before) or _KANJI_RUN.match(after) or _ONLY_HIRAGANA.match(key)):
            continue
        if _cuts(before, key[0]) and not _ends_known(run[:at], words):
            continue
        if _cuts(key[-1], after) and not _starts_known(run[at + size :], words):
            continue
        return key
    return ""


def _cuts(before: str, first: str) -> bool:
    """Whether a boundary between the two characters would cut through a run of katakana."""
    return (
        bool(before)
        and re.match(rf"[{KATAKANA}]", before) is not None
        and re.match(rf"[{KATAKANA}]", first) is not None
    )


def _ends_known(text: str, words: Lexicon) -> bool:
    return any(text[-size:] in words.groups for size in range(2, min(LONGEST_JAPANESE, len(text)) + 1))


def _starts_known(text: str, words: Lexicon) -> bool:
    return any(text[:size] in words.groups for size in range(2, min(LONGEST_JAPANESE, len(text)) + 1))


def _japanese_role(key: str, after: str, words: Lexicon) -> Role:
    if key in words.light:
        return Role.LIGHT
    if _SURU.match(after) or _INFLECTION.match(after):
        return Role.ACTION
    return Role.ACTION if re.match(rf"[{HIRAGANA}]", key[-1]) else Role.NOUN


def _unknown(
    text: str, offset: int, following: str, words: Lexicon, *, suffix: bool
) -> Iterator[tuple[int, int, Concept]]:
    for match in re.finditer(f"{_KANJI_RUN.pattern}|{_KATAKANA_RUN.pattern}", text):
        term = match.group()
        after = (text + following)[match.end() : match.end() + 2]
        start, end = offset + match.start(), offset + match.end()
        kanji = _KANJI_RUN.match(term) is not None
        if kanji and len(term) >= 3 and term[-1] in words.attributes and after[:1] not in words.attributes:
            # 受験料 asks for an amount, and it must be that of the 受験.
            last = term[-1]
            kinds = words.kinds_of(last)
            yield end - 1, end, Concept(surface=last, role=Role.LIGHT, own=(last,), texts=(last,), kinds=kinds)
            term, end = term[:-1], end - 1
        touches = suffix and match.start() == 0
        prefix = not touches and match.end() == len(text) and bool(_KANJI_RUN.match(following))
        if (
            term in words.light
            or term in _PREFIXES
            or (len(term) == 1 and touches)
            or (kanji and len(term) == 1 and not prefix and not re.match(rf"[{HIRAGANA}]", after))
        ):
            role = Role.LIGHT
        elif kanji and len(term) == 1 and prefix:
            role = Role.NOUN  # 歯学部 is not just any 学部
        elif kanji and ((len(term) == 1 and not _PARTICLE.match(after)) or _SURU.match(after)):
            role = Role.ACTION
        else:
            role = Role.NOUN
        parts = tuple(term[at : at + 2] for at in range(0, len(term), 2)) if kanji and len(term) >= 4 else ()
        yield start, end, Concept(
            surface=term, role=role, own=(term,), texts=(term,), parts=parts, loose=len(parts) > 2
        )
