"""PDF to canonical text: the pages' text in their order, a form feed between two pages."""

import io
import logging
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from functions.docqa.documents.formats.pdf_fonts import is_legible
from functions.docqa.documents.formats.pdf_lines import Headings, Line, lines_of, text_of, with_headings
from functions.docqa.documents.formats.pdf_pages import as_one_text, recurring
from functions.docqa.documents.formats.pdf_tables import with_tables

if TYPE_CHECKING:
    from pypdf import PageObject

PAGE_BREAK = "\n\f"
# What programs write when nobody gave a title.
_NO_TITLE = re.compile(
    r"\W*(?:anonymous|unspecified|untitled|no title|無題|タイトルなし|名称未設定)\W*\d*$"
    r"|(?:document|文書|presentation|book)\W*\d+(?:\.\w+)?$",
    re.IGNORECASE,
)
# A bullet on a line of its own, or a character that only a font for symbols has.
_BULLET = re.compile(r"^(?:[•●○◦▪■‣·\x7f\uf020-\uf0ff][ \t]*\n|[\uf020-\uf0ff][ \t\u3000]*)(?=\S)", re.MULTILINE)


class UnreadablePdf(Exception):
    """A PDF without text that can be read; the message says why."""


def pdf_text(content: bytes) -> tuple[str, str, tuple[int, ...]]:
    """(canonical text, title or "", where each page starts). Raises UnreadablePdf."""
    from pypdf import PdfReader  # 60 ms and 10 MB that a corpus without PDFs need not pay
    from pypdf.errors import PyPdfError

    # Its warnings name no file; what cannot be read is told with the file's name.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnreadablePdf("encrypted PDF")
        if sum(map(is_legible, reader.pages)) * 2 < len(reader.pages):
            raise UnreadablePdf("PDF whose fonts do not tell which characters they show")
        pages = _texts(list(reader.pages))
        title = (reader.metadata.title if reader.metadata else None) or ""
    except UnreadablePdf:
        raise
    except (
        PyPdfError,
        ValueError,
        KeyError,
        TypeError,
        IndexError,
        AttributeError,
        OSError,
        RecursionError,
    ) as error:
        raise UnreadablePdf(f"damaged PDF ({type(error).__name__})") from error
    except ImportError as error:
        raise UnreadablePdf("pypdf is not installed, or the PDF's encryption is not supported") from error
    starts, at = [], 0
    for page in pages:
        starts.append(at)
        at += len(page) + len(PAGE_BREAK)
    named = "" if _NO_TITLE.match(str(title).strip()) else str(title).strip()
    return PAGE_BREAK.join(pages), named, tuple(starts)


def _texts(pages: "list[PageObject]") -> list[str]:
    """The texts of the pages, with marked headings, and without what recurs at their edges."""
    lines = [lines_of(page) for page in pages]
    edges = recurring([[line.text for line in of_page] for of_page in lines])
    headings = Headings(lines)
    texts = []
    for number, (page, of_page) in enumerate(zip(pages, lines, strict=True)):
        marked = [found for found in headings.among(of_page) if not edges.has(found.lines[0], number)]
        texts.append(with_headings(page_text(page, of_page), marked))
    return as_one_text(texts, edges)


def page_text(page: "PageObject", lines: Sequence[Line]) -> str:
    """The text of a page in reading order, the rows of its tables between bars as far as its layout can be read."""
    from pypdf.errors import PyPdfError

    text = text_of(lines)
    if text.strip():
        try:
            layout = page.extract_text(extraction_mode="layout", layout_mode_space_vertically=False)
        except (PyPdfError, ArithmeticError, ValueError, LookupError, TypeError, AttributeError):
            layout = ""
        text = with_tables(text, layout)
    return _BULLET.sub("- ", text)
