"""How much of a question a unit speaks of, and whether what it leaves out is too much."""

from collections.abc import Callable

from functions.docqa.answers.matching import OWN, PASSAGE, PRESENT, TITLE, Surroundings, is_said
from functions.docqa.model import UnitKind
from functions.docqa.questions.concept import Concept, Role
from functions.docqa.questions.expressions import ACTED_ON
from functions.docqa.questions.question import Question
from functions.docqa.vocabulary.lexicon import lexicon

_WEIGHTS = {Role.NOUN: 1.0, Role.ACTION: 0.8, Role.ATTRIBUTE: 0.3, Role.LIGHT: 0.12}
_UNKNOWN_ACTION, _ASIDE = 0.3, 0.8
_MAY_MISS, _MAY_MISS_OF_MANY, _MANY = 0.26, 0.3, 5
_MAY_MISS_ABROAD = 0.2
_MAY_MISS_OF_RANGE, _HELD = 0.6, 0.6
_ACTION_MISSED = 0.5  # the same act has many verbs
_SOUGHT_MISSED = 1.2  # "which bicycle" is answered by a sentence about bicycles
_ACT_SAID = 0.5  # the act itself, and not one in the sentence after
_NEAR_ENOUGH = TITLE * 0.9


def weights(question: Question, rarity: Callable[[Concept], float]) -> list[float]:
    """What each concept of the question counts, along its concepts."""
    return [_weight(concept) * rarity(concept) for concept in question.concepts]


def _weight(concept: Concept) -> float:
    if concept.aside:
        return _ASIDE * _WEIGHTS[concept.role]
    if concept.role is Role.ACTION and not is_essential(concept):
        return _UNKNOWN_ACTION
    return _WEIGHTS[concept.role]


def is_essential(concept: Concept) -> bool:
    """Whether an answer must say it, in some words or other."""
    if concept.aside:
        return False
    if concept.role is Role.ACTION:
        return concept.known or concept.vital or concept.surface.endswith("ed")
    return concept.role is Role.NOUN


def misses_too_much(question: Question, around: Surroundings, weighed: list[float]) -> bool:
    """Whether so much of the question is nowhere in the passage that none of its units can answer."""
    missed = essential = 0.0
    counted = 0
    for concept, weight in zip(question.concepts, weighed, strict=True):
        if is_essential(concept):
            essential += weight
            counted += 1
            if not is_said(concept, around):
                lenient = concept.role is Role.ACTION and concept.known and not concept.vital
                missed += weight * (_ACTION_MISSED if lenient else 1.0)
    may_miss = _MAY_MISS_OF_MANY if counted >= _MANY else _MAY_MISS
    if (question.amounts or codes_of_a_case(question)) and any(
        unit.kind is UnitKind.ROW for unit in around.passage.units
    ):
        may_miss = _MAY_MISS_OF_RANGE
    return bool(essential) and missed / essential > may_miss


def covered(
    question: Question, said: list[float], weighed: list[float], *, foreign: bool, held: bool = False
) -> float | None:
    """The weighted share of the question that is said; None when something essential is not, or only far away.

    In the other language less may be missed, and an act must be said: there, its other verbs are not the question's own.
    A row of a table whose range has `held` the amount asked about says by that what the amount is of.
    """
    total = sum(weighed)
    if held:
        said = _with_what_the_amount_is_of(question, said)
    told = missed = essential = nearest = 0.0
    counted = 0
    for concept, level, weight in zip(question.concepts, said, weighed, strict=True):
        if concept.role is Role.ATTRIBUTE and question.asked.strict:
            level = max(level, 0.9)
        told += weight * level
        if is_essential(concept):
            essential += weight
            counted += 1
            nearest = max(nearest, level)
            if concept.alone and level < _ACT_SAID:
                return None  # what is allowed of another act is no answer
            if level < PRESENT or (question.asked.strict and _is_of_another_sentence(concept, level)):
                lenient = concept.role is Role.ACTION and concept.known and not concept.vital and not foreign
                missed += weight * (_ACTION_MISSED if lenient else _SOUGHT_MISSED if concept.sought else 1.0)
    may_miss = _MAY_MISS_ABROAD if foreign else _MAY_MISS_OF_MANY if counted >= _MANY else _MAY_MISS
    if essential and (missed / essential > may_miss or nearest < _NEAR_ENOUGH):
        return None
    return told / total if total else None


def codes_of_a_case(question: Question) -> list[int]:
    """Which concepts are the code of the case that is asked about, as in "what do I do when QUEUE-07 fires"."""
    if question.kind not in ACTED_ON:
        return []
    surfaces = (concept.surface for concept in question.concepts)
    return [at for at, surface in enumerate(surfaces) if "-" in surface and surface[-1].isdigit()]


def _with_what_the_amount_is_of(question: Question, said: list[float]) -> list[float]:
    """`said`, with the acts and the one thing that a row leaves out because its range stands for them."""
    left_out = [
        at
        for at, (concept, level) in enumerate(zip(question.concepts, said, strict=True))
        if level < PRESENT and is_essential(concept)
    ]
    things = [at for at in left_out if question.concepts[at].role is Role.NOUN]
    if len(things) > 1 or any(question.concepts[at].proper for at in things):
        return said
    left_out += [at for at, concept in enumerate(question.concepts) if concept.role is Role.LIGHT]
    return [max(_HELD, level) if at in left_out else level for at, level in enumerate(said)]


def _is_of_another_sentence(concept: Concept, level: float) -> bool:
    """Whether a thing is said in the question's own word, but only elsewhere in the section: there its amount would stand."""
    thing = (
        concept.role is Role.NOUN and not (concept.kinds or concept.sought) and concept.own[0] not in lexicon().parties
    )
    return thing and level == OWN * PASSAGE
