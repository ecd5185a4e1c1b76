"""The one interface of all readers: a file's bytes to a Document."""

from collections.abc import Callable
from pathlib import PurePosixPath

from a2a_hub.text.decoding import Undecodable, decoded
from functions.docqa.ingestion.assembly import assemble
from functions.docqa.ingestion.blocks import Content, Unreadable
from functions.docqa.ingestion.formats.delimited import read_delimited
from functions.docqa.ingestion.formats.docx import read_docx
from functions.docqa.ingestion.formats.html import read_html
from functions.docqa.ingestion.formats.lines import read_lines
from functions.docqa.ingestion.formats.mail import read_mail
from functions.docqa.ingestion.formats.markdown import read_markdown
from functions.docqa.ingestion.formats.pdf import read_pdf
from functions.docqa.ingestion.formats.pptx import read_pptx
from functions.docqa.ingestion.formats.xlsx import read_xlsx
from functions.docqa.model import Document

MAX_FILE_BYTES = 20 * 1024 * 1024


def read(path: str, uri: str, content: bytes) -> Document:
    """Return the document in `content`; the format comes from the suffix of `path`. Raises Unreadable.

    PDFium may end the process on a hostile file.
    """
    if len(content) > MAX_FILE_BYTES:
        raise Unreadable(f"{len(content)} bytes, more than {MAX_FILE_BYTES}")
    try:
        return assemble(path, uri, _content(path, content, 0), stem=PurePosixPath(path).stem)
    except RecursionError as error:
        raise Unreadable("nested too deeply") from error


def _content(name: str, content: bytes, depth: int) -> Content:
    try:
        return _content_of(PurePosixPath(name).suffix.lower(), content, depth)
    except Undecodable as error:
        raise Unreadable(str(error)) from None


def _content_of(suffix: str, content: bytes, depth: int) -> Content:
    if suffix == ".pdf":
        return read_pdf(content)
    if suffix == ".eml":
        return read_mail(content, _content, depth)
    if reader := _OF_TEXT.get(suffix):
        return reader(decoded(content, markup=reader is read_html))
    if office := _OF_OFFICE.get(suffix):
        return office(content)
    raise Unreadable(f"this kind of file ({suffix or 'no suffix'}) is not read")


_OF_TEXT: dict[str, Callable[[str], Content]] = {
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".txt": read_lines,
    ".text": read_lines,
    ".html": read_html,
    ".htm": read_html,
    ".csv": read_delimited,
    ".tsv": read_delimited,
}
_OF_OFFICE: dict[str, Callable[[bytes], Content]] = {
    ".docx": read_docx,
    ".xlsx": read_xlsx,
    ".xlsm": read_xlsx,
    ".pptx": read_pptx,
}
SUFFIXES = (*_OF_TEXT, *_OF_OFFICE, ".pdf", ".eml")
