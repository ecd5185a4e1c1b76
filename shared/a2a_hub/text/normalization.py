"""Normalization of people's texts: one spelling, and no quoted mail, courtesies and signatures.

The words of quoted mail, courtesies and signatures belong to other subjects than the question.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

# Japanese keyboards and copied documents write a hyphen in many ways: P−1 and P‐1 are P-1.
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58"
# Invisible characters, left over from copying from web pages and chats.
_INVISIBLE = (
    "\u00ad\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\ufe0e\ufe0f\ufeff"
)
# UAX #15, section 13: text in the stream-safe format has no more of them in a row.
_MAX_NON_STARTERS = 30
# Every non-starter is such a character; few texts have 31 of these in a row.
_SYMBOL = r"[^\w\s\x00-\x7f]"
# Characters of class 0 that decompose into non-starters.
_DECOMPOSED = "\u0f73\u0f75\u0f81"
_FOLDED = dict.fromkeys(_DASHES, "-") | dict.fromkeys(_INVISIBLE, "")
# Longer texts hold pasted material of unknown origin.
_MAX_CHARACTERS = 20_000
# The quoted thread begins here.
_THREAD = (
    r"-{2,} ?(?:original message|forwarded message|元のメッセージ|転送).*"
    r"|on .{5,100} wrote:|.{5,100}(?:の書き込み|が書きました|のメール):"
    r"|(?:from|sent|差出人|送信者|送信日時): ?.*"
)
_REFERENCES = (
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


def normalise(text: str) -> str:
    """Return `text` in NFKC (half-width katakana and full-width letters are folded) and in folded case.

    White space becomes one blank between words, every dash "-", a lone surrogate "?"; invisible characters are removed.
    Idempotent.
    """
    if text.isascii():
        return " ".join(text.lower().split())
    if _unusual().search(text):
        text = text.encode("utf-8", "replace").decode()
    settled = _fold(text)
    while settled != text:
        text, settled = settled, _fold(settled)
    return " ".join(settled.split())


def compose(text: str) -> str:
    """Return `text` in NFKC, with its case and white space kept, for patterns. Takes linear time; see `stream_safe`."""
    return unicodedata.normalize("NFKC", stream_safe(text))


def stream_safe(text: str) -> str:
    """Return `text` without non-starters that follow 30 others (UAX #15, section 13); the rest of its NFKC is the same.

    Every normalisation form sorts each run of non-starters, which takes quadratic time.
    """
    if text.isascii():
        return text
    text = text.replace("\uff9e", "\u3099").replace("\uff9f", "\u309a")
    # Of 31 characters in a row, one stands here.
    if not any(map(_is_non_starter, text[_MAX_NON_STARTERS :: _MAX_NON_STARTERS + 1])):
        return text
    return _compiled(rf"(?<!{_SYMBOL}){_SYMBOL}{{{_MAX_NON_STARTERS + 1},}}").sub(_bounded, text)


def _bounded(symbols: re.Match[str]) -> str:
    kept: list[str] = []
    run = 0
    for character in symbols[0]:
        run = run + 1 if _is_non_starter(character) else 0
        if run <= _MAX_NON_STARTERS:
            kept.append(character)
    return "".join(kept)


def _fold(text: str) -> str:
    text = compose(text).casefold()
    if not _unusual().search(text):
        return compose(text)
    for character, plain in _FOLDED.items():
        text = text.replace(character, plain)
    return compose(text)


def _is_non_starter(character: str) -> bool:
    return unicodedata.combining(character) != 0 or character in _DECOMPOSED


@cache
def _unusual() -> re.Pattern[str]:
    """Return the pattern of characters to be folded, and lone surrogates, compiled on first use."""
    return re.compile(f"[{re.escape(''.join(_FOLDED))}\ud800-\udfff]")


def without_quoted_mail(text: str) -> str:
    """Return the text without quoted mail, courtesies and signature; the whole text if nothing else is left."""
    if len(text) > _MAX_CHARACTERS or ("\n" not in text and "。" not in text):
        return text
    lines = text.splitlines()
    own_lines = _parts(lines)[0] if len(lines) > 1 else [0]
    own_text = (_without_courtesies(lines[number]) for number in own_lines)
    return "\n".join(filter(None, own_text)).strip() or text


def question_text(text: str) -> str:
    """Return `without_quoted_mail` for agents with short questions; of a longer text its two ends, without pasted material."""
    if len(text) <= _MAX_CHARACTERS:
        return without_quoted_mail(text)
    return ends_of(text, max_characters=_MAX_CHARACTERS)


def ends_of(text: str, *, max_characters: int) -> str:
    """Return the text; of one with more characters its first and its last half of so many, on lines of their own."""
    half = max_characters // 2
    return text if len(text) <= max_characters else f"{text[:half]}\n{text[-half:]}"


def without_signature(text: str) -> str:
    """Return the text without its signature; quoted mail stays unless the message has a question of its own.

    "Please see below" refers to the quoted question; below "How high is Mount Fuji?" stands an earlier one.
    """
    if len(text) > _MAX_CHARACTERS or "\n" not in text:
        return text
    lines = text.splitlines()
    own_lines, start, end = _parts(lines)
    own = "\n".join(lines[number] for number in own_lines)
    if _has_question(own) and not re.search(_REFERENCES, own, re.IGNORECASE):
        return "\n".join(line for line in lines[:start] if not _is_quoted(line))
    return "\n".join(lines[:start] + lines[end:])


def _parts(lines: Sequence[str]) -> tuple[list[int], int, int]:
    """Return the numbers of the message's own lines, of its closing, and of the first quoted line after that.

    Without a closing, both numbers are the end of the message.
    """
    own_lines, end = _own_lines(lines)
    last_question = max((number for number in own_lines if _has_question(lines[number])), default=-1)
    for at, number in enumerate(own_lines[1:], start=1):
        if number > last_question and _matches(_BEFORE_SIGNATURE, lines[number]):
            quoted = next((n for n in range(number, end) if _is_quoted(lines[n])), end)
            return own_lines[:at], number, quoted
    return own_lines, end, end


def _own_lines(lines: Sequence[str]) -> tuple[list[int], int]:
    """Return the numbers of the message's own lines, signature included, and the number of the line where a thread begins."""
    own_lines: list[int] = []
    for number, line in enumerate(lines):
        if not line.strip() or _is_quoted(line):
            continue
        if own_lines and _matches(_THREAD, line):
            return own_lines, number
        if own_lines or not _matches(_GREETING, line):
            own_lines.append(number)
    return own_lines, len(lines)


def _is_quoted(line: str) -> bool:
    return line.lstrip().startswith((">", "＞"))


def _has_question(text: str) -> bool:
    return "?" in text or "？" in text or "か。" in text


def _matches(pattern: str, line: str) -> bool:
    return _compiled(pattern).fullmatch(line.strip()) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _without_courtesies(line: str) -> str:
    return "。".join([sentence for sentence in line.split("。") if not _is_courtesy(sentence)])


def _is_courtesy(sentence: str) -> bool:
    # All courtesies end like this, or ask for something.
    return (sentence.endswith(("す", "て")) or "お願い" in sentence) and _matches(_COURTESY, sentence)
