"""Admission of calls: what the credential covers, the card declares (A2A 1.0.1 §3.3.4) and the request activates (§4.6)."""

import re
from collections.abc import Callable, Collection

from msgspec import Struct

from a2a_hub.a2a import errors
from a2a_hub.a2a.a2ui import a2ui_in
from a2a_hub.a2a.bindings import jsonrpc
from a2a_hub.a2a.call import Call, takes_data
from a2a_hub.a2a.card import OUTPUT_MODES, AgentCard
from a2a_hub.a2a.errors import A2AError, invalid_field
from a2a_hub.a2a.model import Binding, SendMessageRequest, Version
from a2a_hub.a2a.operations import CREATE_PUSH_CONFIG, Capability, Operation
from a2a_hub.a2a.version_table import CODECS
from a2a_hub.http.messages import Request
from a2a_hub.identity.principal import Contract, Principal, may_call

_VERSION = re.compile(r"/v(\d{1,9})(?:\.(\d{1,9}))?(?:\.\d{1,9})?(?:/|$)")
_MAX_VERSION_CHARACTERS = 32


def check_declared(operation: Operation, card: AgentCard, callers_card: Callable[[], AgentCard]) -> None:
    """Raise A2AError for an operation that the card, or for one of an extension the caller's card, does not declare."""
    if operation.extension and not _declared(callers_card(), {operation.extension}):
        raise jsonrpc.unknown_method()
    _check_capability(operation, card)


def named_extensions(request: Request) -> tuple[str, ...]:
    """Return the extensions that the request's header names."""
    named = request.headers.get("a2a-extensions") or request.headers.get("x-a2a-extensions") or ""
    return tuple(filter(None, map(str.strip, named.split(","))))


def active_extensions(
    request: Request, operation: Operation, params: Struct, card: AgentCard, callers_card: Callable[[], AgentCard]
) -> tuple[str, ...]:
    """Return the declared extensions that the request names, and the one that the operation belongs to; others are ignored.

    They are named in a header, in `message.extensions`, or as keys of the message's metadata. `callers_card` returns the card as
    the caller may see it, which may declare more.
    """
    uris = set(named_extensions(request))
    if isinstance(params, SendMessageRequest):
        uris |= {*params.message.extensions, *(uri for uri in params.message.metadata or () if ":" in uri)}
    active: tuple[str, ...] = ()
    if uris:
        active = _declared(card, uris)
        if len(active) < len(uris):
            active = _declared(callers_card(), uris)
    if operation.extension and operation.extension not in active:
        active = (*active, operation.extension)
    return active


def accepted_modes(operation: Operation, params: Struct, active: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the modes that the caller accepts; None if it does not state any.

    A message that names none and uses an active extension is a program's, which takes data: clients of extensions often do not
    say so. A2UI is left out: user interfaces use it. A method of an extension has data as its result.
    """
    if operation.extension:
        return OUTPUT_MODES
    if not isinstance(params, SendMessageRequest):
        return None
    named = params.configuration.accepted_output_modes if params.configuration else None
    of_programs = {uri for uri in active if uri not in a2ui_in(active)}
    message = params.message
    uses_one = not of_programs.isdisjoint((*message.extensions, *(message.metadata or ())))
    has_data = any(isinstance(part.data, dict) for part in message.parts)
    return OUTPUT_MODES if of_programs and not named and (uses_one or has_data) else named


def contract_of(
    principal: Principal | None,
    *,
    version: Version,
    binding: Binding,
    modes: tuple[str, ...] | None = None,
    extensions: tuple[str, ...] = (),
) -> Contract:
    """Return the caller's contract: the configured one, else derived from the request's extensions, modes, version and binding.

    Only programs take data for an extension; an explicitly empty list of `modes` asks for text alone. Gemini Enterprise requests
    the extensions of the card with which it was registered, but accepts no modes.
    """
    if principal is not None and principal.contract is not None:
        return principal.contract
    if extensions and takes_data(modes or ()):
        return Contract.PROGRAM
    return Contract.UI if modes == () or binding is CODECS[version].ui_binding else Contract.PROGRAM


# Release candidates of 1.0 had it before every path.
_PREFIX = "v1"


def tenant_of(params: Struct, tenants: Collection[str]) -> str:
    """Return the tenant of a request (1.0, §4.4.6), "" for none. Raises A2AError for an unknown one."""
    tenant: str = getattr(params, "tenant", None) or ""
    if tenant == _PREFIX and tenant not in tenants:
        return ""
    if tenant and tenant not in tenants:
        raise invalid_field("tenant", "is not one of this agent's: leave it out of the request and its path")
    return tenant


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
    return tuple(
        extension.uri
        for extension in card.capabilities.extensions
        if extension.uri in uris or any(_satisfies(extension.uri, uri) for uri in uris)
    )


def _satisfies(declared: str, requested: str) -> bool:
    """Return True if a declared version of an extension serves a caller of the requested one (Semantic Versioning 2.0.0)."""
    if len(requested) > len(declared) + _MAX_VERSION_CHARACTERS:
        return False
    has, wants = _VERSION.search(declared), _VERSION.search(requested)
    if not has or not wants or _VERSION.sub("/", declared) != _VERSION.sub("/", requested) or has[1] != wants[1]:
        return False
    minor, wanted_minor = int(has[2] or 0), int(wants[2] or 0)
    # Before 1.0.0, any minor version may break callers of another.
    return minor == wanted_minor if has[1] == "0" else minor >= wanted_minor
