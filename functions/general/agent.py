"""The agent for general questions: finds what was asked and in which language, and lets the model answer."""

from __future__ import annotations

from collections.abc import Iterator

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import SendMessageRequest
from a2a_hub.a2a.reply import Piece, Question
from a2a_hub.a2a.text import text_of
from a2a_hub.text.language import Language, answer_language
from functions.general.model import Model

_WHAT_IS_ASKED = {
    Language.EN: "What would you like to know?",
    Language.JA: "どのようなことをお知りになりたいですか。",
}


class GeneralAgent:
    """The agent. Holds no state between questions."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def answer(self, request: SendMessageRequest, call: Call) -> Iterator[Piece]:
        """What the model says; a question in return when there is no text."""
        question = text_of(request.message)
        language = answer_language(question)
        if not question:
            yield Question(_WHAT_IS_ASKED[language])
            return
        yield from self._model.answer(question, language=language, call=call)
