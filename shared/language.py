"""The language of a question, which is the language of its answer."""

from __future__ import annotations

import re
from enum import StrEnum

_JAPANESE = re.compile(r"[\u3005\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uff66-\uff9f]")


class Language(StrEnum):
    """What end users read."""

    EN = "en"
    JA = "ja"


def language_of(text: str) -> Language:
    """Japanese when the text has a kana or a Chinese character, else English."""
    return Language.JA if _JAPANESE.search(text) else Language.EN
