"""Extensions of the protocol: those that a request activates, and what its answer says of them (A2A 1.0.1 §4.6)."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.card import OUTPUT_MODES, AgentCard
from a2a_hub.a2a.errors import EXTENSION_SUPPORT_REQUIRED, A2AError
from a2a_hub.a2a.model import Message, SendMessageRequest
from a2a_hub.a2a.versions import Version
from a2a_hub.http.messages import Request


def activated(request: Request, card: AgentCard, own: Callable[[], AgentCard]) -> tuple[str, ...]:
    """The extensions of the card that the request asks for; unknown ones are ignored. `own` is the card as the caller may see it,
    which may declare more.
    """
    asked = request.headers.get("a2a-extensions") or request.headers.get("x-a2a-extensions")
    if not asked:
        return ()
    uris = {uri.strip() for uri in asked.split(",")}
    found = _of(card, uris)
    return found if len(found) == len(uris) else _of(own(), uris)


def _of(card: AgentCard, uris: set[str]) -> tuple[str, ...]:
    return tuple(extension.uri for extension in card.capabilities.extensions if extension.uri in uris)


def accepted_modes(params: Struct, active: tuple[str, ...]) -> tuple[str, ...]:
    """The modes that a message's sender accepts. Who names none, and uses an active extension in the message, is a program that
    takes data: the clients of extensions often do not say so.
    """
    if not isinstance(params, SendMessageRequest):
        return ()
    named = params.configuration.accepted_output_modes if params.configuration else ()
    return OUTPUT_MODES if active and not named and _uses_one(params.message, active) else named


def _uses_one(message: Message, active: tuple[str, ...]) -> bool:
    marked = (*message.extensions, *(message.metadata or ()))
    return any(uri in active for uri in marked) or any(isinstance(part.data, dict) for part in message.parts)


def headers(card: AgentCard, call: Call) -> dict[str, str]:
    """Names the extensions that the request activated. Raises EXTENSION_SUPPORT_REQUIRED (§3.3.4)."""
    missing = [
        extension.uri
        for extension in card.capabilities.extensions
        if extension.required and extension.uri not in call.extensions
    ]
    if missing:
        raise A2AError(EXTENSION_SUPPORT_REQUIRED, metadata={"extensions": ",".join(missing)})
    if not call.extensions:
        return {}
    name = "x-a2a-extensions" if call.version is Version.V0_3 else "a2a-extensions"
    return {name: ",".join(call.extensions)}
