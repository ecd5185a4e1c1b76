"""What a message asks itself: without quoted mail, courtesies and the signature, whose words belong to other subjects."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

# What is longer holds pasted material, of which nobody can tell whose it is.
_LONGEST = 20_000
# From here on, somebody else is speaking.
_THREAD = (
    r"-{2,} ?(?:original message|forwarded message|元のメッセージ|転送).*"
    r"|on .{5,100} wrote:|.{5,100}(?:の書き込み|が書きました|のメール):"
    r"|(?:from|sent|差出人|送信者|送信日時): ?.*"
)
_POINTS = (
    r"\b(?:below|above|this|that|these|those|it|attached|forwarded|following)\b"
    r"|下記|以下|上記|こちら|次の|転送|この|その|これ|それ"
)
_RULE = r"--|[-_=*~―─━＝－＊]{3,}"
_CLOSING = (
    r"(?:(?:with )?(?:best|kind(?:est)?|warm(?:est)?|many) )?(?:regards|wishes|thanks(?: (?:in advance|again))?)"
    r"|(?:all the )?best|(?:yours )?(?:sincerely|faithfully|truly)|cheers|br|rgds"
    r"|(?:thanks|thank you)(?: (?:in advance|a lot|very much|so much|again|for your help))?|敬具|以上"
    r"|(?:以上|何卒|どうぞ|お手数(?:です|をおかけします)が"
    r"|お忙しいところ(?:恐れ入り|恐縮)(?:ます|です)が|ご(?:確認|教示|回答|対応|検討)の?ほど|[、 ])*"
    r"(?:よろしく|宜しく)(?:お願い|御願い).{0,12}"
)
_SALUTATION = (
    r"(?:hi|hello|hey|dear|good (?:morning|afternoon|evening))\b[^?.:]{0,40}|(?:各位|皆様|みなさま|関係者各位|ご担当者様)"
    r"|[^。?？]{1,20}(?:様|さま|さん|御中)"
)
_GREETING = rf"(?:{_SALUTATION})[,、!！]?"
_BEFORE_SIGNATURE = rf"{_RULE}|(?:{_CLOSING})[,.!。！]*"
_COURTESY = (
    r"(?:いつも|平素より|平素は)?(?:大変)?お世話になっ(?:ております|ています|てます)|(?:いつも|毎日)?お疲れ(?:様|さま)です|初めまして|はじめまして"
    r"|[^。\n]{0,24}(?:部|課|室|係|局|チーム|グループ|支店|本社|担当)の[^。\n、]{1,10}(?:です|と申します|でございます)"
    r"|(?:お手数|お忙しいところ|恐れ入り|恐縮)[^。\n、]{0,20}、?(?:ご(?:確認|対応|回答|教示)[^。\n]{0,12})?(?:よろしく|宜しく)お願い[^。\n]{0,10}"
    r"|(?:以上、?|何卒、?|どうぞ)?(?:よろしく|宜しく)お願い(?:いたし|致し|し)?ます"
)


def own_words(text: str) -> str:
    """The text without what surrounds its question; the whole text where nothing would be left of it."""
    if len(text) > _LONGEST or ("\n" not in text and "。" not in text):
        return text
    given = text.splitlines()
    spoken = _parts(given)[0] if len(given) > 1 else [0]
    lines = (_without_courtesies(given[number]) for number in spoken)
    return "\n".join(filter(None, lines)).strip() or text


def asked_in(text: str) -> str:
    """`own_words` for agents whose questions are short: of a longer text, its ends, between which stands what was pasted."""
    if len(text) <= _LONGEST:
        return own_words(text)
    return f"{text[: _LONGEST // 2]}\n{text[-_LONGEST // 2 :]}"


def unsigned(text: str) -> str:
    """The text without its signature, and with what it quotes, unless it asks something by itself.

    "Please see below" asks what stands below; under "How high is Mount Fuji?" stands what was asked before.
    """
    if len(text) > _LONGEST or "\n" not in text:
        return text
    given = text.splitlines()
    spoken, start, end = _parts(given)
    own = "\n".join(given[number] for number in spoken)
    if _asks(own) and not _points(own):
        return "\n".join(line for line in given[:start] if not _is_quoted(line))
    return "\n".join(given[:start] + given[end:])


def _parts(given: Sequence[str]) -> tuple[list[int], int, int]:
    """The lines in which the message speaks itself, where its closing stands, and where something quoted follows.

    Without a closing, both places are where the message ends.
    """
    spoken, end = _spoken(given)
    last_question = max((number for number in spoken if _asks(given[number])), default=-1)
    for at, number in enumerate(spoken[1:], start=1):
        if number > last_question and _matches(_BEFORE_SIGNATURE, given[number]):
            quoted = next((n for n in range(number, end) if _is_quoted(given[n])), end)
            return spoken[:at], number, quoted
    return spoken, end, end


def _spoken(given: Sequence[str]) -> tuple[list[int], int]:
    """The lines in which the message speaks itself, its signature with them, and the line from which somebody else does."""
    spoken: list[int] = []
    for number, line in enumerate(given):
        if not line.strip() or _is_quoted(line):
            continue
        if spoken and _matches(_THREAD, line):
            return spoken, number
        if spoken or not _matches(_GREETING, line):
            spoken.append(number)
    return spoken, len(given)


def _is_quoted(line: str) -> bool:
    return line.lstrip().startswith((">", "＞"))


def _asks(words: str) -> bool:
    return "?" in words or "？" in words or "か。" in words


def _points(own: str) -> bool:
    return re.search(_POINTS, own, re.IGNORECASE) is not None


def _matches(pattern: str, line: str) -> bool:
    return _compiled(pattern).fullmatch(line.strip()) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _without_courtesies(line: str) -> str:
    return "。".join([sentence for sentence in line.split("。") if not _is_courtesy(sentence)])


def _is_courtesy(sentence: str) -> bool:
    # They all end like this, or ask for something.
    return (sentence.endswith(("す", "て")) or "お願い" in sentence) and _matches(_COURTESY, sentence)
