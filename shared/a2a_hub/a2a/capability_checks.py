"""Which calls are let in: the caller's credential covers them, and the card declares what they need (A2A 1.0.1 §3.3.4)."""

from __future__ import annotations

from msgspec import Struct

from a2a_hub.a2a import errors, operations
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.card import AgentCard
from a2a_hub.a2a.errors import A2AError
from a2a_hub.a2a.extensions import activation
from a2a_hub.a2a.operations import Capability, Operation
from a2a_hub.identity.principal import may_call


def admitted(operation: Operation, params: Struct, call: Call, card: AgentCard) -> dict[str, str]:
    """The headers that the answer to this call gets. Raises A2AError for a call that is not let in."""
    for needed in (operation, *operations.within(params)):
        if not may_call(needed.name, call.principal):
            raise A2AError(errors.PERMISSION_DENIED, f"Your credential does not cover {needed.name}")
        check_declared(needed, card)
    return activation.headers(card, call)


def check_declared(operation: Operation, card: AgentCard) -> None:
    """Raises A2AError for an operation that needs what the card does not declare."""
    capabilities = card.capabilities
    match operation.capability:
        case Capability.STREAMING if not capabilities.streaming:
            raise A2AError(errors.UNSUPPORTED_OPERATION, "This agent does not stream")
        case Capability.PUSH_NOTIFICATIONS if not capabilities.push_notifications:
            raise A2AError(errors.PUSH_NOTIFICATION_NOT_SUPPORTED)
        case Capability.EXTENDED_AGENT_CARD if not capabilities.extended_agent_card:
            raise A2AError(errors.UNSUPPORTED_OPERATION, "This agent has no extended card")
