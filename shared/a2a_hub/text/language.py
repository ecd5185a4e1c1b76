"""The language of a question, and of its answer."""

import re
from enum import StrEnum
from functools import cache

_MAX_END_CHARACTERS = 5000


class Language(StrEnum):
    """A language of people's texts."""

    EN = "en"
    JA = "ja"

    @property
    def in_english(self) -> str:
        """Its name, for models."""
        return "English" if self is Language.EN else "Japanese"


def language_of(text: str) -> Language:
    """Return Japanese if the text has a kana, a Chinese character or a mark of East Asian width (「？！」), else English."""
    if text.isascii():
        return Language.EN
    return Language.JA if _japanese().search(text) else Language.EN


def answer_language(question: str) -> Language:
    """Return the requested language of the answer ("answer in Japanese", 「英語で教えて」), else that of the question.

    Of a conversation's questions, one per line, the last one that names a language decides.
    """
    ends = question
    if len(question) > 2 * _MAX_END_CHARACTERS:
        # Pasted material stands between the ends of a question.
        ends = f"{question[:_MAX_END_CHARACTERS]}\n{question[-_MAX_END_CHARACTERS:]}"
    named = list(_named().finditer(ends))
    if not named:
        return language_of(question)
    last = named[-1]
    if "".join(filter(None, last.groups())).casefold() in ("japanese", "日本語"):
        return Language.JA
    # A later Japanese line ends the request for English.
    return language_of(ends[last.end() :].partition("\n")[2])


# Compiled on first use: so large a set takes milliseconds.
@cache
def _japanese() -> re.Pattern[str]:
    return re.compile(r"[\u3001-\u303f\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uff01-\uff9f]")


@cache
def _named() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:answer|reply|respond|explain|tell me|(?:say|repeat|have|get|see|put|write) (?:it|that|this))\b"
        r"[^.?!\n]{0,40}?\bin (english|japanese)\b"
        # "How do you list verbs in Japanese?" asks about the language.
        r"|(?:^|[,.?!] ?|\bplease )(?:list|give|name|show|describe|draft|create|summari[sz]e|outline|suggest|propose)\b"
        r"[^.?!\n]{0,120}? in (english|japanese)(?:,? please)?[.!?]*$"
        r"|(?:^|[,.?!] ?)(?:and |now |please )?in (english|japanese)(?:,? please)?[.!?]*$"
        r"|^(日本語|英語)で(?:も)?[。?？!！]*$"
        r"|(日本語|英語)に(?:戻し|訳し|翻訳し|直し)"
        r"|(日本語|英語)で(?:も)?(?:の)?(?:教え|答え|回答|返答|返事|説明|お願い|言って|挙げ|列挙|まとめ|示し|提案"
        r"|[0-9一二三四五六七八九十]{1,2}(?:つ|個|件|点))",
        re.IGNORECASE | re.MULTILINE,
    )
