"""The documents of a folder, as they are to stand in the bucket and in the data store."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from pathlib import Path

from functions.docqa.documents.sources import SUFFIXES, Unreadable, corpus_files, document_from, read_bytes
from functions.docqa.model import Skipped
from hubctl.main import CommandError

# Of text-based formats (discoveryengine.v1.Document.Content.uri).
MOST_TEXT_BYTES = 2_500_000
_MEDIA_TYPES = {".md": "text/markdown", ".markdown": "text/markdown"}
_MEDIA_TYPE_OF_KIND = {
    "markdown": "text/plain",
    "text": "text/plain",
    "html": "text/html",
    "pdf": "application/pdf",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalFile:
    """One document. `md5` is in base64, as Cloud Storage tells it of its objects."""

    path: str
    file: Path
    title: str
    md5: str

    @property
    def media_type(self) -> str:
        """What Cloud Storage keeps as the object's content type."""
        suffix = self.file.suffix.lower()
        return _MEDIA_TYPES.get(suffix) or self.indexed_as

    @property
    def indexed_as(self) -> str:
        """What the data store is told: it takes Markdown for text, and nothing else."""
        return _MEDIA_TYPE_OF_KIND[SUFFIXES[self.file.suffix.lower()]]


def local_files(folder: Path) -> tuple[list[LocalFile], list[Skipped]]:
    """The documents in `folder`, and the files that document QA could not read, with reasons. Raises CommandError."""
    if not folder.is_dir():
        raise CommandError(f"{folder} is not a folder")
    found: list[LocalFile] = []
    skipped: list[Skipped] = []
    for path, file in corpus_files(folder):
        try:
            content = read_bytes(file, corpus_dir=folder)
            title = document_from(path, path, content).title
        except Unreadable as error:
            skipped.append(Skipped(path, str(error)))
            continue
        if len(content) > MOST_TEXT_BYTES and SUFFIXES[file.suffix.lower()] != "pdf":
            skipped.append(
                Skipped(path, f"{len(content)} bytes: a data store takes {MOST_TEXT_BYTES} of text")
            )
            continue
        digest = hashlib.md5(content, usedforsecurity=False).digest()
        found.append(LocalFile(path=path, file=file, title=title, md5=base64.b64encode(digest).decode()))
    if not found:
        raise CommandError(f"{folder} holds no document: {', '.join(SUFFIXES)} are read")
    return found, skipped
