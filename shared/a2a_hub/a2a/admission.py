"""Admission of calls: what the credential covers, the card declares (A2A 1.0.1 §3.3.4) and the request activates (§4.6)."""

from collections.abc import Callable

from msgspec import Struct

from a2a_hub.a2a import errors
from a2a_hub.a2a.bindings import jsonrpc
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.card import OUTPUT_MODES, AgentCard
from a2a_hub.a2a.errors import A2AError
from a2a_hub.a2a.model import Message, SendMessageRequest
from a2a_hub.a2a.operations import CREATE_PUSH_CONFIG, Capability, Operation
from a2a_hub.a2a.version_table import CODECS
from a2a_hub.http.messages import Request
from a2a_hub.identity.principal import may_call


def check_declared(operation: Operation, card: AgentCard, callers_card: Callable[[], AgentCard]) -> None:
    """Raise A2AError for an operation that the card, or for one of an extension the caller's card, does not declare."""
    if operation.extension and not _declared(callers_card(), {operation.extension}):
        raise jsonrpc.unknown_method()
    _check_capability(operation, card)


def active_extensions(
    request: Request, operation: Operation, card: AgentCard, callers_card: Callable[[], AgentCard]
) -> tuple[str, ...]:
    """Return the declared extensions that the request names, and the one that the operation belongs to; others are ignored.

    `callers_card` returns the card as the caller may see it, which may declare more.
    """
    named = request.headers.get("a2a-extensions") or request.headers.get("x-a2a-extensions")
    active: tuple[str, ...] = ()
    if named:
        uris = {uri.strip() for uri in named.split(",")}
        active = _declared(card, uris)
        if len(active) < len(uris):
            active = _declared(callers_card(), uris)
    if operation.extension and operation.extension not in active:
        active = (*active, operation.extension)
    return active


def accepted_modes(operation: Operation, params: Struct, active: tuple[str, ...]) -> tuple[str, ...]:
    """Return the modes that the caller accepts.

    A message that names none and uses an active extension is a program's, which takes data: clients of extensions often do not
    say so. A method of an extension has data as its result.
    """
    if operation.extension:
        return OUTPUT_MODES
    if not isinstance(params, SendMessageRequest):
        return ()
    named = params.configuration.accepted_output_modes if params.configuration else ()
    return OUTPUT_MODES if active and not named and _uses_one(params.message, active) else named


def admit(operation: Operation, params: Struct, call: Call, card: AgentCard) -> dict[str, str]:
    """Return the headers that name the activated extensions. Raises A2AError for a call that is not admitted."""
    _check_credential(operation, call)
    configuration = params.configuration if isinstance(params, SendMessageRequest) else None
    if configuration is not None and configuration.task_push_notification_config is not None:
        _check_credential(CREATE_PUSH_CONFIG, call)
        _check_capability(CREATE_PUSH_CONFIG, card)
    declared = card.capabilities.extensions
    missing = [each.uri for each in declared if each.required and each.uri not in call.extensions]
    if missing:
        raise A2AError(errors.EXTENSION_SUPPORT_REQUIRED, metadata={"extensions": ",".join(missing)})
    return {CODECS[call.version].extensions_header: ",".join(call.extensions)} if call.extensions else {}


def _check_credential(operation: Operation, call: Call) -> None:
    if not may_call(operation.name, call.principal):
        raise A2AError(errors.PERMISSION_DENIED, f"Your credential does not cover {operation.name}")


def _check_capability(operation: Operation, card: AgentCard) -> None:
    if operation.capability is None:
        return
    capabilities = card.capabilities
    match operation.capability:
        case Capability.STREAMING if not capabilities.streaming:
            raise A2AError(errors.UNSUPPORTED_OPERATION, "This agent does not stream")
        case Capability.PUSH_NOTIFICATIONS if not capabilities.push_notifications:
            raise A2AError(errors.PUSH_NOTIFICATION_NOT_SUPPORTED)
        case Capability.EXTENDED_AGENT_CARD if not capabilities.extended_agent_card:
            raise A2AError(errors.UNSUPPORTED_OPERATION, "This agent has no extended card")


def _declared(card: AgentCard, uris: set[str]) -> tuple[str, ...]:
    return tuple(extension.uri for extension in card.capabilities.extensions if extension.uri in uris)


def _uses_one(message: Message, active: tuple[str, ...]) -> bool:
    marked = (*message.extensions, *(message.metadata or ()))
    return any(uri in active for uri in marked) or any(isinstance(part.data, dict) for part in message.parts)
