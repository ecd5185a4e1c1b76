"""Extensions of the protocol: those that a request activates, and what its answer says of them (A2A 1.0.1 §4.6)."""

from __future__ import annotations

from collections.abc import Callable

from shared.a2a.call import Call
from shared.a2a.card import AgentCard
from shared.a2a.errors import EXTENSION_SUPPORT_REQUIRED, A2AError
from shared.a2a.versions import Version
from shared.http.messages import Request


def activated(request: Request, card: Callable[[], AgentCard]) -> tuple[str, ...]:
    """The extensions of the card that the request asks for; unknown ones are ignored. Most requests ask for none."""
    asked = request.headers.get("a2a-extensions") or request.headers.get("x-a2a-extensions")
    if not asked:
        return ()
    uris = {uri.strip() for uri in asked.split(",")}
    return tuple(extension.uri for extension in card().capabilities.extensions if extension.uri in uris)


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
