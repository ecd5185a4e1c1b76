"""Redaction of people's texts in the log: no mail addresses, no long numbers, and a limited length."""

import re

_MOST_CHARACTERS = 2_000
_MAIL = re.compile(r"[A-Za-z0-9._%+'-]{1,64}[@＠][A-Za-z0-9.-]{1,255}")
# Of telephones, accounts and cards; a date or a price has fewer digits.
_NUMBER = re.compile(r"\d{7,}|\d(?:[ .\-/()]{0,3}\d){8,}")


def redacted(text: str) -> str:
    """Return the text with a placeholder for each mail address and long number."""
    return _NUMBER.sub("[number]", _MAIL.sub("[mail]", text[:_MOST_CHARACTERS]))
