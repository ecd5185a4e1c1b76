"""Whether an English word of a question is a thing or an act: by the words before it, and by its place."""

from collections.abc import Sequence

from functions.docqa.questions.concept import Role
from functions.docqa.vocabulary.lexicon import Lexicon

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
_INVERTED = {"can", "could", "may", "must", "should", "do", "does", "did", "will", "would"}
_ASKING = {"what", "when", "where", "why", "how", "which", "whom", "long", "soon", "often", "much", "fast"}
_SUBJECTS = {"i", "we", "you", "they", "he", "she", "it", "one", "someone", "somebody", "anybody", "anyone"}
_WHOM, _TELLERS = {"who", "whom"}, {"to", "i", "we", "you", "must", "should"}
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
_UP_TO = {"by", "until", "since", "from"}
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


def role_of(raw: Sequence[str], at: int, size: int, key: str, words: Lexicon) -> tuple[Role, bool]:
    """What the `size` words from `at` on are, and whether they are an act that makes the case: "if solvent is spilled".

    `raw` are the words of the question, `key` the stems of those it is about.
    """
    role = _by_the_word_before(raw, at, key, " ".join(raw[at : at + size]), words)
    if size == 1 and role is Role.NOUN:
        if _has_an_object(raw, at):
            return Role.ACTION, True
        # What does the label show, when does the link expire.
        if at + 1 == len(raw) and _ends_in_verb(raw):
            role = Role.ACTION
    in_a_case = raw[0] == "if" or any(
        raw[before] in _CASES and raw[before - 1] not in _UP_TO for before in range(1, at)
    )
    return role, role is Role.ACTION and in_a_case


def _ends_in_verb(pieces: Sequence[str]) -> bool:
    """Whether the last word is the verb of a question: "when does the link expire"."""
    asked = [at for at, piece in enumerate(pieces[:-1]) if piece in _INVERTED and _is_inverted(pieces, at)]
    if not asked or pieces[-2] in _NOUN_BEFORE:
        return False
    at = asked[-1]
    between = pieces[at + 1 : -1]
    if at == 0 and sum(piece not in _NOUN_BEFORE for piece in between) > 1:
        return False
    return bool(between) and not (_SUBJECTS | _PREPOSITIONS | {"be", "have"}).intersection(between)


def _has_an_object(pieces: Sequence[str], at: int) -> bool:
    """Whether an article follows the word, as it follows the verb in "when does the guard close the gate"."""
    if at + 1 == len(pieces) or pieces[at + 1] not in _ARTICLES or pieces[at - 1] in _NOUN_BEFORE:
        return False
    return any(piece in _INVERTED and _is_inverted(pieces, number) for number, piece in enumerate(pieces[: at - 1]))


def _is_inverted(pieces: Sequence[str], at: int) -> bool:
    """Whether the subject follows the auxiliary: "when do suppliers …", "may a guest …", not "who may …"."""
    return at == 0 or pieces[at - 1] in _ASKING or pieces[at - 1] not in ("who", "and", "that", "which")


def _by_the_word_before(raw: Sequence[str], at: int, key: str, surface: str, words: Lexicon) -> Role:
    before = raw[at - 1] if at else ""
    asked = _ASKING.intersection(raw[max(0, at - 3) : at - 1])
    subject = (at == 1 or bool(asked)) and (before in _INVERTED or before in ("is", "are", "was", "were"))
    if before == "to" and at > 1 and raw[at - 2] in _TOWARDS_A_THING:
        before = "of"
    if surface == "tell" and before in _TELLERS and _WHOM.intersection(raw[:at]):
        return Role.ACTION  # whom is it told; "tell me" only asks
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
    if (before in _VERB_BEFORE and not subject) or (surface.endswith(("ed", "ing")) and before not in _NOUN_BEFORE):
        return Role.ACTION
    return Role.NOUN
