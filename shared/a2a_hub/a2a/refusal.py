"""Refusals under overload: an error for programs, and for user interfaces one sentence as the whole answer."""

import math
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from a2a_hub.a2a.admission import accepted_modes, contract_of, named_extensions
from a2a_hub.a2a.bindings import sse
from a2a_hub.a2a.bindings.exchange import Exchange, exchange_of
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.errors import OVERLOADED, UNAVAILABLE, A2AError, ErrorKind
from a2a_hub.a2a.fold import fold
from a2a_hub.a2a.model import SendMessageRequest, text_of
from a2a_hub.a2a.reply import Failure, to_events
from a2a_hub.http.messages import BodyError, Request, Response
from a2a_hub.identity.principal import Contract, Principal
from a2a_hub.runtime.ids import new_id
from a2a_hub.telemetry.log import Record
from a2a_hub.text.language import Language, language_of

# A larger one that has not arrived yet is refused without being read.
_MAX_BODY_BYTES = 64 * 1024
_OVERLOADED = {
    Language.EN: "There are too many questions at the moment. Please ask again in a minute.",
    Language.JA: "現在、質問が集中しています。1分ほど待ってから、もう一度お尋ねください。",
}
_RESTARTING = {
    Language.EN: "The service is being restarted. Please send it again in a moment.",
    Language.JA: "サービスを再起動しています。少し待ってから、もう一度お送りください。",
}
_AWAY = {
    Language.EN: "The service cannot be reached at the moment. Please ask again in a minute.",
    Language.JA: "現在、サービスに接続できません。1分ほど待ってから、もう一度お尋ねください。",
}


class TemporaryRefusal(A2AError):
    """An error with a sentence for people, `texts`, and the `seconds` after which the request may be repeated."""

    def __init__(
        self,
        kind: ErrorKind,
        texts: Mapping[Language, str],
        *,
        seconds: float,
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        headers = {"retry-after": str(math.ceil(seconds))}
        super().__init__(kind, texts[Language.EN], metadata=metadata, headers=headers)
        self.texts = texts


def overloaded() -> TemporaryRefusal:
    """Return the refusal of a request beyond this process's capacity."""
    return TemporaryRefusal(OVERLOADED, _OVERLOADED, seconds=1)


def restarting() -> TemporaryRefusal:
    """Return the refusal of a request that a stopping process does not answer."""
    return TemporaryRefusal(UNAVAILABLE, _RESTARTING, seconds=1)


def broken_off() -> TemporaryRefusal:
    """Return the closing paragraph of an answer that a stopped process cut off."""
    texts = {language: f"\n\n{text}" for language, text in _RESTARTING.items()}
    return TemporaryRefusal(UNAVAILABLE, texts, seconds=1)


def unreachable(kind: ErrorKind) -> TemporaryRefusal:
    """Return the refusal of a request whose function does not answer."""
    return TemporaryRefusal(kind, _AWAY, seconds=5)


def answer_to_ui(refusal: TemporaryRefusal, exchange: Exchange, params: Struct, call: Call) -> Response | None:
    """Return the sentence as a completed message or stream; None if the caller is a program, or sends no message."""
    if not (call.for_ui and isinstance(params, SendMessageRequest)):
        return None
    message = params.message
    events = to_events(
        iter((Failure(refusal.texts[language_of(text_of(message))]),)),
        context_id=message.context_id or new_id(),
        call=call,
        as_task=False,
    )
    if call.streaming:
        return Response(headers=sse.HEADERS, body=b"".join(sse.write(exchange.write_result(each)) for each in events))
    return Response(headers={"content-type": exchange.media_type}, body=exchange.write_result(fold(events)))


def answer_unread(
    refusal: TemporaryRefusal,
    request: Request,
    record: Record,
    principal: Principal | None = None,
    *,
    max_body_bytes: int = _MAX_BODY_BYTES,
) -> Response | None:
    """Return the answer to a user interface whose request was refused before its body was read; None for all others.

    The `principal` is None if it is not known yet. A body over `max_body_bytes` is not read.
    """
    exchange = exchange_of(request, max_body_bytes=max_body_bytes)
    if exchange is None:
        return None
    try:
        operation, codec = exchange.resolve()
        params = exchange.read_params(completes=True)
    except (A2AError, BodyError):
        return None
    extensions = named_extensions(request)
    modes = accepted_modes(operation, params, extensions)
    spoken: dict[str, Any] = {"version": codec.version, "binding": exchange.binding}
    contract = contract_of(principal, **spoken, modes=modes, extensions=extensions)
    call = Call(
        request_id=record["requestId"],
        principal=principal,
        **spoken,
        streaming=operation.streaming,
        accepted_modes=modes or (),
        extensions=extensions,
        for_ui=contract is Contract.UI,
    )
    return answer_to_ui(refusal, exchange, params, call)
