"""The longest text that an agent reads: what costs time grows with it, and one caller must not hold the others up."""

from collections.abc import Iterator

from a2a_hub.a2a.agent import Answer
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import SendMessageRequest, text_of
from a2a_hub.a2a.reply import Data, Piece, Text
from a2a_hub.telemetry.log import Record
from a2a_hub.telemetry.outcome import Outcome
from a2a_hub.text.language import Language, answer_language

MAX_TEXT_CHARACTERS = 300_000
"""Some hundred pages; longer texts are files."""

_TOO_LONG = {
    Language.EN: "Your message has {length:,} characters, and I read at most {most:,}. Please shorten it, or send the part "
    "that your question is about.",
    Language.JA: "メッセージが{length:,}文字あります。一度にお読みできるのは{most:,}文字までです。短くするか、"
    "ご質問に関係する部分だけをお送りください。",
}


def too_long_text(text: str, record: Record) -> str | None:
    """Return the answer to a text that is too long, noted in `record`; None for any other text."""
    if len(text) <= MAX_TEXT_CHARACTERS:
        return None
    record.update(outcome=Outcome.REFUSED, fault="text_too_long", textCharacters=len(text))
    return _TOO_LONG[answer_language(text)].format(length=len(text), most=MAX_TEXT_CHARACTERS)


def with_text_limit(answer: Answer) -> Answer:
    """Return `answer` for texts of at most `MAX_TEXT_CHARACTERS`; longer ones are answered with their length and the limit."""

    def answer_within_limit(request: SendMessageRequest, call: Call) -> Iterator[Piece]:
        text = text_of(request.message)
        refusal = too_long_text(text, call.record)
        if refusal is None:
            yield from answer(request, call)
            return
        yield Text(refusal)
        yield Data({"answered": False, "textCharacters": len(text), "maxTextCharacters": MAX_TEXT_CHARACTERS})

    return answer_within_limit
