"""Answers that a model composes from an agent's own knowledge; without the model, the agent's rules answer."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from a2a_hub.a2a.agent import Answer
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import SendMessageRequest, text_of
from a2a_hub.a2a.reply import Data, Piece
from a2a_hub.agents.composition import Composition
from a2a_hub.grounding.composer import Asked, Composer
from a2a_hub.grounding.evidence import Evidence
from a2a_hub.text.language import Language, answer_language
from a2a_hub.text.normalization import question_text


class Knowledge(Protocol):
    """The knowledge of an agent, for a composer."""

    def evidence(self, question: str, language: Language) -> Sequence[Evidence]:
        """Return what may answer the question, the best first; nothing for a question that the rules alone answer."""

    def data(self, cited: Sequence[Evidence], language: Language, /) -> dict[str, Any]:
        """Return the structured answer that rests on this evidence."""

    def abstention(self, question: str, language: Language, /) -> Iterator[Piece]:
        """Yield the answer to a question that the knowledge does not answer."""


def composed(answer: Answer, knowledge: Knowledge, composer: Composer | None) -> Answer:
    """Return `answer` with a composer before it, if there is one.

    `answer`, by rules, takes over when the model fails or nothing that it writes can be verified. When the model says that the
    knowledge does not answer, the agent abstains.
    """
    if composer is None:
        return answer

    def composed_answer(request: SendMessageRequest, call: Call) -> Iterator[Piece]:
        question = question_text(text_of(request.message))
        language = answer_language(question)
        evidence = knowledge.evidence(question, language) if question else ()
        if not evidence:
            yield from answer(request, call)
            return
        composition = Composition(composer, Asked(question=question, language=language, evidence=evidence), call=call)
        yield from composition.text()
        if composition.is_answered:
            data = {"answered": True, "grounded": True, "citations": [citation(each) for each in composition.cited]}
            yield Data(knowledge.data(composition.cited, language) | data | composition.data | _hints(composition, {}))
            return
        pieces = knowledge.abstention(question, language) if composition.is_declined else answer(request, call)
        for piece in pieces:
            if isinstance(piece, Data):
                piece = Data(piece.value | composition.data | _hints(composition, piece.value))
            yield piece

    return composed_answer


def citation(evidence: Evidence) -> dict[str, Any]:
    """Return a piece of knowledge in the form of a citation."""
    title, *section = evidence.context
    return {"uri": evidence.source, "title": title, "quote": evidence.text, "position": {"section": section}}


def _hints(composition: Composition, data: dict[str, Any]) -> dict[str, Any]:
    hints = [*data.get("hints", ()), *composition.hints]
    return {"hints": hints} if hints else {}
