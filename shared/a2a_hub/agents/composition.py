"""Answers that a model composes from an agent's own knowledge; without the model, the agent's rules answer."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any, Protocol

from msgspec import Struct, field

from a2a_hub.a2a.agent import Answer
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import SendMessageRequest, text_of
from a2a_hub.a2a.reply import Data, Piece, Text
from a2a_hub.gemini.failure import Cause, failure_text
from a2a_hub.grounding.composer import Composed, Composer, Dropped, GroundedQuestion
from a2a_hub.grounding.evidence import Evidence, Sentence
from a2a_hub.text.language import Language, answer_language
from a2a_hub.text.normalization import question_text

_STEP = "answer"
_LEFT_OUT = {
    Language.EN: "(Left out here: {count} of the model's sentences, which the sources do not support.)",
    Language.JA: "（出典で裏付けられない文を{count}件、省きました。）",
}


class Composition(Struct):
    """A composed answer to what is `asked`. Read `text` first: the rest is known at its end."""

    composer: Composer
    asked: GroundedQuestion
    call: Call
    still_stands: Callable[[Evidence], bool] = lambda _: True
    timeout_seconds: float = math.inf
    _marks: dict[int, int] = field(default_factory=dict)
    _end: Composed | None = None

    def text(self) -> Iterator[Text]:
        """Yield each verified sentence with the marks of its evidence ([1] is cited first); nothing if none passes."""
        is_japanese = self.asked.language is Language.JA
        kept = 0
        for piece in self.composer.compose(
            self.asked,
            still_stands=self.still_stands,
            cancellation=self.call.cancellation,
            timeout_seconds=self.timeout_seconds,
        ):
            match piece:
                case Sentence():
                    marks = "".join(f"[{self._marks.setdefault(each, len(self._marks) + 1)}]" for each in piece.cites)
                    yield Text((" " if kept and not is_japanese else "") + f"{piece.text} {marks}", more=True)
                    kept += 1
                case Composed():
                    self._end = piece
        if kept:
            yield from map(Text, self._notes())
        self._record()

    def _notes(self) -> Iterator[str]:
        language = self.asked.language
        if self.end.left_out:
            yield f"\n\n{_LEFT_OUT[language].format(count=self.end.left_out)}"
        if self.end.failure:
            yield f"\n\n{failure_text(self.end.failure.cause, language, is_begun=True)}"

    @property
    def end(self) -> Composed:
        """The end of the answer."""
        assert self._end is not None
        return self._end

    @property
    def is_answered(self) -> bool:
        """True if at least one sentence went out."""
        return self.end.kept > 0

    @property
    def cited(self) -> list[Evidence]:
        """The evidence that went out, in the order of its marks."""
        by_number = {each.number: each for each in self.asked.evidence}
        return [by_number[number] for number in self._marks]

    @property
    def data(self) -> dict[str, Any]:
        """The report for the structured answer. `dropped` and `hints` are for operators."""
        end = self.end
        report: dict[str, Any] = {"model": end.model, "tokens": asdict(end.tokens)}
        if end.failure:
            report["failure"] = {"cause": end.failure.cause.value}
        data: dict[str, Any] = {"composed": report}
        # Nobody has verified what the model says that the evidence lacks.
        lacks = [Dropped(end.missing, ("declined",))] if end.missing else []
        if unshown := [*end.dropped, *lacks]:
            data["dropped"] = [asdict(each) for each in unshown]
        return data

    @property
    def hints(self) -> list[dict[str, str]]:
        """The remedy of the model's failure, for operators."""
        failure = self.end.failure
        return [self.composer.hint(_STEP, failure)] if failure and failure.cause is not Cause.CANCELLED else []

    def _record(self) -> None:
        # A sentence may quote the caller, and stays out of the log: its flaws are enough.
        end = self.end
        report = {"model": end.model, "kept": end.kept, "tokens": asdict(end.tokens), "declined": end.declined}
        report["dropped"] = [flaw for each in end.dropped for flaw in each.flaws]
        self.call.record["composed"] = report
        for hint in self.hints:
            report["failure"] = hint
            self.call.record["severity"] = "WARNING"


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
        composition = Composition(
            composer, GroundedQuestion(question=question, language=language, evidence=evidence), call=call
        )
        yield from composition.text()
        if composition.is_answered:
            data = {"answered": True, "grounded": True, "citations": [citation(each) for each in composition.cited]}
            yield Data(knowledge.data(composition.cited, language) | data | composition.data | _hints(composition, {}))
            return
        pieces = knowledge.abstention(question, language) if composition.end.declined else answer(request, call)
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
