"""Chunks of a search to passages: their sentences, items and rows, and the texts that positions refer to."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import convert, json, structs

from functions.docqa.cloud.search import Chunk
from functions.docqa.ingestion.assembly import assemble
from functions.docqa.ingestion.blocks import Content, Unreadable
from functions.docqa.ingestion.editions import edition_of
from functions.docqa.ingestion.formats.lines import Line, line_blocks
from functions.docqa.ingestion.formats.markdown import read_markdown
from functions.docqa.model import Document, Edition, Passage

EDITION_FIELD, MD5_FIELD = "edition", "md5"
"""The members of a document's own data in which `hubctl corpus push` keeps its edition and the MD5 of what was indexed."""
_APART = "\n\n"
# msgspec analyses a type at its first use, and crashes if two threads do that at once.
json.Decoder(Edition)


def documents_of(chunks: Sequence[Chunk]) -> list[Document]:
    """Return the documents of `chunks`, each with the text and the passages that were found of it, in the order of its pages.

    A passage's score is higher, the earlier the search returned its chunk. A chunk that says nothing is left out.
    """
    found: list[Document] = []
    for uri in dict.fromkeys(chunk.uri for chunk in chunks):
        own = [(rank, chunk) for rank, chunk in enumerate(chunks) if chunk.uri == uri]
        read = [(chunk.page, rank, document) for rank, chunk in own if (document := _read(chunk))]
        read.sort(key=lambda each: each[:2])
        text, pages, passages = "", list[int](), list[Passage]()
        for page, rank, document in read:
            start = len(text) + len(_APART) if text else 0
            pages += [start] * (page - len(pages))
            passages += (_moved(each, uri, start, score=1 - rank / len(chunks)) for each in document.passages)
            text = f"{text}{_APART}{document.text}" if text else document.text
        if read:
            document = structs.replace(
                read[0][2],
                path=uri,
                uri=uri,
                text=text,
                page_starts=tuple(pages) if read[0][0] else (),
                edition=edition(own[0][1]),
                passages=tuple(passages),
            )
            found.append(document)
    return found


def edition(chunk: Chunk) -> Edition:
    """Return the edition that the store's data name, else what the document's name says."""
    stored = chunk.fields.get(EDITION_FIELD)
    if isinstance(stored, dict):
        try:
            return convert(stored, Edition)
        except ValueError:
            pass
    named = {name: value for name, value in chunk.fields.items() if isinstance(value, str)}
    return edition_of(chunk.uri, chunk.title, named, "")


def _read(chunk: Chunk) -> Document | None:
    if chunk.is_markdown:
        content = read_markdown(chunk.text)
    else:
        lines = [Line(text, number) for number, text in enumerate(chunk.text.splitlines(), start=1)]
        content = Content(blocks=list(line_blocks(lines, titled=True)))
    content.fields = {"title": chunk.title}
    try:
        return assemble(chunk.uri, f"{chunk.uri}#{chunk.text}", content, stem=chunk.title)
    except Unreadable:
        return None


def _moved(passage: Passage, uri: str, by: int, *, score: float) -> Passage:
    units = tuple(structs.replace(unit, start=unit.start + by, end=unit.end + by) for unit in passage.units)
    return structs.replace(passage, uri=uri, units=units, score=score)
