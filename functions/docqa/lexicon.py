"""The bilingual word groups of lexicon.toml, read once, ready to look up."""

import re
import tomllib
from functools import cache
from pathlib import Path

from msgspec import Struct

from functions.docqa.words import HIRAGANA, KANJI, is_japanese, normalise, phrase, stem

_INFLECTED = re.compile(rf"[{KANJI}][{HIRAGANA}]*[{KANJI}][{HIRAGANA}]$")
_KANA = re.compile(rf"[{HIRAGANA}]")
_COMPOUND_VERB = re.compile(rf"[{KANJI}]+[{HIRAGANA}][{KANJI}]+[{HIRAGANA}]?$")
_SHORT_VERB = re.compile(rf"[{KANJI}][{HIRAGANA}]")
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
LONGEST_JAPANESE = 12
LONGEST_PHRASE = 4


class Alternatives(Struct, frozen=True):
    """Other ways to say a word: `words` are stemmed English phrases between spaces, `texts` Japanese substrings."""

    words: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()


class Lexicon(Struct, frozen=True):
    """`groups` maps a key (a stemmed phrase or a Japanese word) to all words of the groups it stands in.

    `broader` maps a key to words for a larger class of things, which speak of it too. `parties` are the keys of people
    and organisations that are told apart, `special` those that mark a rule as the special one.
    """

    groups: dict[str, Alternatives]
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
    """How `word` is looked up: English as a stemmed phrase, Japanese as written but for the ending of a verb."""
    if not is_japanese(word):
        return phrase(word)
    key = "".join(normalise(word).split())
    return key[:-1] if _INFLECTED.search(key) else key


def _spellings(word: str) -> list[str]:
    """The key of `word`, and of a Japanese one also that without okurigana: 申し込み, 申込."""
    key = key_of(word)
    if not _COMPOUND_VERB.match(key):
        return [key]
    return [key, _KANA.sub("", key)]


def _inflections(key: str) -> list[str]:
    """The stems of a short Japanese verb: 払う → 払わ, 払い, 払え, 払っ."""
    if not _SHORT_VERB.fullmatch(key):
        return []
    row = next((row for row in _KANA_ROWS if key[1] in row[:5]), "")
    return [key[0] + kana for kana in row]


@cache
def lexicon() -> Lexicon:
    """The lexicon that ships with the engine."""
    data = tomllib.loads((Path(__file__).parent / "lexicon.toml").read_text(encoding="utf-8"))
    groups: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for line in data["parties"] + data["synonyms"]:
        keys = dict.fromkeys(key for word in _split(line) for key in _spellings(word))
        english = {key: None for key in keys if key[0] == " "}
        japanese = {key: None for key in keys if key[0] != " "}
        for key in keys:
            words, texts = groups.setdefault(key, ({}, {}))
            words.update(english)
            texts.update(japanese)
    light = frozenset(
        key_of(word) for name in ("english", "japanese") for word in _split(data["light"][name])
    )
    for key in list(groups):
        for form in _inflections(key) if key[0] not in light else ():
            groups.setdefault(form, groups[key])
    broader: dict[str, dict[str, None]] = {}
    for entry in data["broader"]:
        for word in _split(entry["of"]):
            broader.setdefault(key_of(word), {}).update(dict.fromkeys(map(key_of, _split(entry["are"]))))
    attributes: dict[str, set[str]] = {}
    for kind, line in data["attributes"].items():
        for word in _split(line):
            attributes.setdefault(key_of(word), set()).add(kind)
    stop = frozenset(_split(data["stop"]["english"]))
    lines = [*data["parties"], *data["synonyms"], *data["attributes"].values(), data["light"]["english"]]
    latin = {word for line in lines for word in re.findall(r"[a-z]{3,}", line.casefold())}
    return Lexicon(
        groups={key: Alternatives(tuple(words), tuple(texts)) for key, (words, texts) in groups.items()},
        broader={key: tuple(names) for key, names in broader.items()},
        attributes={key: frozenset(kinds) for key, kinds in attributes.items()},
        parties=_parties(data["parties"], data["light"]["anybody"]),
        light=light,
        stop=stop,
        special=frozenset(key_of(word) for line in data["special"].values() for word in _split(line)),
        english=frozenset(latin | {stem(word) for word in latin} | stop),
    )


def _parties(lines: list[str], anybody: str) -> frozenset[str]:
    generic = {key_of(word) for word in _split(anybody)}
    return frozenset(key for line in lines for key in map(key_of, _split(line)) if key not in generic)


def _split(line: str) -> list[str]:
    return [word.strip() for word in line.split(",")]
