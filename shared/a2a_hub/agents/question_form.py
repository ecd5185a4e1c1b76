"""The form of a question: the requested format of its answer ("briefly", 「表で」), and the questions that it consists of."""

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
    r"|(?:^|[^程理票発公代仮年一])表(?:に(?:して|まとめ|整理)|で(?:見せ|示|お願い|出|教|まとめ|[0-9一二三四五六七八九十、]|$)|形式)"
    r"|テーブル(?:に(?:して|まとめ)|で(?:[。 ]|$|お願い|見せ|出|まとめ)|形式)|一覧表(?:に|で)"
)
_SENTENCE = re.compile(r".+?(?:[.!?](?=\s|$)|[。！？]|$)", re.DOTALL)
_MAX_PARTS = 50
_QUESTION_WORD = r"(?:who|whom|what|when|where|why|how|which|is|are|do|does|can|could|may|must|should)\b"
_IMPERATIVE = r"(?:tell|show|explain|give|list|name|describe|draft)\b"
_SEPARATOR = re.compile(
    rf"(?<=[?？!！。\n])|(?<=[a-z0-9)]{{3}}\.)\s|,? and (?:also )?(?={_QUESTION_WORD}|{_IMPERATIVE})"
    r"|、?(?:ついでに|それから|それと|あとは?、|また、)"
    # 「日当と宿泊費の上限を教えて」 asks for two things; 「取引先との会食」 names one.
    r"|(?<=[a-z0-9一-鿿ァ-ヺー]と)(?=[a-z0-9一-鿿ァ-ヺ][^。?？]{1,24}(?:を(?:教え|知り)|について|は(?:いくら|いつ|どう|何|[?？。]|$)))",
    re.IGNORECASE,
)
_IS_QUESTION = re.compile(
    rf"[?？]|^\W*{_QUESTION_WORD}|(?:^|,|\bplease) ?{_IMPERATIVE}"
    r"|か[。\s]*$|(?:教え|知りた|ください|下さい|期限|いくら|上限|方法|は)[^、]{0,8}$|と$|(?:作っ|書い|挙げ|出し|見せ)て$",
    re.IGNORECASE,
)


class AnswerFormat(StrEnum):
    """The requested format of an answer."""

    FULL = "full"
    BRIEF = "brief"
    TABLE = "table"


def requested_format(question: str) -> AnswerFormat:
    """Return the requested format; of a conversation's questions, one per line, the last one that names a format decides."""
    for line in reversed(question.splitlines()):
        text = normalise(line)
        if _TABLE.search(text):
            return AnswerFormat.TABLE
        if _BRIEF.search(text):
            return AnswerFormat.BRIEF
    return AnswerFormat.FULL


def sentences(text: str) -> list[str]:
    """Return the sentences of a text."""
    return [sentence for match in _SENTENCE.finditer(text.strip()) if (sentence := match[0].strip())]


def first_sentence(text: str) -> str:
    """Return the first sentence of a text."""
    return next(iter(sentences(text)), "")


def split_questions(text: str) -> list[str]:
    """Return the separate questions of a text: "How do I claim a taxi, and who approves it?", 「期限と、上限も教えて」.

    A text of very many parts has none: nobody asks that many one by one.
    """
    parts = [part for piece in _SEPARATOR.split(text) if (part := piece.strip(" 、,"))]
    return [part for part in parts if _IS_QUESTION.search(part)] if len(parts) <= _MAX_PARTS else []


def asking_paragraph(text: str) -> str:
    """Return the only paragraph of a text that asks something, such as the one below a pasted mail; else the whole text."""
    asking = [paragraph for paragraph in re.split(r"\n\s*\n", text) if split_questions(paragraph)]
    return asking[0] if len(asking) == 1 else text
