"""The files of a corpus's folder: which are read, and why others are not."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from functions.docqa.ingestion.blocks import Unreadable
from functions.docqa.ingestion.reader import MAX_FILE_BYTES, SUFFIXES
from functions.docqa.model import Skipped

_ENCODINGS = ("utf-8", "cp932", "euc_jp")
_OFFICE = "application/vnd.openxmlformats-officedocument"
MEDIA_TYPES = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".txt": "text/plain",
    ".text": "text/plain",
    ".html": "text/html",
    ".htm": "text/html",
    ".pdf": "application/pdf",
    ".docx": f"{_OFFICE}.wordprocessingml.document",
    ".pptx": f"{_OFFICE}.presentationml.presentation",
    ".xlsx": f"{_OFFICE}.spreadsheetml.sheet",
    ".xlsm": "application/vnd.ms-excel.sheet.macroenabled.12",
}
"""The kinds of files that a data store takes (cloud.google.com/generative-ai-app-builder/docs/prepare-data), and Markdown."""
SUFFIX_OF_TYPE = {kind: suffix for suffix, kind in reversed(MEDIA_TYPES.items())}


def corpus_files(corpus_dir: Path) -> Iterator[tuple[str, Path]]:
    """Yield (path relative to `corpus_dir`, path) of every file, sorted; hidden ones are left out.

    The first is text: archives made on Windows in Japan leave names in another encoding than the system's.
    """
    for path in sorted(corpus_dir.rglob("*")):
        relative = path.relative_to(corpus_dir)
        # Office programs write "~$name" beside a file that is open.
        hidden = any(part.startswith((".", "~$")) for part in relative.parts)
        if not hidden and path.is_file():
            yield "/".join(map(_readable, relative.parts)), path


def unread(path: str) -> Skipped | None:
    """Return the reason why a file of this name is not read at all, if there is one."""
    suffix = Path(path).suffix.lower()
    if suffix in SUFFIXES:
        return None
    older = {".doc": ".docx", ".xls": ".xlsx", ".ppt": ".pptx", ".msg": ".eml"}.get(suffix)
    hint = f"; save it as {older}" if older else ""
    return Skipped(path, f"this kind of file ({suffix or 'no suffix'}) is not read{hint}")


def corpus_uri(path: str) -> str:
    """Return `corpus:` and the relative path, percent-encoded."""
    return "corpus:" + quote(path)


def read_bytes(path: Path, *, corpus_dir: Path) -> bytes:
    """Return the file's content. Raises Unreadable when it is too large, cannot be opened, or is a link out of the folder:
    who may put documents there need not be who may read all that this process can.
    """
    try:
        if not path.resolve().is_relative_to(corpus_dir.resolve()):
            raise Unreadable("a link that leads out of the folder; copy the file")
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise Unreadable(f"{size} bytes, more than {MAX_FILE_BYTES}")
        return path.read_bytes()
    except OSError as error:
        raise Unreadable(f"cannot be opened ({type(error).__name__})") from error


def _readable(name: str) -> str:
    if name.isascii():
        return name
    said = os.fsencode(name)
    for encoding in _ENCODINGS:
        with contextlib.suppress(UnicodeDecodeError):
            return said.decode(encoding)
    return said.decode("utf-8", "backslashreplace")
