"""One spelling for texts that look the same to a reader, for matching rules."""

import re
import unicodedata
from functools import cache

# Japanese keyboards and copied documents write a hyphen in many ways: P−1 and P‐1 are P-1.
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58"
# Invisible characters, left over from copying from web pages and chats.
_INVISIBLE = "\u00ad\u180e\u200b\u200c\u200d\u200e\u200f\u2060\ufe0e\ufe0f\ufeff"
_FOLDED = dict.fromkeys(_DASHES, "-") | dict.fromkeys(_INVISIBLE, "")


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
    """Return `text` in NFKC, with its case and white space kept, for patterns."""
    return unicodedata.normalize("NFKC", text)


def _fold(text: str) -> str:
    text = compose(text).casefold()
    if not _unusual().search(text):
        return compose(text)
    for character, plain in _FOLDED.items():
        text = text.replace(character, plain)
    return compose(text)


@cache
def _unusual() -> re.Pattern[str]:
    """Matches characters to be folded, and lone surrogates. Compiled on first use."""
    return re.compile(f"[{re.escape(''.join(_FOLDED))}\ud800-\udfff]")
