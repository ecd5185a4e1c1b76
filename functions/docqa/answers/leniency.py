"""The second look: what a unit must still say when the act that a question speaks of is said in words nobody listed."""

from msgspec import Struct

from functions.docqa.answers.matching import HEADER, PRESENT
from functions.docqa.questions.concept import Concept, Role
from functions.docqa.questions.expressions import PATTERNS
from functions.docqa.questions.question import Question
from functions.docqa.questions.units_counted import counts
from functions.docqa.vocabulary.lexicon import lexicon

_THING_SAID, _NEARLY_SURE, _SURELY_SAID, _TELLING = 0.5, 0.6, 0.75, 0.45
_EVERYWHERE = 0.35


def _may_be_named(concept: Concept) -> bool:
    """Whether the answer names what is sought instead of saying it: "which team" is answered by "legal affairs"."""
    return bool(concept.kinds) or concept.own[0] in lexicon().parties


class Nearest(Struct, frozen=True):
    """What is near a question need not say all of it; `surely`, one of its things or acts in the question's words."""

    weights: list[float]
    surely: bool = True

    def coverage(self, question: Question, said: list[float], _: str, *, row: bool) -> float | None:  # noqa: ARG002 - the form of a rule
        """The weighted share of the question that is said; None when none of its things and acts is, as surely as it must."""
        things = (
            level
            for concept, level in zip(question.concepts, said, strict=True)
            if concept.role in (Role.NOUN, Role.ACTION)
        )
        if self.surely and max(things, default=0.0) < _NEARLY_SURE:
            return None
        covered = sum(weight * level for weight, level in zip(self.weights, said, strict=True))
        return covered / sum(self.weights)


class Lenient(Struct, frozen=True):
    """What a unit must still say when the act that a question speaks of need not be said."""

    rarities: list[float]

    def coverage(self, question: Question, said: list[float], normal: str, *, row: bool) -> float | None:
        """The share that counts as said; None when a thing of the question is not, or only far away."""
        pattern = PATTERNS.get(question.kind)
        if pattern is not None and not pattern.search(normal):
            return None
        if question.unit and not row and not counts(question.unit, normal):
            return None
        things = []
        is_only_sought = True
        unsaid_acts = acts = 0
        for concept, level, rarity in zip(question.concepts, said, self.rarities, strict=True):
            if not self._is_thing(question, concept, said, row=row):
                acts += concept.role is Role.ACTION
                unsaid_acts += concept.role is Role.ACTION and level < PRESENT
            elif level < _THING_SAID:
                return None
            else:
                things.append((level, rarity))
                is_only_sought = is_only_sought and concept.sought
        if not things or is_only_sought or max(level * rarity for level, rarity in things) < _TELLING:
            return None
        if max(level for level, _ in things) < _SURELY_SAID:
            return None
        mean = sum(level * rarity for level, rarity in things) / sum(rarity for _, rarity in things)
        return mean - 0.1 * unsaid_acts / max(1, acts)

    def _is_thing(self, question: Question, concept: Concept, said: list[float], *, row: bool) -> bool:
        if concept.aside:
            return False
        at = question.concepts.index(concept)
        if concept.role is Role.ACTION:
            narrows = concept.modifies is not None and concept.surface.endswith(("ing", "ed"))
            happened = question.asked.strict and concept.known and concept.surface.endswith("ed")
            return concept.vital or narrows or happened
        if (
            concept.role is not Role.NOUN
            or (concept.sought and _may_be_named(concept))
            or self.rarities[at] < _EVERYWHERE
        ):
            return False
        # Urgent tickets are told by a column "urgent".
        narrowed = row and any(
            other.modifies == at and level >= _SURELY_SAID and (level <= HEADER or other.surface[-1:].isdigit())
            for other, level in zip(question.concepts, said, strict=True)
        )
        return concept.proper or not narrowed
