"""How many things a question asks for, in English and Japanese: "three tasks", "top 5", 「タスクを3つ」, 「五つ」."""

from __future__ import annotations

import re

from shared.normal_text import normalise

_ENGLISH = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"]
_WORDS = {word: number for number, word in enumerate(_ENGLISH)} | {"couple of": 2, "few": 3, "dozen": 12}
_KANJI = {
    "一": 1,
    "二": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
    "十": 10,
    "十二": 12,
}
_KANA = {"ひと": 1, "ふた": 2, "みっ": 3, "よっ": 4, "いつ": 5, "むっ": 6, "なな": 7, "やっ": 8, "ここの": 9}

_NUMBER = rf"(?P<number>[0-9]{{1,3}}|{'|'.join(sorted(_WORDS, key=len, reverse=True))})"
_THING = (
    r"(?:task|step|item|thing|example|activit(?:y|ie)|action|point|tip|milestone|risk|way|idea|deliverable|section|part|"
    r"element|phase|stage|question|metric|practice|measure|technique|method|role|reason|topic|rule|suggestion|"
    r"recommendation|advice|mistake|benefit|work package|agenda item)s?\b"
)
# Between the number and the thing stand few words, and none that makes it a time or an amount: "six-month project".
_NOT_A_THING = (
    r"(?:day|week|month|quarter|year|hour|minute|percent|people|person|member|man|team|yen|dollar)s?\b"
)
_COUNTED = re.compile(
    rf"(?<![\w.]){_NUMBER}(?![\w.%])(?:[ -](?!{_NOT_A_THING}|of the|and\b)[\w'-]+){{0,3}}? {_THING}"
    rf"|\b(?:list|name|give(?: me| us)?|show(?: me| us)?|tell(?: me| us)?|top|only|just|exactly|first|suggest|propose)"
    rf"(?: the| top| first| only| just| exactly| a)* {_NUMBER.replace('number', 'bare')}(?=\s*(?:[.,!?]|$))"
)
_JAPANESE = re.compile(
    r"(?P<number>[0-9]{1,3}|十二|[一二三四五六七八九十])"
    r" ?(?:つ|個|件|項目|点|ステップ|タスク|種類|選|工程|例|リスク|マイルストーン|手順|ポイント|段階|フェーズ|案)"
    r"(?!目)"
    r"|(?P<kana>ひと|ふた|みっ|よっ|いつ|むっ|なな|やっ|ここの)つ"
)


def asked_count(question: str) -> int | None:
    """The number of things asked for, None when the question names none. Zero is taken as no number."""
    text = normalise(question)
    if match := _JAPANESE.search(text):
        if match["kana"]:
            return _KANA[match["kana"]]
        return _KANJI.get(match["number"]) or _digits(match["number"])
    if match := _COUNTED.search(text):
        number = match["number"] or match["bare"]
        return _WORDS.get(number) or _digits(number)
    return None


def _digits(text: str) -> int | None:
    return int(text) or None if text.isdecimal() else None
