"""Redaction of people's texts in the log: no mail addresses, no long numbers, and a limited length."""

import re

_MAX_CHARACTERS = 2_000
# Japanese keyboards write these characters in full width, too, and a telephone number with several kinds of dashes.
_LETTERS = r"A-Za-z0-9\uff10-\uff19\uff21-\uff3a\uff41-\uff5a"
_DASHES = r"\u2010-\u2015\u2212\u30fc\uff0d\-"
_DOTS = r"\uff0e."
# Compiled when used: a log without texts redacts none.
_MAIL = rf"[{_LETTERS}{_DOTS}{_DASHES}_\uff3f%+\uff0b']{{1,64}}[@\uff20][{_LETTERS}{_DOTS}{_DASHES}]{{1,255}}"
# Of telephones, accounts and cards; a date or a price has fewer digits.
_NUMBER = rf"\d{{7,}}|\d(?:[ \u3000{_DOTS}{_DASHES}/\u30fb()\uff08\uff09]{{0,3}}\d){{8,}}"


def redacted(text: str) -> str:
    """Return the text with a placeholder for each mail address and long number."""
    return re.sub(_NUMBER, "[number]", re.sub(_MAIL, "[mail]", text[:_MAX_CHARACTERS]))
