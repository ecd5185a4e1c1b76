"""The context of a call: caller, version and binding, accepted modes, task, and cancellation."""

from typing import Any

from msgspec import Struct, field

from a2a_hub.a2a.model import Binding, Task, Version
from a2a_hub.http.messages import Cancellation
from a2a_hub.identity.principal import Principal
from a2a_hub.telemetry.log import Redacted

__all__ = ["Call"]

_STRUCTURED = frozenset({"application/json", "application/*", "*/*"})


def takes_data(modes: tuple[str, ...]) -> bool:
    """Return True if JSON is among the modes."""
    return not _STRUCTURED.isdisjoint(modes)


class CurrentTask(Struct, kw_only=True):
    """The stored task that a call works on, and its state before this turn, if it existed.

    `turn` counts from 1. `notes` are the agent's own: they are still there in the task's next turn, and if this one runs again.
    Until `retries_until` (seconds since the epoch), the turn is retried if its agent is away; None: no retries, a caller is
    waiting.
    """

    id: str
    before: Task | None = None
    turn: int = 1
    notes: dict[str, Any] = {}
    retries_until: float | None = None


class Call(Redacted, frozen=True, kw_only=True):
    """One call of an operation. `record` collects the fields of the request's log line.

    `for_ui`: the UI contract holds, text only, and a failure is a completed answer that explains it (`admission.contract_of`).
    `body_bytes` is the size of the request's body, most of which stays in memory until the turn is over.
    `extensions` are requested by the caller and declared by the card. `authorization` is the caller's own header, only for
    boundaries that pass it on.
    """

    request_id: str
    principal: Principal | None
    version: Version
    binding: Binding
    streaming: bool
    accepted_modes: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    traceparent: str | None = None
    authorization: str | None = None
    cancellation: Cancellation = field(default_factory=Cancellation)
    record: dict[str, Any] = field(default_factory=dict)
    task: CurrentTask | None = None
    for_ui: bool = False
    tenant: str = ""
    body_bytes: int = 0

    @property
    def owner(self) -> str:
        """The owner key of the caller's tasks and conversations, per tenant; "" for an anonymous caller."""
        subject = self.principal.subject if self.principal else ""
        return f"{subject} at {self.tenant}" if subject and self.tenant else subject

    @property
    def wants_data(self) -> bool:
        """True if the client accepts JSON."""
        return takes_data(self.accepted_modes)
