"""A question as groups of terms, each for one thing that it names; a group has the synonyms of its word, in both languages.

These are in terms/*.txt, a group a line, words between commas.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain, pairwise
from pathlib import Path

from a2a_hub.text.normalization import normalise
from a2a_hub.text.quantities import blanked
from functions.docqa.retrieval.dictionary import translations
from functions.docqa.retrieval.terms import terms_of

_MAX_CHARACTERS = 1_000
_LONGEST_KEY = 14
_FUNCTION_WORDS = (
    "a an the is are was were be been am do does did can could will would shall should may might must i you he she "
    "it we they me my your our their his her its this that these those of to in on at by for with from as and or if "
    "so what which who whom whose when where why how much many long often there have has had get any some about "
    "into than then not no please tell want need know let say us them also"
)
STOP_WORDS = frozenset(_FUNCTION_WORDS.split())
# Words and endings that only ask; what is left of a question are the things that it names.
_ASKING = re.compile(
    r"(?:必要が(?:あ|な)|(?:起き|起こっ|発生し)(?:たら|た場合|たとき|た際)|しなければ(?:なら|いけ)|教えて|知りたい|もう一度|助か(?:り|る|った)|ください|下さい|でしょうか|ですか|ますか|ました|ません|ましょう|いくら|いくつ|いつ|どこ|だれ|どの|どう|どれ|なぜ|なん|何|誰"
    r"|ありますか|できますか|すれば|したら|よいか|いいの|について|における|に関して|とき|場合|こと|もの|ため|から|まで|より|という|とは|では|には|への|からの|での|の際|際に"
    r"|です|ます|する|して|した|され|れる|ている|てい|ない|たい|ので|のは|のか|かな)"
)
# They name the kind of answer, for which documents often have no word: "within 15 minutes" is a deadline.
_KIND = re.compile(
    r"期限|締め?切り?|期日|期間|金額|料金|費用|値段|上限|下限|場所|担当者?|責任者|理由|頻度|[秒分日]以内|時間以内|営業日"
    r"|\b(?:deadline|limit|maximum|minimum|amount|cost|price|fee|person|place|location|reason|period|frequency|date)s?\b"
)
_OF_A_KIND = 0.4
_MARKS = "?!.,"
# 何日, 何人: of what a number is asked for, not a thing that is named.
_COUNTED = re.compile(r"何(?:営業日|[ヶか]月|[\u4e00-\u9fff]{1,2})(?:以内|以上|前|後)?")
_WORD = re.compile(r"[a-z0-9\u00c0-\u024f]{2,}|[\u3400-\u9fff々〆ヶ]{2,}|[\u30a1-\u30fa\u30fc-\u30ff]{2,}")

_INFLECTED = re.compile(r"[\u3400-\u9fff々](?![はがのをにでともへやかなだ])[\u3041-\u309f]")


@dataclass(frozen=True, slots=True)
class Group:
    """The alternatives for one thing, each a tuple of terms that stand together; `weight` is 1 for a word of the question."""

    alternatives: tuple[tuple[str, ...], ...]
    weight: float = 1.0
    is_translated: bool = False

    @property
    def own(self) -> tuple[str, ...]:
        """Return the terms of the question itself."""
        return self.alternatives[0]


def groups_of(question: str) -> list[Group]:
    """Return the groups of a question; every term of it is in one of them."""
    text = _KIND.sub(r" \g<0> ", _ASKING.sub(" ", normalise(question)[:_MAX_CHARACTERS]))
    kinds = set(terms_of(" ".join(_KIND.findall(text))))
    # A code is one thing, and not as many as it has parts.
    whole = set(terms_of(blanked(text, "code")))
    terms = [
        term for term in dict.fromkeys(terms_of(text)) if term not in STOP_WORDS and (term in whole or term[0] == "q")
    ]
    known = synonyms()
    found = [
        Group(((term,), *_others(known.get(f" {term} ", ()), term)), weight=_OF_A_KIND if term in kinds else 1.0)
        for term in terms
    ]
    phrase = f" {' '.join(terms_of(text))} "
    keys = {f" {first} {second} " for first, second in pairwise(terms)} & known.keys()
    keys |= {key for key in _japanese_parts(text) if key in known}
    found += [
        Group((tuple(terms_of(key)), *known[key]), weight=0.7 * (_OF_A_KIND if kinds >= set(terms_of(key)) else 1))
        for key in sorted(keys)
        if key[0] != " " or key in phrase
    ]
    return found + _translated(text, kinds)


def words_of(question: str) -> list[frozenset[tuple[str, ...]]]:
    """Return the words of a question that name things, each as the phrases of terms that say it, or a part of it."""
    groups = groups_of(question)
    found = []
    for word in _naming_words(question):
        terms = _naming_terms(word)
        phrases = (group.alternatives for group in groups if group.own and terms.issuperset(group.own))
        if said_by := frozenset(filter(None, chain.from_iterable(phrases))):
            found.append(said_by)
    return found


def phrases_of(question: str) -> frozenset[tuple[str, ...]]:
    """Return the phrases of terms for what a question names, in both languages: a text without any of them is not about it."""
    words = " ".join(_naming_words(question))
    terms = _naming_terms(words)
    groups = (*(each for each in groups_of(question) if not terms.isdisjoint(each.own)), *_translated(words, set()))
    return frozenset(filter(None, chain.from_iterable(group.alternatives for group in groups)))


def beginnings_of(question: str) -> frozenset[str]:
    """Return the beginnings of words that go on in kana, as 返し of いつ返しますか: one kanji, alone, says too little."""
    return frozenset(_INFLECTED.findall(_KIND.sub(" ", _ASKING.sub(" ", normalise(question)[:_MAX_CHARACTERS]))))


def _naming_words(question: str) -> tuple[str, ...]:
    text = _KIND.sub(" ", _ASKING.sub(" ", _COUNTED.sub(" ", normalise(question)[:_MAX_CHARACTERS])))
    return tuple(dict.fromkeys(_WORD.findall(text)))


def _naming_terms(words: str) -> set[str]:
    return {term for term in terms_of(words) if term not in STOP_WORDS and len(term) > 1 and not term.isdigit()}


def _translated(text: str, kinds: set[str]) -> list[Group]:
    """Return a group for each word that the dictionary has in the other language: its usual meaning first."""
    found = []
    for word, meanings in translations(" ".join(word for word in text.split() if word.strip(_MARKS) not in STOP_WORDS)):
        phrases = (tuple(term for term in terms_of(meaning) if term not in STOP_WORDS) for meaning in meanings)
        if alternatives := tuple(dict.fromkeys(filter(None, phrases))):
            weight = _OF_A_KIND if kinds >= set(terms_of(word)) else 1.0
            found.append(Group(alternatives, weight=weight, is_translated=True))
    return found


def _others(alternatives: tuple[tuple[str, ...], ...], term: str) -> tuple[tuple[str, ...], ...]:
    return tuple(each for each in alternatives if each != (term,))


def _japanese_parts(text: str) -> set[str]:
    """Return the pieces of Japanese that may be a word of a group."""
    runs = re.findall(r"[\u3040-\u9fff]{2,60}", text)
    return {
        run[start : start + length]
        for run in runs
        for start in range(len(run))
        for length in range(2, min(_LONGEST_KEY, len(run) - start) + 1)
    }


@cache
def synonyms() -> dict[str, tuple[tuple[str, ...], ...]]:
    """Return for each word, as it is looked up, the terms of all words of its groups."""
    found: dict[str, dict[tuple[str, ...], None]] = {}
    for words in _groups(Path(__file__).with_name("terms")):
        spelled = [(word.startswith("~"), word.removeprefix("~")) for word in words]
        alternatives = dict.fromkeys(tuple(terms_of(word)) for _, word in spelled)
        for said_only, word in spelled:
            if not said_only:
                found.setdefault(key_of(word), {}).update(alternatives)
    return {key: tuple(filter(None, alternatives)) for key, alternatives in found.items()}


def key_of(word: str) -> str:
    """Return the lookup key of a word or phrase: its stems between blanks, or the Japanese text itself."""
    return f" {' '.join(terms_of(word))} " if word.isascii() else word.strip()


def _groups(folder: Path) -> Iterator[list[str]]:
    for path in sorted(folder.glob("*.txt")):
        for line in path.read_text("utf-8").splitlines():
            if line and line[0] not in "#[":
                yield [word for word in map(str.strip, line.split(",")) if word]
