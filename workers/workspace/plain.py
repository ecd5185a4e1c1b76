"""Text as a person sees it: what is not seen is not sent either."""

import re
import unicodedata

from workers.workspace.failures import Unusable

# Cc, Cf, Co, Cs: controls, what turns or hides text, private use, and halves of characters.
_UNSEEN = ("Cc", "Cf", "Co", "Cs")
_BREAKS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_ADDRESS = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_{|}~-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z0-9-]{2,63}")
MOST_ADDRESSES = 20


def text(value: object, *, most: int) -> str:
    """Several lines without anything that is not seen, and without space at their ends. Raises Unusable when it is too long."""
    lines = _BREAKS.sub("\n", str(value)).split("\n")
    whole = "\n".join("".join(filter(_is_seen, line)).rstrip() for line in lines).strip("\n")
    if len(whole) > most:
        raise Unusable(f"This text has {len(whole)} characters; at most {most} are possible.")
    return whole


def line(value: object, *, most: int = 300) -> str:
    """One line of it."""
    cleaned = " ".join(text(value, most=100_000).split())
    if len(cleaned) > most:
        raise Unusable(f"This line has {len(cleaned)} characters; at most {most} are possible.")
    return cleaned


def addresses(values: object) -> tuple[str, ...]:
    """The mail addresses in a list, or in a text with commas, each once. Raises Unusable."""
    several = values.split(",") if isinstance(values, str) else values
    if not isinstance(several, list | tuple):
        raise Unusable("Recipients have to be a list of mail addresses.")
    found = tuple(dict.fromkeys(str(each).strip() for each in several if str(each).strip()))
    wrong = [each for each in found if not _ADDRESS.fullmatch(each)]
    if wrong:
        raise Unusable(
            f"{line(wrong[0], most=10_000)[:100]!r} is no mail address: look it up, or ask the person."
        )
    if len(found) > MOST_ADDRESSES:
        raise Unusable(f"At most {MOST_ADDRESSES} people at once.")
    return found


def _is_seen(character: str) -> bool:
    if character == "\t":
        return True
    # Tags and the selectors of variants can carry a hidden message.
    return unicodedata.category(character) not in _UNSEEN and not 0xE0000 <= ord(character) <= 0xE0FFF
