"""Citations: quotes with their places, each compared with its place in the source once more, and the links to them."""

from bisect import bisect_right
from urllib.parse import quote

from functions.docqa.grounds import Grounds
from functions.docqa.model import Citation, Passage, Position, Unit

_CONSOLE = "https://console.cloud.google.com/storage/browser/_details"


def cited(passage: Passage, unit: Unit, grounds: Grounds) -> Citation | None:
    """Return the citation of a unit; None if its text no longer stands at its place in the source."""
    document = grounds.texts(passage.uri)
    if document is None or not unit.text.strip() or document.text[unit.start : unit.end] != unit.text:
        return None
    return Citation(
        uri=passage.uri,
        title=passage.title,
        quote=unit.text,
        position=Position(
            start=unit.start,
            end=unit.end,
            line=document.text.count("\n", 0, unit.start) + 1,
            section=passage.section,
            page=bisect_right(document.page_starts, unit.start) or None,
        ),
        passage_id=passage.id,
        link=link_of(passage.uri, corpus_link=grounds.corpus_link),
    )


def corpus_link(value: str) -> str:
    """Return `value`, an address with "{path}" in it. Raises ValueError for anything else."""
    if not value.startswith(("https://", "http://")) or "{path}" not in value:
        raise ValueError("not such an address")
    return value


def link_of(uri: str, *, corpus_link: str | None = None) -> str | None:
    """Return the address of the document at `uri`; None where it has none.

    An object of Cloud Storage has its page in the console, a web page its own address. A document of a folder has one if
    `corpus_link` says where the folder is published: `https://intranet.example/docs/{path}`.
    """
    scheme, _, rest = uri.partition(":")
    match scheme:
        case "https" | "http":
            return uri
        case "gs":
            return f"{_CONSOLE}/{quote(rest.removeprefix('//'))}"
        case "corpus" if corpus_link:
            return corpus_link.replace("{path}", rest)
        case _:
            return None
