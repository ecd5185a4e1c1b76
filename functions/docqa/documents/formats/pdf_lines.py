"""The lines of a PDF's pages as they are set: larger or bolder ones are headings, wider gaps end paragraphs."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from functions.docqa.documents.formats.pdf_ruled import Piece, Rules, with_ruled_tables
from functions.docqa.documents.formats.pdf_tables import rows_of
from functions.docqa.documents.formats.pdf_vertical import in_lines, is_vertical

if TYPE_CHECKING:
    from pypdf import PageObject

_BOLD = re.compile(r"bold|black|heavy|demi|semib|[-,]b(?:old)?$|W[6-9]\b", re.IGNORECASE)
_LARGER, _WIDER, _SAME_HEIGHT = 1.12, 1.25, 2.0
_MOST_CHARACTERS, _MOST_LINES, _MOST_SHARE = 160, 3, 0.3
_ENDS_TEXT = (".", ",", ";", "。", "、", "；", "…")
_HAS_WORD = re.compile(r"[^\W\d_]{2}")
_MARKED = re.compile(r"\W*[•●○◦▪■‣·|]")


class Line(Struct):
    """A line of a page: `y` grows upwards, `size` is what is shown, in points."""

    text: str
    y: float | None = None
    size: float = 0.0
    bold: bool = False

    @property
    def style(self) -> tuple[float, bool]:
        """What lines of one kind have in common."""
        return round(self.size * 2) / 2, self.bold


class Heading(Struct, frozen=True):
    """A heading: its lines as they stand in the text, and how deep it is, from 2 on."""

    lines: tuple[str, ...]
    level: int


def lines_of(page: "PageObject") -> list[Line]:
    """The lines of the page in reading order; their texts, joined, are the page's text.

    A table that is drawn with rules is a line for each of its rows, between bars, with a blank one around it.
    """
    rules, pieces = Rules(), list[Piece]()

    def seen(text: str, cm: Sequence[float], tm: Sequence[float], font: dict[str, Any] | None, size: float) -> None:
        piece = Piece(text)
        if text.strip():
            piece.x = tm[4] * cm[0] + tm[5] * cm[2] + cm[4]
            piece.y = tm[4] * cm[1] + tm[5] * cm[3] + cm[5]
            piece.size = abs(size * (tm[3] * cm[3] or tm[1] * cm[2]))
            piece.bold = _BOLD.search(str((font or {}).get("/BaseFont", ""))) is not None
        pieces.append(piece)

    page.extract_text(visitor_text=seen, visitor_operand_before=rules.operated)
    lines = [Line("")]
    for part in in_lines(pieces) if is_vertical(pieces) else with_ruled_tables(pieces, rules):
        if isinstance(part, Piece):
            _add(part, lines)
        else:
            lines += [*map(Line, ["", *rows_of(part), ""]), Line("")]
    return lines


def _add(piece: Piece, lines: list[Line]) -> None:
    for number, text in enumerate(piece.text.split("\n")):
        if number:
            lines.append(Line(""))
        line = lines[-1]
        line.text += text
        if not text.strip():
            continue
        if line.y is None:
            line.y, line.bold = piece.y, piece.bold
        line.bold = line.bold and piece.bold
        line.size = max(line.size, piece.size)


def text_of(lines: Sequence[Line]) -> str:
    """The lines, with a blank one where the gap between two is wider than most are."""
    gaps = [_gap(above, below) for above, below in pairwise(lines)]
    usual = Counter(round(gap * 2) / 2 for gap in gaps if gap > 0).most_common(1)
    out: list[str] = []
    for line, gap in zip(lines, [0.0, *gaps], strict=False):
        if usual and gap > _WIDER * usual[0][0] and out and out[-1].strip():
            out.append("")
        out.append(line.text)
    return "\n".join(out)


def _gap(above: Line, below: Line) -> float:
    """How far a line stands below the one above it, 0 where that cannot be told."""
    return above.y - below.y if above.y is not None and below.y is not None else 0.0


class Headings:
    """Which lines of a document are headings, as far as their size and weight tell it."""

    def __init__(self, pages: Sequence[Sequence[Line]]) -> None:
        count: Counter[tuple[float, bool]] = Counter()
        for line in (line for page in pages for line in page if line.text.strip()):
            count[line.style] += len(line.text)
        self._body, self._body_bold = max(count, key=count.__getitem__, default=(0.0, False))
        headings: Counter[tuple[float, bool]] = Counter()
        for run in (run for page in pages for run in self._runs(page)):
            headings[run[0].style] += sum(len(line.text) for line in run)
        # Where a third of the text stands out, nothing does.
        styles = sorted(headings, reverse=True) if headings.total() <= _MOST_SHARE * count.total() else []
        self._levels = {style: min(number, 6) for number, style in enumerate(styles, start=2)}

    def among(self, lines: Sequence[Line]) -> list[Heading]:
        """The headings of a page, in their order."""
        return [
            Heading(tuple(line.text for line in run), self._levels[run[0].style])
            for run in self._runs(lines)
            if run[0].style in self._levels
        ]

    def _runs(self, lines: Sequence[Line]) -> list[list[Line]]:
        """Lines of one style that follow one another, stand out, and read like a heading."""
        runs: list[list[Line]] = []
        last = -2
        for number, line in enumerate(lines):
            beside = (lines[at] for at in (number - 1, number + 1) if 0 <= at < len(lines))
            alone = line.y is not None and not any(_level(line, other) for other in beside)
            if not (alone and self._stands_out(line)):
                continue
            if number == last + 1 and runs[-1][-1].style == line.style:
                runs[-1].append(line)
            else:
                runs.append([line])
            last = number
        return [run for run in runs if len(run) <= _MOST_LINES and _heads(run)]

    def _stands_out(self, line: Line) -> bool:
        larger = self._body > 0 and line.size >= _LARGER * self._body
        bolder = line.bold and not self._body_bold and line.size >= 0.95 * self._body
        return line.text.strip() != "" and (larger or bolder)


def _level(line: Line, other: Line) -> bool:
    """Whether the lines stand beside one another."""
    return line.y is not None and other.y is not None and abs(line.y - other.y) < _SAME_HEIGHT


def _heads(run: Sequence[Line]) -> bool:
    text = " ".join(line.text.strip() for line in run)
    return (
        len(text) <= _MOST_CHARACTERS
        and not text.endswith(_ENDS_TEXT)
        and not text[0].islower()
        and _HAS_WORD.search(text) is not None
        and not _MARKED.match(text)
    )


def with_headings(text: str, headings: Sequence[Heading]) -> str:
    """`text` with its headings marked as in Markdown, each on one line; one whose lines are not found is left."""
    at = 0
    for heading in headings:
        start = end = _line_at(text, heading.lines[0], at)
        for line in heading.lines[1:]:
            end = _line_at(text, line, end) if end >= 0 else -1
        if start >= 0 <= end:
            marked = f"\n{'#' * heading.level} {' '.join(map(str.strip, heading.lines))}\n"
            text = text[:start] + marked + text[end + len(heading.lines[-1]) :]
            at = start + len(marked)
    return text


def _line_at(text: str, line: str, start: int) -> int:
    """Where a whole line of `text` from `start` on is `line`; -1 when none is."""
    match = re.compile(rf"^{re.escape(line)}$", re.MULTILINE).search(text, start)
    return match.start() if match else -1
