"""The grounds of an answer: the seam between finding (a folder, or Google Cloud) and answering (quotes, or a model)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from a2a_hub.text.language import Language
from functions.docqa.model import Document, Hint, Passage, ReadSource, Unit, Unverified

MAX_QUESTION_CHARACTERS = 2_000

Texts = Callable[[str], Document | None]
"""Returns the document at a URI with the text that positions refer to, None if it is no longer there. Safe to share."""


@dataclass(frozen=True, slots=True)
class RankedUnit:
    """A unit with its passage and its score.

    Shares of the question's weight, from 0 to 1: what the unit says itself (`own`), what only its headings, header or
    introduction say (`governing`), and the heaviest term that neither says (`missing`).
    """

    passage: Passage
    unit: Unit
    score: float
    own: float = 0.0
    governing: float = 0.0
    missing: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """The finds for a question: `passages`, the best first, and `units` of them, the best first.

    `unknown` are words of the question that no document has. `failed` is the text for the asker where nothing could
    be searched or read; then there are no passages. `notice` is added to an answer out of what could be read.
    `corpus_link`: see `link_of`.
    """

    question: str
    language: Language
    passages: Sequence[Passage] = ()
    units: Sequence[RankedUnit] = ()
    texts: Texts = dict[str, Document]().get
    corpus_link: str | None = None
    unknown: frozenset[str] = frozenset()
    failed: str = ""
    notice: str = ""
    sources: Sequence[ReadSource] = ()
    unverified: Sequence[Unverified] = ()
    hints: Sequence[Hint] = ()
