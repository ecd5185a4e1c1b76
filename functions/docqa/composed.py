"""Answers that a model composes from search results: verified sentences, each with its quotes.

If the model is late, the quotes themselves are the answer; if none of its sentences passes, they are only shown.
"""

from collections.abc import Callable, Iterator

import msgspec

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.declining import Reason, declining
from a2a_hub.a2a.reply import Data, Piece, Text
from a2a_hub.agents.composition import Composition
from a2a_hub.grounding.composer import Composer, GroundedQuestion
from a2a_hub.grounding.evidence import Evidence
from a2a_hub.text.citations import numbered_lines
from a2a_hub.text.language import Language
from functions.docqa.extractive.answering import answer_of, answered, unsettled, upcoming_notice
from functions.docqa.model import DocAnswer, Passage, Standing, Unit
from functions.docqa.retrieval.scoring import serves
from functions.docqa.retrieval.terms import terms_of
from functions.docqa.search_results import SearchResults, cited

_BEST_UNITS = 30
_MAX_CHARACTERS = 16_000
Numbered = dict[int, tuple[Passage, Unit]]


def composed_answer(
    results: SearchResults,
    composer: Composer | None,
    call: Call,
    *,
    again: Callable[[], SearchResults | None] = lambda: None,
) -> Iterator[Piece]:
    """Yield the answer as text and as data. If nothing is found, or the model finds no answer in it, the results of `again`
    (the expanded query) are tried.
    """
    numbered = {} if composer is None or results.failed else numbered_units(results)
    if composer and not numbered and not results.failed and (more := again()):
        yield from composed_answer(more, composer, call)
        return
    if composer is None or not numbered:
        yield from pieces_of(answered(results), results.language, call)
        return

    def still_stands(evidence: Evidence) -> bool:
        return cited(*numbered[evidence.number], results) is not None

    asked = GroundedQuestion(
        question=results.question, language=results.language, evidence=evidence_of(numbered, results.question)
    )
    composition = Composition(composer, asked, call=call, still_stands=still_stands)
    yield from composition.text()
    if not composition.is_answered:
        if composition.end.declined and (more := again()):
            yield from composed_answer(more, composer, call)
            return
        # What a reader found, or missed, is more than what the rules find.
        named = [numbered[number] for number in composition.end.unproven]
        found = unsettled(results, named) if composition.end.declined or named else answered(results)
        yield from pieces_of(found, results.language, call, composition)
        return
    notice = (
        upcoming_notice((numbered[each.number][0] for each in composition.cited), results.language) + results.notice
    )
    if notice:
        yield Text(notice)
    quotes = (cited(*numbered[each.number], results) for each in composition.cited)
    found = answer_of(results, "", citations=tuple(filter(None, quotes)), grounded=True)
    yield from pieces_of(found, results.language, call, composition)


def numbered_units(results: SearchResults) -> Numbered:
    """Return the units of the sections of the best units and of other found ones, as many as fit, by the numbers to be cited."""
    best = (each.passage for each in results.units[:_BEST_UNITS])
    sections = {passage.id: passage for passage in (*best, *results.passages)}
    found: Numbered = {}
    left = _MAX_CHARACTERS
    for passage in sections.values():
        for unit in passage.units:
            left -= len(unit.text)
            if left < 0:
                return found
            found[len(found) + 1] = passage, unit
    return found


def evidence_of(numbered: Numbered, question: str) -> list[Evidence]:
    """Return the numbered quotes with what governs them; a coming edition that the question names counts as in force."""
    asked = frozenset(terms_of(question))
    return [
        Evidence(
            number,
            unit.text,
            tuple(filter(None, (passage.title, *passage.section, unit.header, *reversed(unit.context)))),
            passage.uri,
            in_force=passage.edition.standing is not Standing.SUPERSEDED and serves(passage.edition, asked),
        )
        for number, (passage, unit) in numbered.items()
    ]


def pieces_of(
    found: DocAnswer, language: Language, call: Call, composition: Composition | None = None
) -> Iterator[Piece]:
    """Yield an answer as data and as text, unless that has been told; what operators need goes into the log, too.

    A caller that takes no data gets the sources under the text.
    What the documents do not settle is declined, and shown if no other agent has an answer.
    """
    call.record["grounded"] = found.grounded
    hints = [*msgspec.to_builtins(found.hints), *(composition.hints if composition else ())]
    if hints:
        call.record.update(severity="WARNING", hints=hints)
    more = {name: msgspec.to_builtins(getattr(found, name)) for name in ("sources", "unverified", "nearest")}
    data = {
        "grounded": found.grounded,
        "citations": msgspec.to_builtins(found.citations),
        **{name: value for name, value in {**more, "hints": hints}.items() if value},
        **(composition.data if composition else {}),
    }
    if not found.grounded:
        near = Reason.NOT_ASSERTED if found.nearest else Reason.NOTHING_KNOWN
        yield declining(Reason.FAILED if found.failed else near, data)
        yield Text(found.text)
        return
    if found.text:
        yield Text(found.text)
    if not call.wants_data:
        yield Text(numbered_lines(data["citations"], language))
    yield Data(data)
