"""One spelling for text that looks the same to a reader: what rules are matched against."""

import re
import unicodedata
from functools import cache

# Japanese keyboards and copied documents write a hyphen in many ways: P−1 and P‐1 are P-1.
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58"
# Characters that nobody sees, left behind by copying from web pages and chats.
_INVISIBLE = "\u00ad\u180e\u200b\u200c\u200d\u200e\u200f\u2060\ufe0e\ufe0f\ufeff"
_FOLDED = dict.fromkeys(_DASHES, "-") | dict.fromkeys(_INVISIBLE, "")


def normalise(text: str) -> str:
    """`text` in NFKC (half-width katakana and full-width letters are folded) and in folded case.

    White space is one blank between words and none around them, every dash is "-", invisible characters are
    gone, and a lone surrogate is "?". Normalising the answer again changes nothing.
    """
    if text.isascii():
        return " ".join(text.lower().split())
    if _odd().search(text):
        text = text.encode("utf-8", "replace").decode()
    settled = _fold(text)
    while settled != text:
        text, settled = settled, _fold(settled)
    return " ".join(settled.split())


def compose(text: str) -> str:
    """`text` in NFKC, with its case and white space kept: what a pattern may be written in."""
    return unicodedata.normalize("NFKC", text)


def _fold(text: str) -> str:
    text = compose(text).casefold()
    if not _odd().search(text):
        return compose(text)
    for character, plain in _FOLDED.items():
        text = text.replace(character, plain)
    return compose(text)


@cache
def _odd() -> re.Pattern[str]:
    """Finds what most texts have none of: characters to be folded, and lone surrogates. Compiled for the first such text."""
    return re.compile(f"[{re.escape(''.join(_FOLDED))}\ud800-\udfff]")
