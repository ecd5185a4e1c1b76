"""Lines that head a section, and lines that speak of the document itself."""

import re

from a2a_hub.text.quantities import blanked, quantities
from functions.docqa.ingestion.language import folded

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

_LABELS = (
    r"(?:doc(?:ument)?|policy|form|procedure|sop) ?(?:no|number|id|code|ref(?:erence)?|owner|type|control)|ref(?:erence)?|owner|"
    r"author|prepared by|written by|approved by|reviewed by|issued by|maintained by|maintainer|published by|version|ver|"
    r"rev(?:ision)?|edition|status|class(?:ification)?|effective(?: date| from)?|(?:issue|review|next review|revision|approval|"
    r"publication|last updated?|last modified|last reviewed|release) ?(?:date|on)?|updated|last (?:updated|reviewed|modified)|"
    r"created|date|issued|published|department|dept|distribution|page|"
    r"文書番号|文書no|文書管理番号|管理番号|文書名|規程番号|版|前版|版数|改版|バージョン|状態|ステータス|作成者?|作成日|作成部署|承認者?|承認日|改[定訂]日?|"
    r"最終改[定訂]日?|制定日?|施行日?|適用開始?日?|発効日|発行日?|発行者|発行元|発行部署|更新日|最終更新日?|所管(?:部署|部門|課)?|主管(?:部署|部門|課)?|"
    r"管理部[署門]|担当(?:部署|部門|課|者)?|機密区分|機密度|公開範囲|配布先|文責|起案(?:者|部署)?|日付"
)
_LABELLED = re.compile(rf"(?:{_LABELS}) *[:：].{{0,60}}$")
_CLASSIFIED = re.compile(
    r"[(\[【<*]*(?:(?:strictly |company )?confidential(?: information)?|internal(?: use)?(?: only)?|for internal use(?: only)?|"
    r"restricted|public|proprietary|draft|do not (?:copy|distribute)|not for (?:external )?distribution|controlled copy|"
    r"uncontrolled when printed|"
    r"社外秘|取扱注意|取扱い注意|関係者限り|関係者外秘|部外秘|極秘|秘|マル秘|機密|機密情報|内部資料|社内限り|社内限定|持ち?出し?禁止|転載禁止|複写禁止|無断転載禁止|"
    r"草案|案|ドラフト|以上|"
    r"©.{0,80}|copyright .{0,80}|all rights reserved\.?)[)\]】>*]*$"
)
_VERSION = re.compile(
    r"(?:v|ver|version|rev|revision|edition|issue|第)[. ]*\d[\d.]*[a-z]?版?(?: ?[(].{0,30}[)])?$|初版$"
)
_DATED = re.compile(
    r"[\W_]*(?:施行|制定|(?:一部|全部|最終)?改[定訂正]|発行|更新|作成|適用|現在|版|改)?[\W_]*"
    r"(?:(?:規[程則約]|[細会学]則|要[項綱領]|条例|訓令|告示|達|法律)第\d+号)?[\W_]*"
)
_DIVIDED = re.compile(r"\s*[·•|｜・/／]\s*(?=\S)|\s+[-–—]\s+|[,、;]\s+|\s+(?=[^\s:0-9]{2,20}:)")
_SENTENCE = re.compile(r"[a-z0-9]{4,}\. [A-Z]|[.。]\s*$")
_LONGEST, _LONGEST_LOOSE_PART = 240, 49


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


def is_metadata(text: str, *, loosely: bool = False) -> bool:
    """Return whether a line speaks of the document itself: "Rev. 3 · Owner: Facilities", 取扱注意.

    `loosely`, one such part is enough where the others are as short.
    """
    if len(text) > _LONGEST:
        return False
    line = folded(text).strip(" |*_()（）[]")
    parts = [part.strip(" *_()[]") for part in _DIVIDED.split(line)]
    parts = [part for part in parts if part]
    if not parts:
        return False
    kinds = [_part(part) for part in parts]
    if len(parts) == 1 and kinds[0]:
        return True
    if loosely and "sure" in kinds and max(map(len, parts)) <= _LONGEST_LOOSE_PART and not _SENTENCE.search(text):
        return True
    if not kinds[0] and len(words := line.split()) > 1 and not line.isascii():
        kinds = [_part(word) for word in words]
    # "Owner: Facilities, Osaka": what follows a label may go on behind a comma.
    # Dates alone are a row of a calendar.
    return kinds[0] != "" and "sure" in kinds and sum(map(bool, kinds)) * 3 >= len(kinds) * 2


def _part(part: str) -> str:
    if _CLASSIFIED.match(part) or _VERSION.match(part) or _LABELLED.match(part):
        return "sure"
    has_date = any(each.kind == "date" and len(each.value) >= len("2026-04") for each in quantities(part))
    return "date" if has_date and _DATED.fullmatch(blanked(part, "date")) else ""
