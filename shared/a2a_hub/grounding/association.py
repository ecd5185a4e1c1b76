"""Figures of the wrong row or column: a neighbouring one is what the sentence and its question are about."""

from collections.abc import Collection, Sequence

from a2a_hub.grounding.clauses import terms_of
from a2a_hub.grounding.evidence import Evidence
from a2a_hub.text.quantities import Quantity, quantities

_MAX_ROWS = 60


def column_names(quote: Evidence) -> list[str]:
    """Return the names of the columns of a table's row, if its header has one for each."""
    width = quote.text.count("|") + 1
    return next((names for line in quote.context if width > 1 and len(names := line.split("|")) == width), [])


def is_misplaced(
    said: Quantity, told: Sequence[Quantity], texts: Sequence[str], asked: Collection[str], found: Collection[str]
) -> bool:
    """Return True if table rows have the figure `said` only beside the row that is `asked` for.

    `found` are the terms of the figures that bear it out. The row asked for has another figure of its unit, which is not
    `told`, names all that the others name of what is asked, and a word more.
    """
    having: list[set[str]] = []
    rivals: list[set[str]] = []
    for row in [row for text in texts for row in text.splitlines() if "|" in row][:_MAX_ROWS]:
        figures = quantities(row)
        words = {term for term in terms_of(row) if term in asked and term[0] != "#"}
        like = {each.term for each in figures if (each.kind, each.unit) == (said.kind, said.unit)}
        if any(each.term in found for each in figures):
            having.append(words)
        elif like and like.isdisjoint(each.term for each in told):
            rivals.append(words)
    return bool(having) and any(all(words < rival for words in having) for rival in rivals)
