"""The context of a call: the caller, the version and binding, the accepted modes, the task, and the caller's leaving."""

from typing import Any

from msgspec import Struct, field

from a2a_hub.a2a.model import Binding, Task, Version
from a2a_hub.a2a.version_table import CODECS
from a2a_hub.http.messages import Cancellation
from a2a_hub.identity.principal import Principal
from a2a_hub.telemetry.log import Redacted

__all__ = ["Call"]

_STRUCTURED = frozenset({"application/json", "application/*", "*/*"})


class CurrentTask(Struct, kw_only=True):
    """The stored task that a call works on, and its state before this turn, if it existed.

    `turn` counts from 1. `notes` are the agent's own: they are still there in the task's next turn, and if this one runs again.
    """

    id: str
    before: Task | None = None
    turn: int = 1
    notes: dict[str, Any] = {}


class Call(Redacted, frozen=True, kw_only=True):
    """One call of an operation. `record` collects the fields of the request's log line.

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
    keeps_ui_contract: bool = True

    @property
    def wants_data(self) -> bool:
        """True if the client accepts JSON."""
        return not _STRUCTURED.isdisjoint(self.accepted_modes)

    @property
    def for_ui(self) -> bool:
        """True if the UI contract holds: text only, and a failure is a completed answer that explains it.

        Gemini Enterprise also requests the extensions of the card with which it was registered, but accepts no modes.
        """
        if not self.keeps_ui_contract or not self.accepted_modes:
            return self.keeps_ui_contract
        is_a_program = self.wants_data and self.extensions
        return self.binding is CODECS[self.version].ui_binding and not is_a_program
