"""What a message asks itself: without quoted mail, courtesies and the signature, whose words belong to other subjects."""

from __future__ import annotations

import re
from functools import cache

# What is longer holds pasted material, of which nobody can tell whose it is.
_LONGEST = 20_000
_QUOTED = r"[>＞].*"
# From here on, somebody else is speaking.
_THREAD = (
    r"-{2,} ?(?:original message|forwarded message|元のメッセージ|転送).*"
    r"|on .{5,100} wrote:|.{5,100}(?:の書き込み|が書きました|のメール):"
    r"|(?:from|sent|差出人|送信者|送信日時): ?.*"
)
_RULE = r"--|[-_=*~―─━＝－＊]{3,}"
_CLOSING = (
    r"(?:(?:best|kind|warm(?:est)?|many) )?(?:regards|wishes|thanks)|(?:yours )?(?:sincerely|faithfully|truly)|cheers|br|rgds"
    r"|(?:thanks|thank you)(?: (?:in advance|a lot|very much|so much|again|for your help))?|敬具|以上"
    r"|(?:以上|何卒|どうぞ|お手数(?:です|をおかけします)が"
    r"|お忙しいところ(?:恐れ入り|恐縮)(?:ます|です)が|ご(?:確認|教示|回答|対応|検討)の?ほど|[、 ])*"
    r"(?:よろしく|宜しく)(?:お願い|御願い).{0,12}"
)
_SALUTATION = (
    r"(?:hi|hello|hey|dear|good (?:morning|afternoon|evening))\b[^?.:]{0,40}|(?:各位|皆様|みなさま|関係者各位|ご担当者様)"
    r"|[^。?？]{1,20}(?:様|さま|さん|御中)"
)
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
    lines: list[str] = []
    given = text.splitlines()
    last_question = max((number for number, line in enumerate(given) if _asks(line)), default=-1)
    for number, line in enumerate(given):
        if _matches(_QUOTED, line) or (not lines and _matches(rf"(?:{_SALUTATION})[,、!！]?", line)):
            continue
        if lines and _matches(_THREAD, line):
            break
        if lines and number > last_question and _matches(rf"{_RULE}|(?:{_CLOSING})[,.!。！]*", line):
            break
        if line.strip():
            lines.append(line)
    own = _courtesies().sub("", "\n".join(lines)).strip()
    return own or text


def _asks(line: str) -> bool:
    return re.search(r"[?？]|か。", line) is not None and not _matches(_QUOTED, line)


def _matches(pattern: str, line: str) -> bool:
    return _compiled(pattern).fullmatch(line.strip()) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


@cache
def _courtesies() -> re.Pattern[str]:
    return re.compile(rf"(?:(?<=[。\n])|^)(?:{_COURTESY})(?:。|(?=\n)|$)\n?")
