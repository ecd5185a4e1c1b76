"""DOCX to blocks: headings, automatic numbers such as 第3条, lists, tables with merged cells, footnotes; no running heads."""

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from string import ascii_lowercase, ascii_uppercase
from xml.etree.ElementTree import Element

from msgspec import structs

from functions.docqa.ingestion.blocks import Block, Content, Kind, Unreadable
from functions.docqa.ingestion.formats.archive import (
    OfficeFile,
    diagram_texts,
    found_in,
    is_set,
    is_unseen,
    number_of,
    shown_text,
    value_of,
)
from functions.docqa.ingestion.formats.lines import ITEM
from functions.docqa.ingestion.headings import heading_depth
from functions.docqa.ingestion.sentences import sentences
from functions.docqa.ingestion.tables import BAR, Cell, grid_of, span_of, table_blocks

_HEADING_STYLE = re.compile(r"(?:heading|見出し)\s*(\d)", re.IGNORECASE)
_TITLE_STYLE = re.compile(r"(?:title|表題|題名)$", re.IGNORECASE)
_ROMAN_ONES = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
_ROMAN = [tens + ones for tens in ("", "x", "xx", "xxx") for ones in _ROMAN_ONES][1:]
_ONES = ("", *"一二三四五六七八九")
_KANJI = [tens + ones for tens in ("", "十", *(f"{each}十" for each in _ONES[2:])) for ones in _ONES][1:]
_CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"
_IROHA = "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセスン"
_AIUEO = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
_SIGNS: dict[str, Sequence[str]] = {
    "lowerLetter": ascii_lowercase,
    "upperLetter": ascii_uppercase,
    "lowerRoman": _ROMAN,
    "upperRoman": [each.upper() for each in _ROMAN],
    **dict.fromkeys(("japaneseCounting", "ideographDigital", "chineseCounting", "japaneseLegal"), _KANJI),
    **dict.fromkeys(("decimalEnclosedCircle", "decimalEnclosedCircleChinese"), _CIRCLED),
    **dict.fromkeys(("iroha", "irohaFullWidth"), _IROHA),
    **dict.fromkeys(("aiueo", "aiueoFullWidth"), _AIUEO),
}
_MARKER = re.compile(r"\W*(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5}|[IVX]{1,5}|[ア-ン①-⑳]|[一二三四五六七八九十]{1,3})\W*$")
_LONGEST_HEADING = 80
_EDGE = re.compile(r"word/(?:header|footer)\d*\.xml")


def read_docx(content: bytes) -> Content:
    """Return the blocks of a DOCX file, and its title. Raises Unreadable."""
    archive = OfficeFile(content)
    name = archive.main("word/document.xml")
    body = archive.xml(name).find("body")
    if body is None:
        raise Unreadable("no Word document in it")
    reading = _Reading(archive, name)
    reading.take(body)
    edges = (archive.xml(name) for name in sorted(archive.names) if _EDGE.match(name))
    running = "\n".join(shown_text(p) for root in edges for p in root.iter("p"))
    left_out = ["charts"] if body.find(".//chart") is not None else []
    left_out += ["embedded documents (open and save it in Word)"] if body.find(".//altChunk") is not None else []
    return Content(blocks=reading.blocks, title=archive.title(), running=running, left_out=left_out)


class _Numbering:
    """The automatic numbers of paragraphs."""

    def __init__(self, root: Element) -> None:
        self._counts: dict[tuple[str, int], int] = {}
        self._abstract = {num.get("numId", ""): value_of(num, "abstractNumId") for num in root.findall("num")}
        self._restarts = {
            (num.get("numId", ""), int(each.get("ilvl", "0"))): number_of(each, "startOverride", 1)
            for num in root.findall("num")
            for each in num.findall("lvlOverride[startOverride]")
        }
        self._levels = {
            (each.get("abstractNumId", ""), int(level.get("ilvl", "0"))): level
            for each in root.findall("abstractNum")
            for level in each.findall("lvl")
        }

    def next(self, num: str, depth: int) -> tuple[str, bool]:
        """Return the number of the next paragraph at this depth, and whether it is a bullet's."""
        key = self._abstract.get(num, "")
        level = self._levels.get((key, depth))
        if level is None:
            return "", False
        if value_of(level, "numFmt") == "bullet":
            return "-", True
        last = self._counts.get((key, depth), number_of(level, "start", 1) - 1)
        self._counts[key, depth] = self._restarts.pop((num, depth), last + 1)
        for deeper in range(depth + 1, 10):
            self._counts.pop((key, deeper), None)
        pattern = value_of(level, "lvlText")
        legal = level.find("isLgl") is not None
        return re.sub(r"%([1-9])", lambda match: self._shown(key, int(match[1]) - 1, legal=legal), pattern), False

    def _shown(self, key: str, depth: int, *, legal: bool) -> str:
        level = self._levels.get((key, depth))
        if level is None:
            return ""
        number = self._counts.get((key, depth), number_of(level, "start", 1))
        return str(number) if legal else _written(number, value_of(level, "numFmt"))


def _written(number: int, form: str) -> str:
    if form == "none":
        return ""
    if form == "decimalFullWidth":
        return str(number).translate({48 + digit: 0xFF10 + digit for digit in range(10)})
    signs = _SIGNS.get(form, ())
    return signs[number - 1] if 0 < number <= len(signs) else str(number)


class _Reading:
    """The blocks so far."""

    def __init__(self, archive: OfficeFile, name: str) -> None:
        self.blocks: list[Block] = []
        self._archive, self._name = archive, name
        parts = dict(archive.links(name).values())
        parts = {kind: parts.get(kind, f"word/{kind}.xml") for kind in ("numbering", "styles", "footnotes", "endnotes")}
        self._numbering = _Numbering(archive.xml(parts["numbering"]))
        self._styles = {each.get("styleId", ""): each for each in archive.xml(parts["styles"]).findall("style")}
        self._unseen = set(filter(self._is_unseen, self._styles))
        self._notes = {
            (f"{note.tag}Reference", note.get("id")): " ".join(self._shown(p).strip() for p in note.iter("p")).strip()
            for kind in ("footnotes", "endnotes")
            for note in archive.xml(parts[kind])
        }
        self._tables = 0

    def take(self, parent: Element) -> None:
        """Add the paragraphs and tables of an element in their order, those of its containers as well."""
        begun: list[Element] = []
        for element, after in zip_longest(parent, parent[1:]):
            if element.tag == "p":
                element[:] = [*element.findall("pPr"), *begun, *(each for each in element if each.tag != "pPr")]
                begun = []
                is_open = after is not None and after.tag == "p" and element.find("pPr/rPr/del") is not None
                if is_open:  # its end is deleted: the next one goes on with it
                    begun = [each for each in element if each.tag != "pPr"]
                    continue
                self._paragraph(element)
                self._add_notes(element)
            elif element.tag == "tbl":
                self._table(element)
                for row in element.iter("tr"):
                    self._add_notes(row, is_row=True)
            elif element.find("sdtPr/showingPlcHdr") is not None:
                continue
            elif element.tag in ("sdt", "sdtContent", "ins", "smartTag", "customXml"):
                self.take(element)

    def _add_notes(self, element: Element, *, is_row: bool = False) -> None:
        """Add the notes that a paragraph or table row refers to; the row, or the sentence before the mark, governs them."""
        before = ""
        for each in element.iter():
            if each.tag == "t":
                before += each.text or ""
            elif note := self._notes.pop((each.tag, each.get("id")), ""):
                before = before[max((begin for begin, _ in sentences(before)), default=0) :]
                cells = BAR.join(self._cell(cell).text or "" for cell in element.iter("tc")) if is_row else ""
                context = cells or before.strip()
                self.blocks.append(Block(Kind.TEXT, note, marker=f"[{each.get('id')}] ", context=(context,)))

    def _paragraph(self, element: Element) -> None:
        properties = element.find("pPr")
        chain = list(self._chain(value_of(properties, "pStyle") or "Normal"))
        names = [value_of(style, "name") for style in chain]
        if any(name.casefold().startswith(("toc ", "目次")) for name in names):
            return
        lines = [" ".join(line.split()) for line in self._shown(element).split("\n")]
        for box in found_in(element, "txbxContent"):
            self.take(box)
        diagram = diagram_texts(self._archive, self._name, element)
        self.blocks += (Block(Kind.ITEM, text, marker="- ") for text in diagram)
        if not any(lines):
            return
        number, bullet, depth = self._numbered(properties, chain)
        if number and not bullet and not _MARKER.match(number):
            is_close = lines[0][:1] in "（(" or number[-1] in "）．。、 　"
            lines[0] = number + lines[0] if is_close else f"{number.rstrip('.')} {lines[0]}"
        level = self._heading_level(properties, names, chain)
        text = " ".join(filter(None, lines))
        if level is None and not number and len(text) <= _LONGEST_HEADING:
            depth_by_mark = heading_depth(text, set_apart=True) if _is_bold(element) else None
            level = depth_by_mark or (7 if _is_bold(element) and not text.endswith(("。", ".", ":", "：")) else None)
        if level is not None:
            shown = f"{number} {text}" if number and _MARKER.match(number) else text
            self.blocks.append(Block(Kind.HEADING, shown.strip("* "), level=level))
        elif number and (bullet or _MARKER.match(number)):
            self.blocks.append(Block(Kind.ITEM, text, level=depth, marker=f"{number} "))
        else:
            for line in filter(None, lines):
                if item := ITEM.match(line):
                    self.blocks.append(Block(Kind.ITEM, line[item.end() :], marker=item[0].strip() + " "))
                else:
                    self.blocks.append(Block(Kind.TEXT, line))

    def _chain(self, style: str) -> Iterator[Element]:
        """Yield a style and those that it is based on."""
        for _ in range(10):
            element = self._styles.get(style)
            if element is None:
                return
            yield element
            style = value_of(element, "basedOn")

    def _is_unseen(self, name: str) -> bool:
        """Return whether a style hides or strikes its text, or else the nearest that it is based on."""
        is_hidden = False
        for style in reversed(list(self._chain(name))):
            is_hidden = is_unseen(style.find("rPr"), (), is_hidden=is_hidden)
        return is_hidden

    def _numbered(self, properties: Element | None, chain: list[Element]) -> tuple[str, bool, int]:
        holders = [properties, *(style.find("pPr") for style in chain)]
        for holder in holders:
            numbered = holder.find("numPr") if holder is not None else None
            if numbered is not None and (num := value_of(numbered, "numId")):
                depth = number_of(numbered, "ilvl", 0)
                return (*self._numbering.next(num, depth), depth) if num != "0" else ("", False, 0)
        return "", False, 0

    def _heading_level(self, properties: Element | None, names: list[str], chain: list[Element]) -> int | None:
        for name in names:
            if match := _HEADING_STYLE.match(name):
                return int(match[1]) + 1
            if _TITLE_STYLE.match(name):
                return 1
        for holder in (properties, *(style.find("pPr") for style in chain)):
            if holder is not None and (outline := value_of(holder, "outlineLvl")) and outline in "012345678":
                return int(outline) + 2
        return None

    def _table(self, table: Element) -> None:
        self._tables += 1
        number = self._tables
        rows: list[list[Cell]] = []
        headers = 0
        tables: list[tuple[str, Element]] = []
        frame: list[Element] = []
        for row in found_in(table, "tr"):
            properties = row.find("trPr")
            if properties is not None and (is_set(properties, "hidden") or properties.find("del") is not None):
                continue
            if properties is not None and properties.find("tblHeader") is not None and headers == len(rows):
                headers += 1
            cells = list(found_in(row, "tc"))
            frame += cells
            before = number_of(properties, "gridBefore", 0)
            rows.append([*[Cell("")] * min(before, 100), *map(self._cell, cells)])
            named = rows[-1][0].text if rows[-1] else None
            tables += ((named or "", inner) for cell in cells for inner in found_in(cell, "tbl"))
        grid = grid_of(rows)
        if max(map(len, grid), default=0) == 1:
            for cell in frame:
                self.take(cell)  # a frame, not a table
            return
        self.blocks += table_blocks(grid, table=number, header_rows=headers or None)
        for named, inner in tables:
            start = len(self.blocks)
            self._table(inner)
            self.blocks[start:] = [
                structs.replace(block, context=(*block.context, *filter(None, [named])))
                for block in self.blocks[start:]
            ]

    def _cell(self, cell: Element) -> Cell:
        properties = cell.find("tcPr")
        merged = properties.find("vMerge") if properties is not None else None
        text = " ".join(" ".join(self._shown(each).split()) for each in _paragraphs(cell)).strip()
        goes_on = merged is not None and merged.get("val", "continue") == "continue"
        return Cell(None if goes_on else text, columns=span_of(value_of(properties, "gridSpan")))

    def _shown(self, paragraph: Element) -> str:
        return shown_text(paragraph, self._unseen)


def _paragraphs(cell: Element) -> Iterator[Element]:
    """Yield the paragraphs of a cell and of the text boxes in it, but not those of tables in it."""
    for paragraph in found_in(cell, "p", without=("tbl",)):
        yield paragraph
        for box in found_in(paragraph, "txbxContent"):
            yield from _paragraphs(box)


def _is_bold(paragraph: Element) -> bool:
    """Return whether all text of a paragraph is bold."""
    styles = [run.find("rPr") for run in paragraph.iter("r") if any((t.text or "").strip() for t in run.iter("t"))]
    return styles != [] and all(style is not None and is_set(style, "b") for style in styles)
