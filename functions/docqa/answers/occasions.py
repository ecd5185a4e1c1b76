"""On what occasion a sentence holds: in which month, at what time of day, in which special case."""

import re
from functools import lru_cache

MONTH = r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH_NAMED = re.compile(rf"\b(?:in|of|for|during|since|\d{{1,2}}) ({MONTH[3:-1]})\b")
_MONTH_NUMBERED = re.compile(r"(?<!\d)(\d{1,2})月(?!間)")
_SPECIAL_CASE = re.compile(r"^\W*(?:if|unless|should|in case|in the event|where|except) ")
_CASE_ASKED = re.compile(r"\b(?:if|(?<=[a-z,] )when|in case|unless|after|before|happens?|once|should)\b")
_CLOCK_ASKED = re.compile(
    r"(?<!within )\bwhat time\b(?! (?:of (?:the )?(?:year|month)|limit|frame|period|zone|off))|何時(?!間)"
)
_CLOCK = re.compile(
    r"\d{1,2}[:.]\d{2}|\d{1,2} ?(?:[ap]\.?m\b|o'clock|h\b)|\d{4} hours|\b(?:noon|midnight|sunrise|sunset|dawn|dusk)\b"
    r"|\d時|正午|深夜|終日|24/7|始業|終業"
)


@lru_cache(maxsize=65536)
def has(pattern: re.Pattern[str], text: str) -> bool:
    """Whether the pattern is found in a normalised text; remembered, for the same sentences are met again and again."""
    return pattern.search(text) is not None


def is_no_clock(asked: str, normal: str) -> bool:
    """Whether a time of day is asked for, and none is said: a term of three years is none."""
    return has(_CLOCK_ASKED, asked) and not has(_CLOCK, normal)


def is_special(asked: str, normal: str) -> bool:
    """Whether a rule is for a case that the question does not speak of: "if the 15th is a Sunday, …"."""
    return has(_SPECIAL_CASE, normal) and not has(_CASE_ASKED, asked)


def of_another_month(asked: str, normal: str) -> bool:
    """Whether a figure is that of September where October's is asked for."""
    wanted, said = _months_in(asked), _months_in(normal)
    return bool(wanted and said) and not wanted & said


@lru_cache(maxsize=16384)
def _months_in(normal: str) -> frozenset[str]:
    names = _MONTH_NAMED.findall(normal)
    return frozenset(str(_MONTHS.index(name[:3]) + 1) for name in names) | frozenset(_MONTH_NUMBERED.findall(normal))
