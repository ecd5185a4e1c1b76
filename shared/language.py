"""The language of a question, which is the language of its answer."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache


class Language(StrEnum):
    """What end users read."""

    EN = "en"
    JA = "ja"


def language_of(text: str) -> Language:
    """Japanese when the text has a kana or a Chinese character, else English."""
    if text.isascii():
        return Language.EN
    return Language.JA if _japanese().search(text) else Language.EN


# A set of so many characters takes milliseconds to compile, which the start of a process does without.
@cache
def _japanese() -> re.Pattern[str]:
    return re.compile(r"[\u3005\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uff66-\uff9f]")
