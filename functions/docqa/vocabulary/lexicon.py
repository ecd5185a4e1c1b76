"""The bilingual word groups of terms/, read once, ready to look up."""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from msgspec import Struct, field

from functions.docqa.vocabulary.term_files import Sections, read
from functions.docqa.vocabulary.words import HIRAGANA, KANJI, is_japanese, stem, tokens

_INFLECTED = re.compile(rf"[{KANJI}][{HIRAGANA}]*[{KANJI}][{HIRAGANA}]$")
_KANA = re.compile(rf"[{HIRAGANA}]")
_COMPOUND_VERB = re.compile(rf"[{KANJI}]+[{HIRAGANA}][{KANJI}]+[{HIRAGANA}]?$")
_SHORT_VERB = re.compile(rf"[{KANJI}][{HIRAGANA}]")
_LATIN = re.compile(r"[a-z]{3,}")
# The endings of the verbs with one kana, with that of their te-form.
_KANA_ROWS = (
    "わいうえおっ",
    "かきくけこい",
    "さしすせそ",
    "たちつてとっ",
    "ばびぶべぼん",
    "まみむめもん",
    "らりるれろっ",
)
LONGEST_JAPANESE = 14
LONGEST_PHRASE = 4


class Alternatives(Struct, frozen=True):
    """Other ways to say a word: `words` are stemmed English phrases between spaces, `texts` Japanese substrings."""

    words: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()


class Groups(Struct):
    """Which words mean the same: a key (a stemmed phrase or a Japanese word) has those of all groups it stands in."""

    members: list[list[str]] = field(default_factory=list)
    standing: dict[str, list[int]] = field(default_factory=dict)
    found: dict[str, Alternatives] = field(default_factory=dict)

    def add(self, words: Iterable[str]) -> None:
        """`words` mean the same from now on; one after a `~` is so in documents, and no word of a question."""
        members: dict[str, None] = {}
        number, standing = len(self.members), self.standing
        for word in words:
            said_only = word[0] == "~"
            for key in _spellings(word[1:] if said_only else word):
                if not said_only and key not in members:
                    standing.setdefault(key, []).append(number)
                members[key] = None
        self.members.append(list(members))

    def __contains__(self, key: str) -> bool:
        return key in self.standing

    def get(self, key: str) -> Alternatives | None:
        """All words that mean the same as `key`, itself among them; None when it stands in no group."""
        if key not in self.found and key in self.standing:
            alike = dict.fromkeys(word for group in self.standing[key] for word in self.members[group])
            self.found[key] = Alternatives(
                tuple(word for word in alike if word[0] == " "),
                tuple(word for word in alike if word[0] != " "),
            )
        return self.found.get(key)


class Lexicon(Struct, frozen=True):
    """The groups, and what is to be known of single words.

    `broader` maps a key to words for a larger class of things, which speak of it too. `parties` are the keys of people
    and organisations that are told apart, `special` those that mark a rule as the special one.
    """

    groups: Groups
    broader: dict[str, tuple[str, ...]]
    attributes: dict[str, frozenset[str]]
    parties: frozenset[str]
    light: frozenset[str]
    stop: frozenset[str]
    english: frozenset[str]
    special: frozenset[str]

    def knows(self, word: str) -> bool:
        """Whether an English word stands in the lexicon, in any of its forms."""
        return word in self.stop or word in self.english or stem(word) in self.english

    def kinds_of(self, key: str) -> frozenset[str]:
        """The kinds of answer whose expression can stand for `key`: `deadline` → {"time"}."""
        return self.attributes.get(key, frozenset())


def key_of(word: str) -> str:
    """How a normalised `word` is looked up: English as a stemmed phrase, Japanese without the ending of a verb."""
    if word.isascii() or not is_japanese(word):
        return f" {stem(word)} " if word.isalpha() else f" {' '.join(map(stem, tokens(word)))} "
    key = "".join(word.split())
    return key[:-1] if _KANA.match(key[-1]) and _INFLECTED.search(key) else key


def _spellings(word: str) -> tuple[str, ...]:
    """The key of `word`, and of a Japanese one also that without okurigana: 申し込み, 申込."""
    key = key_of(word)
    if key[0] != " " and _COMPOUND_VERB.match(key):
        return (key, _KANA.sub("", key))
    return (key,)


def _inflections(key: str) -> list[str]:
    """The stems of a short Japanese verb: 払う → 払わ, 払い, 払え, 払っ."""
    if len(key) != 2 or not _SHORT_VERB.fullmatch(key):
        return []
    row = next((row for row in _KANA_ROWS if key[1] in row[:5]), "")
    return [key[0] + kana for kana in row]


@cache
def lexicon() -> Lexicon:
    """The lexicon that ships with the engine."""
    return lexicon_of(read(Path(__file__).parent / "terms"))


def lexicon_of(sections: Sections) -> Lexicon:
    """The lexicon that `sections` hold."""
    groups = Groups()
    for words in (*sections.parties, *sections.synonyms):
        groups.add(words)
    light = frozenset(map(key_of, sections.light))
    for key in list(groups.standing):
        for form in _inflections(key) if key[0] not in light else ():
            groups.standing.setdefault(form, groups.standing[key])
    broader: dict[str, dict[str, None]] = {}
    for kinds, classes in sections.broader:
        wider = dict.fromkeys(map(key_of, classes))
        for word in kinds:
            broader.setdefault(key_of(word), {}).update(wider)
    attributes: dict[str, set[str]] = {}
    for kind, words in sections.asked.items():
        for word in words:
            attributes.setdefault(key_of(word), set()).add(kind)
    generic = set(map(key_of, sections.anybody))
    stop = frozenset(sections.stop)
    latin = frozenset(_LATIN.findall(sections.text))
    return Lexicon(
        groups=groups,
        broader={key: tuple(names) for key, names in broader.items()},
        attributes={key: frozenset(kinds) for key, kinds in attributes.items()},
        parties=frozenset(key for words in sections.parties for key in map(key_of, words)) - generic,
        light=light,
        stop=stop,
        special=frozenset(map(key_of, sections.special)),
        english=latin.union(map(stem, latin), stop),
    )
