"""What makes one unit a better answer than another that says as much of the question: a table of small amounts."""

import re
from collections.abc import Callable

from msgspec import Struct

from functions.docqa.answers.defining import named_definition
from functions.docqa.answers.judged import normal_of
from functions.docqa.answers.labels import label_bonus, names_a_case
from functions.docqa.answers.matching import (
    Surroundings,
    cached_view,
    compound_bonus,
    names_other_party,
    says,
    speciality,
)
from functions.docqa.answers.occasions import has
from functions.docqa.answers.rules_on_rules import less_telling
from functions.docqa.model import Unit, UnitKind
from functions.docqa.questions.concept import Role
from functions.docqa.questions.expressions import ACTED_ON, ANNOUNCING, AnswerKind
from functions.docqa.questions.question import Question
from functions.docqa.vocabulary.lexicon import lexicon
from functions.docqa.vocabulary.word_runs import run_bonus
from functions.docqa.vocabulary.words import normalise, phrase

REMEDY = re.compile(r"what to do|\baction|\bremedy|\bsolution|\bfix\b|対処|処置|対応|対策|措置|解決")
_OWN_RUN, _SAYS_WHAT_TO_DO = 0.3, 0.12
_DENIED = re.compile(r"\b(?:if|when|unless)\b.*\b(?:not|n't|cannot) (?:be |been )?(\w{4,})")
_DENIES = re.compile(r"\b(?:not|no|never|cannot|without|unless|fails?|un\w+)\b|n't\b")
_OF_NO_CASE, _OF_NO_ACT = -0.08, -0.1
_OF_A_CASE, _ANNOUNCES, _SPECIAL, _MOST_SPECIAL = -0.1, -0.15, -0.05, 2
_OF_ITS_TOPIC, _NARROWS, _NARROWER = 0.06, -0.15, -0.08
_TOPIC_ASKED = re.compile(
    r"(?:^|[のにでと、])([^\s、。のはがをにでと?]{2,14})は、?(?:どの|どれ|何|いつ|いくら|いくつ|誰|どこ|どう)"
)
_PART = re.compile(r"\W*([^|]{2,60}?) (?:for|of) [^|]+\|")
_OWNED = re.compile(r"\W*(?:the |an? )?(\w+)(?:'s|s') (\w+)")
_OF_A_BELONGING = -0.15
_ROLE_ASKED = re.compile(r"([一-龯ァ-ヶー]{2,12}(?:長|者|員|役|官|師|リーダー|マネージャー))は、?(?:誰|だれ|どなた)")
_ENDS_ANOTHER_NAME, _OF_ANOTHER_ROLE = r"(?<![一-龯ァ-ヶー])", -0.2
_PER_CHARACTER, _MOST_FOR_LENGTH = -0.0003, -0.03


class Read(Struct, frozen=True):
    """A unit in its surroundings, read for a question; `forms` are those of all its concepts."""

    question: Question
    forms: frozenset[str]
    around: Surroundings
    number: int
    normal: str

    @property
    def unit(self) -> Unit:
        """The unit itself."""
        return self.around.passage.units[self.number]


def telling(read: Read) -> float:
    """All that speaks for the unit, less what speaks against it."""
    return sum(rule(read) for rule in _RULES)


def _definition(read: Read) -> float:
    return named_definition(read.question, read.around.passage, read.number, read.normal)


def _side_by_side(read: Read) -> float:
    return compound_bonus(read.question.concepts, read.around.units[read.number])


def _run_in_its_header(read: Read) -> float:
    return run_bonus(read.question.text, cached_view(read.unit.header)) if read.unit.header else 0.0


def _run_of_its_own(read: Read) -> float:
    if not read.question.asked.strict:
        return 0.0
    return _OWN_RUN * run_bonus(read.question.text, read.around.units[read.number])


def _what_to_do(read: Read) -> float:
    if read.question.kind not in ACTED_ON:
        return 0.0
    remedy = read.unit.kind is UnitKind.ROW and has(REMEDY, normalise(read.unit.header))
    return (_SAYS_WHAT_TO_DO if remedy else 0.0) + (_OF_A_CASE if names_a_case(read.unit) else 0.0)


def _says_the_case(read: Read) -> float:
    """Against what does not itself say the case, where it is asked what happens then."""
    if read.question.kind is not AnswerKind.CONSEQUENCE:
        return 0.0
    said = read.around.units[read.number]
    acts = [concept for concept in read.question.concepts if concept.vital]
    return _OF_NO_CASE if acts and not any(says(concept, said) for concept in acts) else 0.0


def _lets_others_act(read: Read) -> float:
    """Against what says of others what they may do, and not the act: "visitors' cars are registered" of "may I park"."""
    if read.question.kind is not AnswerKind.PERMISSION or read.unit.kind is not UnitKind.SENTENCE:
        return 0.0
    said = read.around.units[read.number]
    if not names_other_party(read.forms, said):
        return 0.0
    acts = [concept for concept in read.question.concepts if concept.role is Role.ACTION and concept.known]
    return _OF_NO_ACT if acts and not any(says(concept, said) for concept in acts) else 0.0


def _is_of_the_opposite_case(read: Read) -> float:
    """Against what holds when something is, where it is asked what holds when it is not."""
    denied = _DENIED.search(normal_of(read.question.text)) if read.question.kind in ACTED_ON else None
    if not denied or has(_DENIES, read.normal):
        return 0.0
    return _OF_NO_CASE if phrase(denied.group(1)) in read.around.units[read.number].words else 0.0


def _announces(read: Read) -> float:
    return _ANNOUNCES if has(ANNOUNCING, read.normal) and not read.question.asked.listing else 0.0


def _is_of_its_topic(read: Read) -> bool:
    """Whether a Japanese sentence has the topic of the question: 「保証期間は」, and not what is said of it in passing."""
    topic = _TOPIC_ASKED.search(normal_of(read.question.text))
    return (
        topic is not None
        and re.search(rf"(?:^|[、。)])[^、。は]{{0,4}}{re.escape(topic.group(1))}は", read.normal) is not None
    )


def _topic(read: Read) -> float:
    return _OF_ITS_TOPIC if _is_of_its_topic(read) else 0.0


def _is_of_another_role(read: Read) -> float:
    """Against a sentence that has the role asked about only as the end of another: the 部長 of 基盤運用部長 for 本部長."""
    asked = _ROLE_ASKED.search(normal_of(read.question.text))
    if asked is None or read.normal.isascii():
        return 0.0
    role = re.compile(_ENDS_ANOTHER_NAME + re.escape(asked.group(1)))
    near = (
        read.normal,
        *map(normalise, (*read.unit.context, read.unit.header, *read.around.passage.section)),
    )
    return 0.0 if any(role.search(text) for text in near) else _OF_ANOTHER_ROLE


def _narrowed(read: Read) -> float:
    """Against a figure that only says which of the things asked about it is: 「45時間以下の時間外労働」."""
    if not read.question.unit or not read.question.asked.strict:
        return 0.0
    before = "|".join(
        re.escape(form)
        for concept in read.question.concepts
        if concept.role is Role.NOUN
        for form in (*concept.own, *concept.texts)
    )
    return (
        _NARROWS
        if before and re.search(rf"\d[^\d、。]{{0,4}}(?:以下|以上|未満|を?超える?)の?(?:{before})", read.normal)
        else 0.0
    )


def _label(read: Read) -> float:
    return label_bonus(read.question.text, read.unit)


def _rule_on_rules(read: Read) -> float:
    return -less_telling(read.question.text, read.normal, read.around.passage.section)


def _special(read: Read) -> float:
    return _SPECIAL * min(_MOST_SPECIAL, speciality(read.forms, read.around, read.number))


def _length(read: Read) -> float:
    weight = 2 if read.around.passage.language == "ja" else 1
    return max(_MOST_FOR_LENGTH, _PER_CHARACTER * len(read.normal) * weight)


def _of_what_belongs(read: Read) -> float:
    """Against a sentence on what belongs to the thing asked about: visitors' cars, where a visitor is asked about."""
    owned = _OWNED.match(read.normal)
    if not owned:
        return 0.0
    asked = cached_view(read.question.text).words
    owner, thing = phrase(owned.group(1)), phrase(owned.group(2))
    of_people = owner in lexicon().parties and owner in asked
    return _OF_A_BELONGING if of_people and thing not in asked else 0.0


def _of_a_part(read: Read) -> float:
    """Against a row on what belongs to the thing asked about: the filter for a pump, where a pump's price is asked for."""
    part = _PART.match(read.normal) if read.unit.kind is UnitKind.ROW else None
    if not part:
        return 0.0
    asked = cached_view(read.question.text).words
    named = any(f" {word} " in asked for word in cached_view(part.group(1)).words.split())
    return 0.0 if named else _NARROWER


_RULES: tuple[Callable[[Read], float], ...] = (
    _definition,
    _side_by_side,
    _topic,
    _is_of_another_role,
    _narrowed,
    _run_in_its_header,
    _run_of_its_own,
    _what_to_do,
    _says_the_case,
    _lets_others_act,
    _is_of_the_opposite_case,
    _announces,
    _label,
    _rule_on_rules,
    _special,
    _length,
    _of_what_belongs,
    _of_a_part,
)
