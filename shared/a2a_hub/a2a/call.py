"""What an agent may know about a request besides its message: who, in which version, what they accept, and whether they left."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from a2a_hub.a2a.model import Binding, Task, Version
from a2a_hub.a2a.versions import CODECS
from a2a_hub.http.messages import Cancellation
from a2a_hub.identity.principal import Principal
from a2a_hub.telemetry.log import Redacted

__all__ = ["Call"]

_STRUCTURED = frozenset({"application/json", "application/*", "*/*"})


class TaskInHand(Struct, kw_only=True):
    """The task that a call works on, where tasks are kept: its id, and the task as it was before this turn, if there was one.

    `turn` counts the turns from 1. `notes` is the agent's own: what it writes there it finds again in the task's next turn,
    and when this one has to be run again.
    """

    id: str
    before: Task | None = None
    turn: int = 1
    notes: dict[str, Any] = {}


class Call(Redacted, frozen=True, kw_only=True):
    """One call of an operation. `record` collects what the log line of the request says.

    `extensions` are those that the caller asked for and the card declares. `authorization` is the caller's own header: for
    boundaries that pass it on, and for nothing else.
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
    task: TaskInHand | None = None
    keeps_ui_contract: bool = True

    @property
    def wants_data(self) -> bool:
        """The client names JSON among the modes that it accepts."""
        return not _STRUCTURED.isdisjoint(self.accepted_modes)

    @property
    def for_ui(self) -> bool:
        """The UI contract holds: text only, and a failure is a completed answer that says what went wrong.

        Gemini Enterprise, too, asks for the extensions of the card with which it was registered, but accepts no modes.
        """
        if not self.keeps_ui_contract or not self.accepted_modes:
            return self.keeps_ui_contract
        is_a_program = self.wants_data and self.extensions
        return self.binding is CODECS[self.version].ui_binding and not is_a_program
