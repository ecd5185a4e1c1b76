"""The questions in a text that asks several: "How do I claim a taxi, and who approves it?", 「期限と、ついでに上限も教えて」."""

from __future__ import annotations

import re

_MOST_PARTS = 50
_ASKING = r"(?:who|whom|what|when|where|why|how|which|is|are|do|does|can|could|may|must|should)\b"
_TELLING = r"(?:tell|show|explain|give|list|name|describe|draft)\b"
_BETWEEN = re.compile(
    rf"(?<=[?？!！。\n])|(?<=[a-z0-9)]{{3}}\.)\s|,? and (?:also )?(?={_ASKING}|{_TELLING})"
    r"|、?(?:ついでに|それから|それと|あとは?、|また、)"
    # 「日当と宿泊費の上限を教えて」 asks for two things; 「取引先との会食」 names one.
    r"|(?<=[a-z0-9一-鿿ァ-ヺー]と)(?=[a-z0-9一-鿿ァ-ヺ][^。?？]{1,24}(?:を(?:教え|知り)|について|は(?:いくら|いつ|どう|何|[?？。]|$)))",
    re.IGNORECASE,
)
_IS_QUESTION = re.compile(
    rf"[?？]|^\W*{_ASKING}|(?:^|,|\bplease) ?{_TELLING}"
    r"|か[。\s]*$|(?:教え|知りた|ください|下さい|期限|いくら|上限|方法|は)[^、]{0,8}$|と$|(?:作っ|書い|挙げ|出し|見せ)て$",
    re.IGNORECASE,
)


def questions_in(text: str) -> list[str]:
    """The parts of a text that ask something, in its order; none of a text of very many parts, which nobody asks one by one."""
    parts = [part for piece in _BETWEEN.split(text) if (part := piece.strip(" 、,"))]
    return [part for part in parts if _IS_QUESTION.search(part)] if len(parts) <= _MOST_PARTS else []
