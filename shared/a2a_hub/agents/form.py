"""The form in which an answer is asked for: "briefly", "as a table", 「一言で」, 「表で」."""

from __future__ import annotations

import re
from enum import StrEnum

from a2a_hub.text.normalization import normalise

_BRIEF = re.compile(
    r"\b(?:briefly|in brief|be brief|in (?:one|a) (?:single )?(?:sentence|line|word)|in short|in a nutshell|shorter"
    r"|concise(?:ly)?|short (?:answer|version|explanation|definition)|tl;?dr)\b"
    r"|(?:一言|ひとこと|ひと言|一文|一行)で|簡潔に|手短に|簡単に(?:説明|教え|言う)|短く(?:して|まとめ|教え|説明|答え|お願い|$)|要約して"
)
_TABLE = re.compile(
    # No "リスク管理表で": that table is what is asked about.
    r"\b(?:as|in|into) (?:a |an )?(?:markdown )?table\b|\btable form(?:at)?\b|\btabular\b"
    r"|(?:^|[^程理票発公代仮年一])表(?:に(?:して|まとめ|整理)|で(?:見せ|示|お願い|出|教|まとめ|[0-9一二三四五六七八九十、]|$)|形式)|一覧表(?:に|で)"
)
_SENTENCE = re.compile(r".+?(?:[.!?](?=\s|$)|[。！？]|$)", re.DOTALL)


class Form(StrEnum):
    """How an answer is told."""

    FULL = "full"
    BRIEF = "brief"
    TABLE = "table"


def asked_form(question: str) -> Form:
    """The form that a question asks for: of a conversation's questions, one a line, the last that names one decides."""
    for line in reversed(question.splitlines()):
        text = normalise(line)
        if _TABLE.search(text):
            return Form.TABLE
        if _BRIEF.search(text):
            return Form.BRIEF
    return Form.FULL


def first_sentence(text: str) -> str:
    """What a text says first."""
    found = _SENTENCE.match(text.strip())
    return found[0].strip() if found else ""
