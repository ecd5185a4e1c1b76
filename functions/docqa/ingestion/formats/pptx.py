"""PPTX to blocks: each slide a section under its title, with bullets, tables and notes."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from functions.docqa.ingestion.blocks import Block, Content, Kind, Unreadable
from functions.docqa.ingestion.formats.archive import OfficeFile, diagram_texts, shown_text
from functions.docqa.ingestion.tables import Cell, grid_of, span_of, table_blocks

_FURNITURE = ("ftr", "sldNum", "dt", "hdr", "sldImg")


def read_pptx(content: bytes) -> Content:
    """Return the blocks of a presentation. Raises Unreadable."""
    archive = OfficeFile(content)
    book = archive.main("ppt/presentation.xml")
    if book not in archive.names:
        raise Unreadable("no presentation in it")
    parts = archive.links(book)
    blocks: list[Block] = []
    charts: list[str] = []
    for number, entry in enumerate(archive.xml(book).iter("sldId"), start=1):
        # The slide's own id is numeric, that of its part begins with letters.
        name = next((parts[value][1] for value in entry.attrib.values() if value in parts), "")
        slide = archive.xml(name)
        if slide.get("show") == "0":
            continue
        charts += [str(number)] if slide.find(".//chart") is not None else []
        found = _slide(archive, name, number, table=len(blocks) + 1)
        for kind, notes in archive.links(name).values():
            if kind == "notesSlide":
                page = _slide(archive, notes, number, table=0)
                found += [block for block in page if block.kind is not Kind.HEADING]
        blocks += found
    title = archive.title()
    title = "" if title.casefold() == "powerpoint presentation" else title
    return Content(blocks=blocks, title=title, left_out=[f"charts on slides {', '.join(charts)}"] if charts else [])


def _slide(archive: OfficeFile, part: str, number: int, *, table: int) -> list[Block]:
    slide = archive.xml(part)
    place = f"slide {number}"
    heading, blocks = "", list[Block]()
    for shape in _shapes(slide):
        if shape.tag == "sp":
            mark = shape.find("nvSpPr/nvPr/ph")
            kind = mark.get("type", "body") if mark is not None else ""
            if kind in _FURNITURE:
                continue
            texts = [(_text(p), _level(p)) for p in shape.iterfind("txBody/p")]
            if kind in ("title", "ctrTitle"):
                heading = " ".join(text for text, _ in texts if text)
                continue
            listed = kind in ("body", "obj") and sum(bool(text) for text, _ in texts) > 1
            for text, level in texts:
                if text and listed:
                    blocks.append(Block(Kind.ITEM, text, level=level, cell=place))
                elif text:
                    blocks.append(Block(Kind.TEXT, text, cell=place))
        elif shape.tag == "tbl":
            grid = grid_of([[_cell(cell) for cell in row if not cell.get("hMerge")] for row in shape.iterfind("tr")])
            headers = 1 if shape.find("tblPr[@firstRow='1']") is not None else None
            cells = [place] * len(grid)
            blocks += table_blocks(grid, table=table + len(blocks), header_rows=headers, cells=cells)
        elif shape.tag == "relIds":
            blocks += (Block(Kind.ITEM, text, cell=place) for text in diagram_texts(archive, part, shape))
    level = 1 if number == 1 else 3
    return [Block(Kind.HEADING, heading or place, level=level, cell=place), *blocks] if heading or blocks else []


def _shapes(element: Element) -> Iterator[Element]:
    """Yield the elements below one that are shown, not those for older programs."""
    for each in element:
        if each.tag != "Fallback" and not any(mark.get("hidden") in ("1", "true") for mark in each.iterfind("*/cNvPr")):
            yield each
            yield from _shapes(each)


def _cell(cell: Element) -> Cell:
    text = None if cell.get("vMerge") else " ".join(filter(None, map(_text, cell.iterfind("txBody/p"))))
    return Cell(text, columns=span_of(cell.get("gridSpan")))


def _text(paragraph: Element) -> str:
    return " ".join(shown_text(paragraph).split())


def _level(paragraph: Element) -> int:
    properties = paragraph.find("pPr")
    level = properties.get("lvl", "0") if properties is not None else "0"
    return int(level) if level in "0123456789" and level else 0
