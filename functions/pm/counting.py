"""The number of items that a question asks for: "three tasks", "top 5", 「タスクを3つ」, 「五つ」."""

import re
from dataclasses import dataclass

from a2a_hub.text.normalization import normalise
from a2a_hub.text.quantities import number
from a2a_hub.text.quantity_patterns import NUMBER_WORDS

_ENGLISH = {
    **{word: value for word, value in NUMBER_WORDS.items() if 0 < value <= 20},
    **{"single": 1, "pair of": 2, "couple of": 2, "couple": 2, "a few": 3, "a handful of": 5},
    **{"half a dozen": 6, "dozen": 12},
}
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5}
_KANA = {
    **{"ひと": 1, "ふた": 2, "みっ": 3, "みつ": 3, "よっ": 4, "いつ": 5, "むっ": 6, "なな": 7, "やっ": 8},
    **{"ここの": 9},
}

_NAMED = {**_ENGLISH, **_ORDINALS, **_KANA}
_DIGITS = "[0-9]{1,3}"
_WORDS = "|".join(sorted(_ENGLISH, key=len, reverse=True))
_NUMBER = rf"(?P<number>{_DIGITS}|{_WORDS})(?: ?\([0-9a-z]+\))?"
# Of "five to seven" and "3-5" the larger number counts.
_FROM = rf"(?:(?:{_DIGITS}|{_WORDS}) ?(?:-|to|or|~) ?)?"
_JAPANESE_NUMBER = rf"(?P<number>{_DIGITS}|[一二三四五六七八九]?十[一二三四五六七八九]?|[一二三四五六七八九])"
# Items that can be listed. An amount of anything else ("two weeks behind", "a six-month project") requests no number.
_ITEM_NOUN = (
    r"(?:tasks?|steps?|items?|things?|examples?|activit(?:y|ies)|actions?|points?|tips?|milestones?|risks?|ways?|ideas?"
    r"|deliverables?|sections?|parts?|elements?|phases?|stages?|questions?|metrics?|practices?|measures?|techniques?"
    r"|methods?|roles?|reasons?|topics?|rules?|suggestions?|recommendations?|mistakes?|packages?|tricks?|columns?)\b"
)
_ENGLISH_COUNT = re.compile(
    # Up to three words stand between: "three most important tasks", "3 WBS tasks", but not "the 2 weeks' tasks".
    rf"(?:(?<![\w.-])|(?<=top-)){_FROM}{_NUMBER}(?![\w.%-])"
    rf"(?: (?!days?\b|weeks?\b|months?\b|years?\b|hours?\b|people\b|of\b|and\b|or\b)[\w'-]+){{0,3}}? {_ITEM_NOUN}"
)
_ENGLISH_BARE = re.compile(
    rf"\b(?:list|name(?: me)?|give(?: me| us)?|show(?: me| us)?|tell me|top|only|just|exactly|first|suggest|propose)"
    rf"(?: the| top| first| only| just| exactly| a){{0,4}} {_FROM}{_NUMBER}(?! (?:days?|weeks?|months?|hours?)\b)(?![\w%-])"
)
_JAPANESE_COUNT = re.compile(
    rf"{_JAPANESE_NUMBER}"
    r" ?(?:つ|個|件|項目|点|ステップ|タスク|種類|選|例|リスク|マイルストーン|手順|ポイント|段階|フェーズ|案|工程)(?!目|前|後)"
    rf"|(?:ベスト|トップ|top) ?(?P<best>{_DIGITS})(?![0-9])"
    r"|(?P<kana>ひと|ふた|みっ|みつ|よっ|いつ|むっ|なな|やっ|ここの)つ"
)


_MORE = re.compile(
    r"\b(?:more|others?|next)\b|(?:あと|もう|ほかに|他に)[0-9一二三四五六七八九十]+(?:つ|個|件|点)"
    r"|^(?:続き|つづき|次|それから|そして)|もっと(?:挙げ|教え|くださ)|^(?:他|ほか)に(?:は|も)|^(?:any|what)(?:thing)? ?else"
)
_ITEM = re.compile(
    r"\b(?:step|point|item|number|task|risk) (?P<number>[0-9]{1,2})\b"
    r"|\bthe (?P<ordinal>first|second|third|fourth|fifth) (?:one|step|point|item|task|risk)\b"
    r"|(?P<place>[0-9]{1,2}|[一二三四五六七八九十])(?:番目?|つ目|個目)"
)
_FIRST = re.compile(r"\bmost important\b|どれ(?:が|を|から)|(?:一番|最も)(?:大事|重要|大切)")
_MORE_OF = re.compile(rf"(?<![\w.-]){_NUMBER} more\b")


@dataclass(frozen=True, slots=True)
class Portion:
    """The requested part of a list: `count` items after the `skipped` ones; None if no number was requested."""

    skipped: int
    count: int | None


def requested_portion(question: str, *, usual: int) -> Portion:
    """Return the part of a list that the last of a conversation's questions, one per line, asks for.

    `usual` is the number of items in an answer without a requested number. Lists begin with the most important item.
    """
    skipped, count = 0, None
    for position, line in enumerate(question.splitlines()):
        text = normalise(line)
        if position and (item := _number_in(_ITEM.search(text)) or (1 if _FIRST.search(text) else None)):
            skipped, count = item - 1, 1
            continue
        named = requested_count(line) or _number_in(_MORE_OF.search(text))
        if position and _MORE.search(text):
            skipped += count or usual
        count = named or count
    return Portion(skipped, count)


def requested_count(question: str) -> int | None:
    """Return the requested number of items, at least 1; None if the question names none."""
    text = normalise(question)
    for pattern in (_JAPANESE_COUNT, _ENGLISH_COUNT, _ENGLISH_BARE):
        if match := pattern.search(text):
            return _number_in(match)
    return None


def _number_in(match: re.Match[str] | None) -> int | None:
    if match is None:
        return None
    word = next(group for group in match.groups() if group)
    return _NAMED.get(word) or int(number(word)) or None
