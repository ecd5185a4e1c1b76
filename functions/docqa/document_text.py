"""The text of a document around a quote: for a message that names the document in its metadata, and an asker who may read it."""

from collections.abc import Iterator
from typing import Protocol

import msgspec

from a2a_hub.a2a.agent import Answer
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.declining import Reason, declining
from a2a_hub.a2a.errors import invalid_field
from a2a_hub.a2a.model import SendMessageRequest, text_of
from a2a_hub.a2a.reply import Data, Piece, Text
from a2a_hub.text.language import Language, answer_language
from functions.docqa.model import Document
from functions.docqa.retrieval.access import Asker, asker_of
from functions.docqa.search_results import link_of

_MEMBER = "document"
_MAX_CHARACTERS = 100_000
_NOT_SHOWN = {
    Language.EN: "There is no such document, or you are not permitted to read it.",
    Language.JA: "文書が存在しないか、閲覧が許可されていません。",
}


class Documents(Protocol):
    """An engine that can show documents."""

    def document(self, uri: str, *, quote: str, asker: Asker) -> Document | str:
        """Return the document with `quote`; else the reason for the asker, "" if there is none that they may read."""


class _Place(msgspec.Struct):
    uri: str
    start: int = 0
    quote: str = ""


# msgspec analyses a type at its first use, and crashes if two threads do that at once.
msgspec.json.Decoder(_Place)


def with_documents(answer: Answer, documents: Documents, *, corpus_link: str | None) -> Answer:
    """Return `answer`, wrapped so that `documents` handles messages with `document` in their metadata.

    That is `{"uri", "start", "quote"}`; without `quote`, their text is it. The data has the text `before` and `after` the
    `quote`, which is "" if it no longer stands there.
    """

    def shown(request: SendMessageRequest, call: Call) -> Iterator[Piece]:
        named = (request.message.metadata or {}).get(_MEMBER)
        if named is None:
            yield from answer(request, call)
            return
        try:
            place = msgspec.convert(named, _Place)
        except msgspec.ValidationError:
            raise invalid_field(
                f"message.metadata.{_MEMBER}", 'must be {"uri": string, "start": integer, "quote": string}'
            ) from None
        quote = place.quote or text_of(request.message)
        document = documents.document(place.uri, quote=quote, asker=asker_of(call))
        if isinstance(document, str):
            yield declining(Reason.FAILED if document else Reason.NOTHING_KNOWN, {})
            yield Text(document or _NOT_SHOWN[answer_language(quote)])
            return
        yield Text(document.title)
        link = link_of(document.uri, corpus_link=corpus_link)
        named = {"uri": document.uri, "title": document.title, "link": link}
        yield Data({_MEMBER: named | _around(document.text, quote, place.start)})

    return shown


def _around(text: str, quote: str, start: int) -> dict[str, str]:
    """Return the text before, in and after the quote at `start`, or else at its first place, each as far as it is shown."""
    at = start if start >= 0 and text.startswith(quote, start) else text.find(quote)
    end = at + len(quote) if at >= 0 else 0
    return {
        "before": text[max(0, at - _MAX_CHARACTERS) : max(0, at)],
        "quote": text[max(0, at) : end],
        "after": text[end : end + _MAX_CHARACTERS],
    }
