"""Found units to citations, and the exceptions that must be told along with a rule."""

import re
from bisect import bisect_right
from collections.abc import Sequence

from msgspec import structs

from functions.docqa.answers.extraction import Found
from functions.docqa.answers.leaning import leans
from functions.docqa.documents.footnotes import marked, notes
from functions.docqa.model import Citation, Position, Unit, UnitKind
from functions.docqa.questions.expressions import EXCEPTION, INSTRUCTION
from functions.docqa.questions.ranges import complement
from functions.docqa.vocabulary.words import normalise

_MOST_OF_AN_ITEM = 3
_ANNOUNCES = re.compile(r"次の|次に掲げ|次に定め|以下の|以下に|下記|各号|左記|\bfollowing\b|\bbelow\b")


def cited(found: Found, text: str, page_starts: Sequence[int]) -> Citation:
    """The citation of a unit; `text` is the canonical text of its document."""
    unit = found.unit
    return Citation(
        uri=found.passage.uri,
        title=found.passage.title,
        quote=unit.text,
        position=Position(
            start=unit.start,
            end=unit.end,
            line=text.count("\n", 0, unit.start) + 1,
            section=found.passage.section,
            page=bisect_right(page_starts, unit.start) if page_starts else None,
        ),
        passage_id=found.passage.id,
    )


def with_exceptions(best: Found) -> list[Found]:
    """`best`, the sentence it leans on when it cannot stand alone, and the exception that follows it, if any."""
    best = _with_its_list(best)
    told = [best]
    units = best.passage.units
    unit = best.unit
    if unit.kind is UnitKind.LIST:
        return told
    if unit.kind is UnitKind.ROW:
        return [best, *(structs.replace(best, number=note) for note in notes(units, best.number))]
    before, after = best.number - 1, best.number + 1
    if before >= 0 and _goes_on(units[before], unit):
        told.insert(0, structs.replace(best, number=before))
    elif before >= 0 and leans(unit.text) and units[before].block == unit.block:
        told.append(structs.replace(best, number=before))
    if after < len(units) and (_is_exception(best, after) or _is_introduced(units[after], unit)):
        told.append(structs.replace(best, number=after))
    if (below := _announced(units, best.number)) is not None:
        told.append(structs.replace(best, number=below))
    beside = (*notes(units, best.number), *marked(units, best.number)[:1])
    told.extend(structs.replace(best, number=number) for number in beside)
    return told


def with_what_follows(best: Found) -> list[Found]:
    """`best`, and the sentences that follow it in its item: what to do stands behind the case."""
    units = best.passage.units
    told = [best]
    for number in range(best.number + 1, len(units)):
        if units[number].kind is not UnitKind.ITEM or units[number].context[:1] != (best.unit.text,):
            break
        told.append(structs.replace(best, number=number))
    return told[:_MOST_OF_AN_ITEM]


def _with_its_list(best: Found) -> Found:
    """An introduction says nothing without the list that it introduces."""
    for number, unit in enumerate(best.passage.units):
        if (
            unit.kind is UnitKind.LIST
            and unit.start == best.unit.start
            and best.unit.kind is not UnitKind.LIST
            and (best.unit.text.endswith((":", "：")) or _ANNOUNCES.search(best.unit.text))
        ):
            return structs.replace(best, number=number)
    return best


def _is_introduced(unit: Unit, introduction: Unit) -> bool:
    """Whether a unit is the address or the command that the one before it ends in a colon for."""
    return unit.kind is UnitKind.SENTENCE and introduction.text.rstrip("*_ ").endswith((":", "："))


def _goes_on(unit: Unit, following: Unit) -> bool:
    """Whether a rule goes on where the one before it ends: "less than six hours", and then "six hours or more"."""
    if following.kind is not unit.kind or unit.kind is not UnitKind.SENTENCE or following.block != unit.block:
        return False
    first, second = normalise(unit.text), normalise(following.text)
    return bool(complement(first, second) and not complement(second, first))


def _announced(units: Sequence[Unit], number: int) -> int | None:
    """Which unit begins the paragraph that a sentence sends its reader to, such as a command."""
    unit = units[number]
    if unit.kind is UnitKind.ROW or _ANNOUNCES.search(unit.text) is None:
        return None
    below = next((at for at in range(number + 1, len(units)) if units[at].block != unit.block), None)
    found = below is not None and units[below].kind is UnitKind.SENTENCE and units[below].block == unit.block + 1
    return below if found else None


def _is_exception(best: Found, after: int) -> bool:
    following, unit = best.passage.units[after], best.unit
    if _goes_on(unit, following):
        return True
    return (
        following.kind is unit.kind
        and abs(following.block - unit.block) <= (1 if unit.kind is UnitKind.SENTENCE else 0)
        and EXCEPTION.match(following.text) is not None
        and not INSTRUCTION.search(normalise(following.text))
    )
