"""The form in which every reader hands over what it has read."""

import re
from enum import StrEnum

from msgspec import Struct

MAX_CHARACTERS = 10_000_000
# Characters of these scripts follow one another without a space at a line's end.
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_NO_SPACE = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff01-\uff9f]")
_SPACED, _WEEKDAYS = re.compile(r"[ぁ-ヿ㐀-鿿](?: [ぁ-ヿ㐀-鿿]){1,9}"), re.compile(r"[日月火水木金土祝 ]+")
_DIVIDED = re.compile(r"[ぁ-ヿ㐀-鿿].{0,3}\d\.$")


class Unreadable(Exception):
    """A file that cannot become a document; the message is the reason."""


class Kind(StrEnum):
    """The kind of a block."""

    HEADING = "heading"
    TEXT = "text"
    ITEM = "item"
    ROW = "row"
    ASIDE = "aside"  # part of the canonical text, but no evidence: a header row, a line about the document itself


class Block(Struct, frozen=True, gc=False):
    """A heading, paragraph, list item or table row.

    `level` is a heading's depth or an item's indent; `marker` is written before the text, but no part of a quote; `line` and
    `page` count from one, 0 means unknown; `context` governs the block from inside its own table or list; a
    `former` heading is that of text which no longer holds.
    """

    kind: Kind
    text: str
    level: int = 0
    marker: str = ""
    header: str = ""
    context: tuple[str, ...] = ()
    cell: str = ""
    line: int = 0
    page: int = 0
    table: int = 0
    former: bool = False


class Content(Struct, kw_only=True):
    """A file as its reader understood it. `title` is what the format calls its title; `fields` are its metadata, `running` its
    running heads, `left_out` the parts that were not read, with reasons.
    """

    blocks: list[Block]
    title: str = ""
    fields: dict[str, str] = {}
    running: str = ""
    pages: int = 0
    left_out: list[str] = []


def unspaced(text: str) -> str:
    """Return a text whose Japanese letters are set apart to fill a space as the word that it is: 区 分, 附 則."""
    return text.replace(" ", "") if _SPACED.fullmatch(text) and not _WEEKDAYS.fullmatch(text) else text


def joined(lines: list[str]) -> str:
    """Return the lines of one paragraph as one line: Latin words keep a space between them, Japanese ones get none."""
    out: list[str] = []
    for line in lines:
        text = " ".join(line.split())
        if out and text and not _runs_on(out[-1], text):
            out.append(" ")
        if text:
            out.append(text)
    return "".join(out)


def _runs_on(above: str, below: str) -> bool:
    """Return whether Japanese goes on behind a line's end without a space: its words, figures and units, a decimal."""
    ends, begins = (_NO_SPACE.match(each) is not None for each in (above[-1], below[0]))
    if ends or begins:
        return (ends or above[-1].isdigit()) and (begins or below[0].isdigit())
    return bool(_DIVIDED.search(above) and below[0].isdigit())


def raised(figure: str, before: str) -> str:
    """Return a raised figure as it is written behind `before`: 10³ and 50¹ are neither 103 nor 501."""
    return figure.translate(_SUPERSCRIPTS) if before[-1:].isalnum() else figure
