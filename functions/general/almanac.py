"""The agent for general questions, and the almanac: a model that answers from bundled facts, word for word, or not at all."""

from collections.abc import Iterator
from typing import Protocol

from a2a_hub.a2a.agent import Answer
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.declining import Reason, declining
from a2a_hub.a2a.model import SendMessageRequest, text_of
from a2a_hub.a2a.reply import Data, Piece, Question, Text
from a2a_hub.agents.knowledge import searchable
from a2a_hub.grounding.evidence import Evidence
from a2a_hub.text.follow_up import is_follow_up
from a2a_hub.text.language import Language, answer_language
from functions.general.knowledge import Fact

_EMPTY_QUESTION = {
    Language.EN: "What would you like to know?",
    Language.JA: "どのようなことをお知りになりたいですか。",
}
_UNKNOWN = {
    Language.EN: "I do not know the answer, and I do not guess. "
    "No language model is configured, so I can only look things up in a small built-in almanac: "
    "capitals, mountains, rivers, planets, science, units, history, Japan. "
    "An administrator can configure a language model, and then I can answer general questions. "
    "If another agent of the hub should know, name the subject in your question; “/routes” lists the agents.",
    Language.JA: "その答えはわかりません。推測でのお答えは控えます。"
    "言語モデルが設定されていないため、内蔵の小さな年鑑（首都、山、川、惑星、科学、単位、歴史、日本のことなど）"
    "にある事柄だけをお答えできます。"
    "管理者が言語モデルを設定すると、一般的な質問にお答えできるようになります。"
    "ハブのほかのエージェントへのご質問でしたら、何についての質問かを書き添えてください。「/ルート」で一覧を確認できます。",
}
_HINT = (
    "No model is configured, so this function answers from its almanac alone. "
    "Set ANSWER_MODEL to a Gemini model on Vertex AI, and GOOGLE_CLOUD_PROJECT; or ANSWER_MODEL_URL."
)
# The almanac's questions are shorter.
_MAX_QUESTION_CHARACTERS = 500
_MAX_EVIDENCE = 40
_TITLE = {Language.EN: "Almanac", Language.JA: "年鑑"}


class Model(Protocol):
    """A source of answers: the bundled almanac, or a language model. Thread-safe; one per process."""

    def answer(self, question: str, *, language: Language, call: Call) -> Iterator[Piece]:
        """Yield the answer to a non-empty question in `language`, its text piece by piece as it becomes known.

        Each question is answered independently. The outcome is added to `call.record`.
        """
        ...


def answered_by(model: Model) -> Answer:
    """Return the agent: it answers with the model; with a question in return if there is no text."""

    def answer(request: SendMessageRequest, call: Call) -> Iterator[Piece]:
        question = text_of(request.message)
        language = answer_language(question)
        if not question:
            yield Question(_EMPTY_QUESTION[language])
            return
        yield from model.answer(question, language=language, call=call)

    return answer


class Almanac:
    """A `Model` that knows a few hundred facts and nothing else."""

    def __init__(self, facts: tuple[Fact, ...]) -> None:
        self._facts = facts

    def answer(self, question: str, *, language: Language, call: Call) -> Iterator[Piece]:
        """See `Model`."""
        call.record["model"] = "almanac"
        fact = self.look_up(question)
        if fact is None:
            yield declining(Reason.NOTHING_KNOWN, {"source": "almanac", "answered": False, "hint": _HINT})
            yield Text(_UNKNOWN[language])
            return
        yield Text(fact.text(language))
        yield Data({"source": "almanac", "answered": True, "facts": [fact.id]})

    def evidence(self, question: str, language: Language) -> list[Evidence]:
        """Return the facts that a question touches, also one that none of them answers alone."""
        words = searchable(question[:_MAX_QUESTION_CHARACTERS])
        found = [fact for fact in self._facts if fact.touches(words)][:_MAX_EVIDENCE]
        context = _TITLE[language]
        return [
            Evidence(number, fact.text(language), (context,), f"almanac#{fact.id}")
            for number, fact in enumerate(found, 1)
        ]

    def look_up(self, question: str) -> Fact | None:
        """Return the fact that answers the question; a follow-up on a line of its own is read together with the lines before."""
        if len(question) > _MAX_QUESTION_CHARACTERS:
            return None
        before, _, last = question.rpartition("\n")
        if (fact := self._fact_for(question)) is None and before and is_follow_up(last):
            fact = self._fact_for(last, before=before)
        return fact

    def _fact_for(self, text: str, *, before: str = "") -> Fact | None:
        words, words_before = searchable(text), searchable(before)
        strengths = ((fact.strength(words, before=words_before), fact) for fact in self._facts)
        strongest = max(strengths, key=lambda pair: pair[0])
        return strongest[1] if strongest[0] else None
