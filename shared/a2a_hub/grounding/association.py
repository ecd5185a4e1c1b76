"""Figures of the wrong row or column: a neighbouring one is what the sentence and its question are about."""

import re
from collections.abc import Collection, Sequence

from a2a_hub.grounding.clauses import terms_of
from a2a_hub.grounding.evidence import Evidence
from a2a_hub.text.quantities import Quantity, quantities

_MAX_ROWS = 60
_NUMERAL = re.compile(r"\d+(?:[.,]\d+)*")


def is_of_another_column(said: Quantity, told: Sequence[Quantity], sentence: str, quotes: Sequence[Evidence]) -> bool:
    """Return True if table rows have the figure `said` only under other names than that of the column it is told of.

    That column has another figure of its kind in the row, which is not `told`; its name has all that the others' names have of
    the sentence's words, and more.
    """
    own, all_told = _values(sentence, [said]), _values(sentence, told)
    asked = terms_of(sentence).keys()
    misplaced: list[bool] = []
    for quote in quotes[:_MAX_ROWS]:
        having: list[set[str]] = []
        rivals: list[set[str]] = []
        for column, (name, cell) in enumerate(zip(column_names(quote), quote.text.split("|"), strict=False)):
            figures = [each for each in quantities(cell) if each.kind == said.kind]
            words, values = terms_of(name).keys() & asked, _values(cell, figures)
            if values & own:
                having.append(words)
            elif column and figures and values.isdisjoint(all_told):  # the first one only names the row
                rivals.append(words)
        if having:
            misplaced.append(any(all(words < rival for words in having) for rival in rivals))
    return bool(misplaced) and all(misplaced)


def column_names(quote: Evidence) -> list[str]:
    """Return the names of the columns of a table's row, if its header has one for each."""
    width = quote.text.count("|") + 1
    return next((names for line in quote.context if width > 1 and len(names := line.split("|")) == width), [])


def _values(text: str, figures: Sequence[Quantity]) -> set[str]:
    """Return figures of a text in their normal form and as they are written, as a column's name may have the unit."""
    written = (number for each in figures for number in _NUMERAL.findall(text[each.start : each.end]))
    return {each.value for each in figures} | {number.replace(",", "") for number in written}


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
