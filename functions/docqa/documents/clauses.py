"""How Japanese rules and laws are divided: 章, 条 with their captions, 項 and 号."""

import re
from collections.abc import Sequence

_DIGITS = "0-9０-９"
_COUNT = "一二三四五六七八九十"
_NUMBER = rf"[{_DIGITS}{_COUNT}百]+"
_ARTICLE_NUMBER = rf"第{_NUMBER}条(?:の{_NUMBER})*"
_BRACKETED = r"[(（][^()（）。]{1,40}(?:[(（][^()（）。]{1,30}[)）][^()（）。]{0,30})?[)）]"
# 項 begin with a bare number, and mostly the second is the first to have one.
_ARTICLE = re.compile(rf"[ \t　]*{_ARTICLE_NUMBER}[ 　(（]")
_PARAGRAPH = re.compile(rf"[ \t　]*[{_DIGITS}]{{1,2}}[ 　]+(?=[\u3041-\u30ff\u3400-\u9fff「『（])")
_CAPTION = re.compile(rf"[ \t　]*{_BRACKETED}[ \t　]*$")
_TITLED_ARTICLE = re.compile(rf"[ \t　]*{_ARTICLE_NUMBER}[ 　]*{_BRACKETED}[ \t　]*$")
_DIVISION = re.compile(rf"[ \t　]*第{_NUMBER}([編章節款目])(?:の{_NUMBER})*[ 　]+[^\s。、][^。、]{{0,30}}$")
_APPENDED = re.compile(
    rf"[ \t　]*(?:附[ 　]*則|別[ 　]*表|別[ 　]*紙|別記(?:様式)?|様式)(?:[ 　]*第?{_NUMBER}号?)?[ 　]*(?:{_BRACKETED})?[ \t　]*$"
)
ITEM_MARK = rf"(?:[{_COUNT}]{{1,3}}(?:の[{_COUNT}])?|[イロハニホヘトチリヌアウエオカキクケコ])[ 　]+(?=\S)"
_INNER_MARK = re.compile(r"[ \t　]*[イロハニホヘトチリヌアウエオカキクケコ]")
_WIDE_NUMBER = re.compile(rf"[ \t　]*([{_DIGITS}]{{1,2}})．[ 　]*(?=[^{_DIGITS}\s])")
_WIDE_TITLE = re.compile(rf"{_WIDE_NUMBER.pattern}[^。、：:]{{1,30}}$")
_LEVELS = {"編": 2, "章": 3, "節": 4, "款": 5, "目": 5}
ARTICLE_LEVEL = 6
_FIRST_OF_HEADINGS = frozenset("第附別様（(")


def begins_clause(line: str) -> bool:
    """Whether an article or one of its numbered paragraphs begins here, also without a blank line before it."""
    return not line.isascii() and (_ARTICLE.match(line) or _PARAGRAPH.match(line)) is not None


def heading_level(lines: Sequence[str], at: int) -> int | None:
    """How deep a line heads what follows, as 第2章 or the caption of an article do; None for other lines."""
    line = lines[at]
    if "．" in line and _WIDE_TITLE.match(line) and _has_text_of_its_own(lines, at):
        return ARTICLE_LEVEL + 1
    if line.lstrip()[:1] not in _FIRST_OF_HEADINGS:
        return None
    if division := _DIVISION.match(line):
        return _LEVELS[division.group(1)]
    if _APPENDED.match(line):
        return _LEVELS["章"]
    if _TITLED_ARTICLE.match(line) or (_CAPTION.match(line) and _clause_follows(lines, at)):
        return ARTICLE_LEVEL
    return None


def _has_text_of_its_own(lines: Sequence[str], at: int) -> bool:
    """Whether 「１．点検」 heads what follows it, and is none of several items."""
    if at and _WIDE_TITLE.match(lines[at - 1]):
        return False
    following = next((line for line in lines[at + 1 : at + 3] if line.strip()), "")
    number = _WIDE_NUMBER.match(following)
    return following != "" and (number is None or int(number.group(1)) == 1)


def _clause_follows(lines: Sequence[str], at: int) -> bool:
    following = next((line for line in lines[at + 1 : at + 3] if line.strip()), "")
    return begins_clause(following)


def depth_of_item(line: str) -> int:
    """How much deeper an item stands than its white space tells: イ is an item of 一 or (1)."""
    return 1 if _INNER_MARK.match(line) else 0
