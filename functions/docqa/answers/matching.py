"""How strongly a unit and its surroundings speak of each concept of a question."""

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from msgspec import Struct

from functions.docqa.answers.leaning import leans
from functions.docqa.answers.longer_names import stands_in
from functions.docqa.documents.definitions import Definition, with_other_names
from functions.docqa.documents.footnotes import marked
from functions.docqa.model import Passage, Unit, UnitKind
from functions.docqa.questions.concept import Concept, Role
from functions.docqa.questions.entities import Entity, entities_in
from functions.docqa.vocabulary.lexicon import lexicon
from functions.docqa.vocabulary.words import View, view

OWN, GOVERNING, STANDING_ABOVE, HEADER = 1.0, 0.95, 0.91, 0.9
INNER_HEADING, OUTER_HEADING, TITLE = 0.85, 0.75, 0.7
MEANT, PRECEDING, OPENING, NEIGHBOUR, PASSAGE = 0.9, 0.65, 0.6, 0.55, 0.35
PRESENT = 0.3
_SYNONYM, _BROADER, _PARTS = 0.9, 0.7, 0.85
_NOT_MODIFIERS = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "for",
        "to",
        "in",
        "on",
        "at",
        "by",
        "with",
        "and",
        "or",
        "our",
        "your",
        "their",
        "all",
        "each",
        "every",
        "any",
        "no",
        "'s",
    ]
)

_INTRODUCING = ("following.", "below.")
cached_view = lru_cache(maxsize=16384)(view)


class Surroundings(Struct):
    """What is worked out once per passage; the lists of views and entities run along its units."""

    passage: Passage
    units: list[View]
    entities: list[frozenset[Entity]]
    headings: list[View]
    heading_entities: list[frozenset[Entity]]
    title: View
    opening: View
    whole: View
    governing: list[View]

    def says(self, text: str) -> View:
        """The view of a text that governs one of its units."""
        return _named_in_full(text, self.passage.defined)

    @property
    def all_texts(self) -> list[View]:
        """Everything that can say something of a unit."""
        return [self.whole, *self.headings, self.title, *self.governing]


def surroundings(passage: Passage, opening: str = "") -> Surroundings:
    """The views of `passage`; headings run from the innermost outwards. `opening` begins its document."""
    headings = list(reversed(passage.section))
    names = passage.defined
    return Surroundings(
        passage=passage,
        units=[_named_in_full(unit.text, names) for unit in passage.units],
        entities=[entities_in(unit.text) for unit in passage.units],
        headings=[_named_in_full(heading, names) for heading in headings],
        heading_entities=[entities_in(heading) for heading in (*headings, passage.title)],
        title=cached_view(f"{passage.title} {passage.place}"),
        opening=cached_view(opening),
        governing=[
            _named_in_full(text, names)
            for text in {text for unit in passage.units for text in (unit.header, *unit.context) if text}
        ],
        whole=view(
            with_other_names("\n".join(unit.text for unit in passage.units if unit.kind is not UnitKind.LIST), names)
        ),
    )


def _named_in_full(text: str, names: tuple[Definition, ...]) -> View:
    """The view of `text` with the other names of what it calls by one of two."""
    return cached_view(with_other_names(text, names) if names else text)


def entity_scopes(around: Surroundings, number: int) -> list[frozenset[Entity]]:
    """The entities that the unit and the texts that govern it name, nearest text first."""
    units, unit = around.passage.units, around.passage.units[number]
    scopes = [around.entities[number], *map(entities_in, unit.context)]
    if unit.kind is UnitKind.SENTENCE:
        before = range(number - 1, -1, -1)
        scopes.extend(around.entities[near] for near in before if units[near].block == unit.block)
    scopes.append(entities_in(unit.header))
    scopes.extend(around.heading_entities)
    return scopes


def forms_of(concepts: Sequence[Concept]) -> frozenset[str]:
    """Every way in which the question's concepts may be said."""
    return frozenset(form for concept in concepts for form in (*concept.own, *concept.words, *concept.texts))


def levels(concepts: Sequence[Concept], around: Surroundings, number: int, asked: frozenset[str]) -> list[float]:
    """For each concept, how near and how exactly it is said: 1 in the unit itself, 0 nowhere in the passage.

    `asked` are the forms of all of them (`forms_of`).
    """
    layers = list(_layers(around, number))
    found = [_level(concept, layers) for concept in concepts]
    for at, concept in enumerate(concepts):
        if concept.proper and not found[at] and says(concept, around.opening):
            found[at] = OPENING
    own = around.units[number]
    whole_list = around.passage.units[number].kind is UnitKind.LIST
    for at, concept in enumerate(concepts):
        # The legal team is not the infrastructure team: a modifier found only near by does not count for this head.
        if concept.modifies is not None and found[at] <= PRECEDING and concept.role is not Role.LIGHT:
            head = concepts[concept.modifies]
            if says(head, own) and _modified_otherwise(head, own):
                found[at] = min(found[at], PRESENT - 0.01)
        if not whole_list and _party(concept) and found[at] <= PRECEDING and names_other_party(asked, own):
            found[at] = min(found[at], PRESENT - 0.01)
    return found


def _party(concept: Concept) -> bool:
    return concept.role is not Role.LIGHT and concept.own[0] in lexicon().parties


def names_other_party(asked: frozenset[str], own: View) -> bool:
    """Whether the unit is about people or an organisation that the question does not speak of."""
    return bool(_said_of(lexicon().parties, own) - asked)


@lru_cache(maxsize=16384)
def _said_of(words: frozenset[str], said: View) -> frozenset[str]:
    english, japanese = _by_script(words)
    found = [word for word in english if word in said.words]
    if not said.text.isascii():
        found += [word for word in japanese if word in said.text]
    return frozenset(found)


@cache
def _by_script(words: frozenset[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(word for word in words if word[0] == " "), tuple(word for word in words if word[0] != " ")


def speciality(asked: frozenset[str], around: Surroundings, number: int) -> int:
    """How many words mark the unit's rule as the special one, without the question asking for that."""
    said = _said_of(lexicon().special, around.units[number])
    if around.headings:
        said |= _said_of(lexicon().special, around.headings[0])
    return len(said - asked)


def speciality_of_heading(asked: frozenset[str], passage: Passage) -> int:
    """How many words mark a whole section as a special case that the question does not ask for."""
    return len(_said_of(lexicon().special, cached_view(passage.section[-1])) - asked) if passage.section else 0


def compound_bonus(concepts: Sequence[Concept], own: View) -> float:
    """A little for every two concepts that stand side by side in the unit as they do in the question."""
    bonus = 0.0
    for concept in concepts:
        if concept.modifies is not None:
            first, second = concept.own[0], concepts[concept.modifies].own[0]
            joined = f" {first.strip()} {second.strip()} " if first[0] == " " else first + second
            bonus += 0.04 if joined in (own.words if first[0] == " " else own.text) else 0.0
    return min(bonus, 0.08)


def says(concept: Concept, said: View) -> float:
    """1 when `said` has one of the question's own forms, less for a synonym or a broader word, 0 for neither."""
    for form in concept.own:
        if form in said.words if form[0] == " " else stands_in(form, said.text):
            return 1.0
    for form in concept.words:
        if form in said.words:
            return _SYNONYM
    if not said.text.isascii():
        for form in concept.texts:
            if stands_in(form, said.text):
                return _SYNONYM
    for form in concept.broader:
        if form in (said.words if form[0] == " " else said.text):
            return _BROADER
    return 0.0


def is_said(concept: Concept, around: Surroundings) -> bool:
    """Whether a concept, or a part of it, is said anywhere in a passage or in what governs it."""
    texts = around.all_texts
    for said in texts:
        if says(concept, said):
            return True
        for part in concept.parts:
            if part in (said.words if part[0] == " " else said.text):
                return True
    return False


def _layers(around: Surroundings, number: int) -> Iterator[tuple[float, View]]:
    """The texts around a unit, nearest first, each with what a word found there is worth."""
    passage, unit = around.passage, around.passage.units[number]
    yield OWN, around.units[number]
    neighbours = _neighbours(passage.units, number)
    if unit.kind is UnitKind.SENTENCE and number - 1 in neighbours and leans(unit.text):
        yield MEANT, around.units[number - 1]
    for context in unit.context:
        # A rule that only happens to stand above a table says less of its rows than it says itself.
        is_rule = unit.kind is UnitKind.ROW and context.endswith(".") and not context.endswith(_INTRODUCING)
        yield (STANDING_ABOVE if is_rule else GOVERNING), around.says(context)
    for bearer in marked(passage.units, number):
        yield GOVERNING, around.units[bearer]
    if unit.header:
        yield HEADER, around.says(unit.header)
    for depth, heading in enumerate(around.headings):
        yield (OUTER_HEADING if depth else INNER_HEADING), heading
    yield TITLE, around.title
    for near in neighbours:
        leads = unit.kind is UnitKind.SENTENCE and near < number
        yield (PRECEDING if leads else NEIGHBOUR), around.units[near]
    if unit.kind is not UnitKind.ROW:
        yield PASSAGE, around.whole


def _neighbours(units: Sequence[Unit], number: int) -> list[int]:
    """The sentences beside a sentence in its paragraph, or the two that stand before a list."""
    unit = units[number]
    if unit.kind is UnitKind.SENTENCE:
        beside = (near for near in (number - 1, number + 1) if 0 <= near < len(units))
        return [near for near in beside if units[near].block == unit.block]
    if unit.kind in (UnitKind.ITEM, UnitKind.LIST):
        before = [at for at, other in enumerate(units[:number]) if other.kind is UnitKind.SENTENCE]
        return [at for at in before[-2:] if units[at].block >= unit.block - 1]
    return []


def _level(concept: Concept, layers: Sequence[tuple[float, View]]) -> float:
    best = 0.0
    for worth, said in layers:
        if best >= worth:
            break
        best = max(best, says(concept, said) * worth)
    if concept.parts and best < _PARTS:
        shares = [
            max(
                (worth for worth, said in layers if part in (said.words if part[0] == " " else said.text)),
                default=0.0,
            )
            for part in concept.parts
        ]
        if concept.loose:
            shares.sort(reverse=True)
            shares = shares[: max(2, len(shares) - 1)]
        if min(shares) >= NEIGHBOUR:
            best = max(best, _PARTS * sum(shares) / len(shares))
    return best


def _modified_otherwise(head: Concept, own: View) -> bool:
    for form in (*head.own, *head.words):
        at = own.words.find(form) if form[0] == " " else -1
        if at > 0:
            before = own.words[:at].rsplit(" ", 1)[-1]
            return before not in _NOT_MODIFIERS
    for form in (*head.own, *head.texts):
        at = own.text.find(form) if form[0] != " " else -1
        if at > 0:
            return "\u30a1" <= own.text[at - 1] <= "\u30ff" or "\u3400" <= own.text[at - 1] <= "\u9fff"
    return False
