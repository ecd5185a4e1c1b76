"""Search results for a question: the interface between retrieval (a folder or Google Cloud) and answering (by quotes or a model).

Citations are quotes with position and link, each compared with the source once more.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from a2a_hub.text.language import Language
from functions.docqa.model import Citation, Document, Hint, Passage, Position, ReadSource, Unit, Unverified

MAX_QUESTION_CHARACTERS = 2_000
_CONSOLE = "https://console.cloud.google.com/storage/browser/_details"

Texts = Callable[[str], Document | None]
"""Returns the document at a URI with the text that positions refer to; None if it no longer exists. Thread-safe."""


@dataclass(frozen=True, slots=True)
class RankedUnit:
    """A unit with its passage and its score.

    Shares of the question's weight, from 0 to 1: what the unit says itself (`own`), and what only its headings, header or
    introduction say (`governing`).
    """

    passage: Passage
    unit: Unit
    score: float
    own: float = 0.0
    governing: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResults:
    """The search results for a question: `passages` and their `units`, best first. If nothing could be searched or read, there
    are none, and `failed` is the text for the asker. `notice` is added to answers from an incomplete search. `corpus_link`: see
    `link_of`.
    """

    question: str
    language: Language
    passages: Sequence[Passage] = ()
    units: Sequence[RankedUnit] = ()
    texts: Texts = dict[str, Document]().get
    corpus_link: str | None = None
    failed: str = ""
    notice: str = ""
    sources: Sequence[ReadSource] = ()
    unverified: Sequence[Unverified] = ()
    hints: Sequence[Hint] = ()


def cited(passage: Passage, unit: Unit, results: SearchResults) -> Citation | None:
    """Return the citation of a unit; None if its text is no longer at its place in the source."""
    document = results.texts(passage.uri)
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
        link=link_of(passage.uri, corpus_link=results.corpus_link),
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
