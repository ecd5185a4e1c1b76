"""Visible text: invisible characters are never sent."""

import re
import unicodedata

from workers.workspace.failures import Unusable

# Cc, Cf, Co, Cs: controls, characters that turn or hide text, private use, and surrogates.
_INVISIBLE = ("Cc", "Cf", "Co", "Cs")
# Fillers and variation selectors, which can carry a hidden message.
_FILLERS = (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x3164, 0xFFA0)
_UNSEEN = frozenset(map(chr, (*_FILLERS, *range(0xFE00, 0xFE0E))))
_BREAKS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_ADDRESS = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_{|}~-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z0-9-]{2,63}")
MAX_ADDRESSES = 20


def text(value: object, *, most: int) -> str:
    """Return the lines without invisible characters and trailing space. Raise Unusable if they are too long."""
    lines = _BREAKS.sub("\n", str(value)).split("\n")
    whole = "\n".join("".join(filter(_is_visible, line)).rstrip() for line in lines).strip("\n")
    if len(whole) > most:
        raise Unusable(f"This text has {len(whole)} characters; at most {most} are possible.")
    return whole


def line(value: object, *, most: int = 300) -> str:
    """Return the text as one line. Raise Unusable if it is too long."""
    cleaned = " ".join(text(value, most=100_000).split())
    if len(cleaned) > most:
        raise Unusable(f"This line has {len(cleaned)} characters; at most {most} are possible.")
    return cleaned


def addresses(values: object) -> tuple[str, ...]:
    """Return the distinct mail addresses of a list, or of a text with commas. Raise Unusable."""
    several = values.split(",") if isinstance(values, str) else values
    if not isinstance(several, list | tuple):
        raise Unusable("Recipients have to be a list of mail addresses.")
    found = tuple(dict.fromkeys(str(each).strip() for each in several if str(each).strip()))
    wrong = [each for each in found if not _ADDRESS.fullmatch(each)]
    if wrong:
        raise Unusable(f"{line(wrong[0], most=10_000)[:100]!r} is no mail address: look it up, or ask the person.")
    if len(found) > MAX_ADDRESSES:
        raise Unusable(f"At most {MAX_ADDRESSES} people at once.")
    return found


def _is_visible(character: str) -> bool:
    if character == "\t":
        return True
    # Tags and more selectors.
    is_tag = 0xE0000 <= ord(character) <= 0xE0FFF
    return unicodedata.category(character) not in _INVISIBLE and character not in _UNSEEN and not is_tag
