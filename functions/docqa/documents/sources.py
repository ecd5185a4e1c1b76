"""The files of a corpus: which are read, how bytes become a Document, and why a file is skipped."""

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from functions.docqa.documents.blocks import BlockKind, blocks
from functions.docqa.documents.editions import edition_of
from functions.docqa.documents.formats.html import html_text
from functions.docqa.documents.formats.markdown import FRONT_MATTER, markdown_text
from functions.docqa.documents.formats.pdf import UnreadablePdf, pdf_text
from functions.docqa.model import Document
from functions.docqa.vocabulary.words import language_of, plain

MAX_FILE_BYTES = 20 * 1024 * 1024
SUFFIXES = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
    ".text": "text",
    ".html": "html",
    ".htm": "html",
    ".pdf": "pdf",
}
_ENCODINGS = ("utf-8-sig", "cp932", "euc_jp")
_WESTERN = "cp1252"
_ACCENTS_OF_100 = 10
_ASCII = bytes(range(0x80))
_HIGH_TOGETHER = re.compile(rb"[\x80-\xff](?=.?[\x80-\xff])", re.DOTALL)
_META_CHARSET = re.compile(rb"<meta[^>]+charset=[\"']?([A-Za-z0-9_-]+)", re.IGNORECASE)
_HEAD_CHARACTERS = 1_000  # where the title is, if there is one
_FRONT_TITLE = re.compile(r"\A---[ \t]*\r?\n(?:.*\r?\n)*?(?:title|タイトル|件名)[ \t]*:[ \t]*(.+?)[ \t]*\r?\n")


class Unreadable(Exception):
    """A file that cannot become a document; the message is the reason."""


def corpus_files(corpus_dir: Path) -> Iterator[tuple[str, Path]]:
    """(path relative to `corpus_dir`, path) of every file of a known kind, sorted; hidden ones are left out.

    The first is text: archives made on Windows in Japan leave names in another encoding than the system's.
    """
    for path in sorted(corpus_dir.rglob("*")):
        relative = path.relative_to(corpus_dir)
        hidden = any(part.startswith(".") for part in relative.parts)
        if path.suffix.lower() in SUFFIXES and not hidden and path.is_file():
            yield "/".join(map(_readable, relative.parts)), path


def _readable(name: str) -> str:
    if name.isascii():
        return name
    said = os.fsencode(name)
    for encoding in _ENCODINGS:
        with contextlib.suppress(UnicodeDecodeError):
            return said.decode(encoding)
    return said.decode("utf-8", "backslashreplace")


def other_kinds(corpus_dir: Path) -> list[str]:
    """The suffixes of files that are no documents to docqa, sorted; hidden files are not looked at."""
    names = (path.relative_to(corpus_dir) for path in corpus_dir.rglob("*") if path.is_file())
    shown = (name for name in names if not any(part.startswith(".") for part in name.parts))
    return sorted({_readable(name.suffix).lower() for name in shown} - SUFFIXES.keys() - {""})


def corpus_uri(path: str) -> str:
    """`corpus:` and the relative path, percent-encoded."""
    return "corpus:" + quote(path)


def read_bytes(path: Path, *, corpus_dir: Path) -> bytes:
    """The file's content. Raises Unreadable when it is too large, cannot be opened, or is a link out of the folder: who may put
    documents there need not be who may read all that this process can.
    """
    try:
        if path.is_symlink() and not path.resolve().is_relative_to(corpus_dir.resolve()):
            raise Unreadable("a link that leads out of the folder; copy the file")
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise Unreadable(f"{size} bytes, more than {MAX_FILE_BYTES}")
        return path.read_bytes()
    except OSError as error:
        raise Unreadable(f"cannot be opened ({type(error).__name__})") from error


def document_from(path: str, uri: str, content: bytes) -> Document:
    """The document in `content`; the format comes from the suffix of `path`. Raises Unreadable."""
    page_starts: tuple[int, ...] = ()
    title = ""
    match SUFFIXES.get(Path(path).suffix.lower()):
        case "html":
            text, title = html_text(decoded(content, declared=_META_CHARSET.search(content[:2048])))
        case "pdf":
            try:
                text, title, page_starts = pdf_text(content)
            except UnreadablePdf as error:
                raise Unreadable(str(error)) from error
        case "markdown":
            text = markdown_text(decoded(content))
        case "text":
            text = decoded(content)
        case _:
            raise Unreadable("unknown kind of file")
    if not text.strip():
        scanned = "; scanned pages need text recognition first" if page_starts else ""
        raise Unreadable(f"no text in it{scanned}")
    title = _title(path, text, title)
    return Document(
        path=path,
        uri=uri,
        title=title,
        text=text,
        language=language_of(text),
        edition=edition_of(path, title, text),
        page_starts=page_starts,
    )


def decoded(content: bytes, *, declared: re.Match[bytes] | None = None) -> str:
    """`content` as text: UTF-8, or the declared encoding, or an older Japanese or western one. Raises Unreadable."""
    if b"\x00" in content[:4096] and not content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Unreadable("binary content")
    names = [*_ENCODINGS]
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        names.insert(0, "utf-16")
    if declared:
        names.insert(1, declared.group(1).decode("ascii"))
    elif _is_western(content):
        names.insert(1, _WESTERN)
    best: tuple[int, str] | None = None
    for name in names:
        try:
            text = content.decode(name)
        except (UnicodeDecodeError, LookupError):
            continue
        if name in ("utf-8-sig", "utf-16", _WESTERN) or declared:
            return text
        # Most EUC-JP bytes are also valid CP932, as half-width katakana: the reading with fewer of those is right.
        oddities = sum("\uff61" <= character <= "\uff9f" or "\ue000" <= character <= "\uf8ff" for character in text)
        if best is None or oddities < best[0]:
            best = (oddities, text)
    if best is None and _has_few_accents(content):
        with contextlib.suppress(UnicodeDecodeError):
            best = 0, content.decode(_WESTERN)
    if best is None:
        raise Unreadable("neither UTF-8 nor another usual encoding")
    return best[1]


def _is_western(content: bytes) -> bool:
    """Whether what is not ASCII can be accents: a few, and each by itself. Japanese is written in pairs and runs."""
    if not _has_few_accents(content):
        return False
    together = len(_HIGH_TOGETHER.findall(content))
    return together * 100 <= _beyond_ascii(content) * _ACCENTS_OF_100


def _has_few_accents(content: bytes) -> bool:
    return _beyond_ascii(content) * 100 <= len(content) * _ACCENTS_OF_100


def _beyond_ascii(content: bytes) -> int:
    return len(content.translate(None, _ASCII))


def _title(path: str, text: str, given: str) -> str:
    front = FRONT_MATTER.match(text)
    if front and (match := _FRONT_TITLE.match(front.group())):
        return match.group(1).strip("\"'")
    start = front.end() if front else 0
    first = next(iter(blocks(text[: start + _HEAD_CHARACTERS])), None)
    if first and first.kind is BlockKind.HEADING and first.level <= 2:
        return plain(text[first.start : first.end])
    if given:
        return given
    line = next((line.strip() for line in text[start:].splitlines() if line.strip()), "")
    return plain(line.lstrip("#").strip()) if 0 < len(line) <= 80 else Path(path).stem
