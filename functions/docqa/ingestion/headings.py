"""Lines that head a section."""

import re

_JAPANESE = re.compile(
    r"(?:第[0-9０-９一二三四五六七八九十百]+(?P<kind>[編章節条款])(?:の[0-9０-９一二三四五六七八九十]+)?"
    r"(?:[ 　]*[(（].*[)）]|[ 　]+[^。]{0,40}[^\s。])?|[附付][ 　]*則(?:[ 　]*[(（][^)）]{1,40}[)）])?"
    r"|別表(?:第?[0-9０-９一二三四五六七八九十]+)?(?:[ 　].{0,40}|[(（].{1,40}[)）])?"
    r"|(?:別記|別紙)?様式第?[0-9０-９一二三四五六七八九十]+号?(?:[ 　]*[(（].{1,40}[)）])?)$"
)
_NUMERALS = "0-9０-９一二三四五六七八九十百"
ARTICLE = re.compile(rf"[ \t　]*(第[{_NUMERALS}]+条(?:の[{_NUMERALS}]+)?)[ 　]")
CAPTION = re.compile(r"[ \t　]*[(（][^()（）。]{1,40}[)）]\s*")
"""The text above an article that is its heading: （趣旨）."""
_BRACKETED = re.compile(r"【[^】]{1,40}】$|[■◆●▼◇□][ 　]*\S.{0,40}$")
_NUMBERED = re.compile(r"(?P<number>\d+(?:[.．]\d+)*)[.．]?[ 　]+\S[^。.:：;,、]{0,60}$")
_UPPER = re.compile(r"[A-Z][A-Z0-9 &/,()-]{3,60}$")
_DEPTHS = {"編": 2, "章": 3, "節": 4, "条": 5, "款": 5}
_FIRST = 3


def heading_depth(text: str, *, set_apart: bool) -> int | None:
    """Return how deep a heading a line of plain text is, from 2 on, such as 第2条 or 【受付】; None for other lines.

    `1.2 Scope` and SCOPE are headings only where they are `set_apart`.
    """
    text = text.strip()
    if len(text) > 100:
        return None
    if match := _JAPANESE.match(text):
        return _DEPTHS.get(match["kind"] or "", _FIRST)
    if _BRACKETED.match(text):
        return _FIRST + 3
    if not set_apart:
        return None
    if match := _NUMBERED.match(text):
        return _FIRST + match["number"].replace("．", ".").count(".")
    return _FIRST if _UPPER.match(text) else None
