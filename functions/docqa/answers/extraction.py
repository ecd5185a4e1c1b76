"""Question and passages to candidate sentences: each unit is scored by what it and its surroundings say."""

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from functions.docqa.answers.coverage import codes_of_a_case, covered, misses_too_much, weights
from functions.docqa.answers.forbidding import forbidding, with_every_act
from functions.docqa.answers.judged import normal_of
from functions.docqa.answers.kinds_of_answer import kind_fit
from functions.docqa.answers.leniency import Lenient, Nearest
from functions.docqa.answers.matching import (
    OWN,
    Surroundings,
    entity_scopes,
    forms_of,
    levels,
    surroundings,
)
from functions.docqa.answers.occasions import has
from functions.docqa.answers.row_keys import holds_it_tighter
from functions.docqa.answers.serving import (
    edition_serves,
    is_introduced,
    is_of_what_is_asked,
    says_something,
)
from functions.docqa.answers.telling import Read, telling
from functions.docqa.model import Passage, Standing, Unit, UnitKind
from functions.docqa.questions.asides import told_before
from functions.docqa.questions.concept import Concept, Role
from functions.docqa.questions.entities import NUMBERED_PARTS, Entity, distinguishing
from functions.docqa.questions.expressions import DEPENDENT, FORMER, FORMER_SECTION, AnswerKind
from functions.docqa.questions.question import Question
from functions.docqa.questions.ranges import range_fit
from functions.docqa.vocabulary.words import normalise

_ALIKE = 0.05
_OTHER_KIND = -0.3
_MOST_SIBLINGS = 4
_FORMER_WANTED = 0.2
_FORMER_FACTOR = 0.6


def _no_opening(_: Passage) -> str:
    return ""


class Found(Struct, frozen=True):
    """A unit of a passage with its score (0 to about 1.2) and the share of the question that it speaks of.

    `entities` are those that it is about, as far as the nearest text says.
    """

    passage: Passage
    number: int
    score: float
    coverage: float
    entities: frozenset[Entity] = frozenset()

    @property
    def unit(self) -> Unit:
        """The unit itself."""
        return self.passage.units[self.number]


def extract(
    question: Question,
    passages: Sequence[Passage],
    rarity: Callable[[Concept], float],
    *,
    lenient: bool = False,
    opening: Callable[[Passage], str] = _no_opening,
) -> list[Found]:
    """The units that may answer, best first; a unit about another entity, topic or kind of answer is not among them.

    `opening` is how the document of a passage begins; who "the Consultant" is stands there.
    `lenient` forgives that the act a question speaks of is said in words nobody listed, as long as the things are said.
    """
    if not any(concept.role in (Role.NOUN, Role.ACTION) for concept in question.concepts):
        return []
    weighed = weights(question, rarity)
    rule = Lenient([rarity(concept) for concept in question.concepts]) if lenient else None
    return _ranked(question, passages, weighed, rule, opening)


def nearest(
    question: Question,
    passages: Sequence[Passage],
    rarity: Callable[[Concept], float],
    *,
    surely: bool = True,
) -> list[Found]:
    """The units that say most of the question, best first, though none of them may answer it.

    Unless one of its things or acts must `surely` be said, all units are among them that the question does not rule out.
    """
    weighed = weights(question, rarity)
    rule = Nearest(weighed, surely)
    return _ranked(question, passages, weighed, rule, _no_opening) if any(weighed) else []


def _ranked(
    question: Question,
    passages: Sequence[Passage],
    weighed: list[float],
    rule: Lenient | Nearest | None,
    opening: Callable[[Passage], str],
) -> list[Found]:
    found: list[Found] = []
    asked_for = {passage.edition.series for passage in passages if question.years & set(passage.edition.labels)}
    replaced = {
        passage.edition.series
        for passage in passages
        if question.former and passage.edition.standing is Standing.SUPERSEDED
    }
    for rank, passage in enumerate(passages):
        other_year = passage.edition.series in asked_for and not question.years & set(passage.edition.labels)
        # Two guesses at once are one too many.
        foreign = isinstance(rule, Lenient) and passage.language != question.language
        if edition_serves(question, passage, replaced) and not other_year and not foreign:
            bonus = 0.03 / (1 + rank) + (0.04 if passage.language == question.language else 0.0)
            if question.former and passage.edition.standing is Standing.SUPERSEDED:
                bonus += _FORMER_WANTED
            found.extend(_scored(question, surroundings(passage, opening(passage)), weighed, bonus, rule))
    found.sort(key=lambda entry: -entry.score)
    return found


def siblings(question: Question, found: Sequence[Found]) -> list[Found]:
    """The best of `found`, and when the question leaves open which entity it means, what holds for the others.

    "How soon must the team be told?" has one answer for P-1 and another for P-2: both are told, in their order.
    """
    best = found[0]
    told = {best.entities: best}
    if question.entities or not best.entities:
        return [best]
    families = {entity.family for entity in best.entities}
    if families <= NUMBERED_PARTS:
        return [best]
    for other in found[1:]:
        alike = other.passage.uri == best.passage.uri and other.coverage >= best.coverage - _ALIKE
        if alike and {entity.family for entity in other.entities} == families:
            told.setdefault(other.entities, other)
    if len(told) > _MOST_SIBLINGS:
        return [best]
    return sorted(told.values(), key=lambda entry: entry.unit.start)


def _scored(
    question: Question,
    around: Surroundings,
    weighed: list[float],
    bonus: float,
    rule: Lenient | Nearest | None,
) -> Iterator[Found]:
    passage = around.passage
    forbidden = forbidding(question, around) if rule is None else frozenset[int]()
    if rule is None and not forbidden and misses_too_much(question, around, weighed):
        return
    forms = forms_of(question.concepts)
    told = told_before(normalise(question.text))
    former_section = any(FORMER_SECTION.search(normalise(heading)) for heading in passage.section[1:])
    for number, unit in enumerate(passage.units):
        normal = normal_of(unit.text)
        if not says_something(question, unit, normal, told):
            continue
        scopes = entity_scopes(around, number)
        if not is_of_what_is_asked(question, around, number, scopes):
            continue
        fit = kind_fit(question, unit, normal)
        if fit is None and isinstance(rule, Nearest):
            fit = _OTHER_KIND
        if isinstance(rule, Lenient) and DEPENDENT.match(unit.text):
            continue  # the act may be left out, and what it is an exception to: together that says too little
        if fit is None or (unit.kind is UnitKind.LIST and not rule and not is_introduced(question, around, number)):
            continue
        amounts_fit = _amounts_fit(question, unit, normal)
        said = levels(question.concepts, around, number, forms)
        if number in forbidden:
            said = with_every_act(question, said)
        share = (
            rule.coverage(question, said, normal, row=unit.kind is UnitKind.ROW)
            if rule
            else covered(
                question,
                said,
                weighed,
                foreign=passage.language != question.language,
                held=unit.header != "" and (amounts_fit > 0 or _says_the_code(question, said)),
            )
        )
        if share is None:
            continue
        if (former_section or has(FORMER, normal)) and not (question.former or question.years):
            share *= _FORMER_FACTOR
        if amounts_fit > 0 and unit.kind is UnitKind.ROW and holds_it_tighter(question.amounts, passage.units, number):
            continue
        fit += amounts_fit + telling(Read(question, forms, around, number, normal))
        yield Found(passage, number, share + fit + bonus, share, distinguishing(scopes))


def _says_the_code(question: Question, said: list[float]) -> bool:
    """Whether a unit itself says the code of the case that is asked about."""
    return any(said[at] == OWN for at in codes_of_a_case(question))


def _amounts_fit(question: Question, unit: Unit, normal: str) -> float:
    fit = range_fit(question.amounts, normal, row=unit.kind is UnitKind.ROW)
    # "May I after three months?" is answered by what is required, six months, though three are not in it.
    asks_whether = question.kind is AnswerKind.PERMISSION and unit.kind is not UnitKind.ROW
    return max(0.0, fit) if asks_whether else fit
