"""The agent for general questions, and the protocol of the models that answer them."""

from collections.abc import Iterator
from typing import Protocol

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import SendMessageRequest, text_of
from a2a_hub.a2a.reply import Piece, Question
from a2a_hub.text.language import Language, answer_language

_EMPTY_QUESTION = {
    Language.EN: "What would you like to know?",
    Language.JA: "どのようなことをお知りになりたいですか。",
}


class Model(Protocol):
    """A source of answers: the bundled almanac, or a language model. Thread-safe; one per process."""

    def answer(self, question: str, *, language: Language, call: Call) -> Iterator[Piece]:
        """Yield the answer to a non-empty question in `language`, its text piece by piece as it becomes known.

        Each question is answered independently. The outcome is added to `call.record`.
        """
        ...


class GeneralAgent:
    """The agent. Holds no state between questions."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def answer(self, request: SendMessageRequest, call: Call) -> Iterator[Piece]:
        """Yield the model's answer; a question in return if there is no text."""
        question = text_of(request.message)
        language = answer_language(question)
        if not question:
            yield Question(_EMPTY_QUESTION[language])
            return
        yield from self._model.answer(question, language=language, call=call)
