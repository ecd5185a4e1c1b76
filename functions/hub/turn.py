"""One turn of a conversation: its input, and the record of it."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from a2a_hub.a2a.model import Message
from a2a_hub.http.messages import Cancellation
from a2a_hub.identity.principal import Principal
from a2a_hub.routing.router import Choice
from a2a_hub.telemetry.log import Redacted
from a2a_hub.text.language import Language
from functions.hub.failure import Failure

CONVERSATION, RUNNING, EXECUTES = "conversation", "running", "executes"
"""Names of notes in a turn's task: the conversation as the turn left it, the agent's own task while it runs, and that the turn
executes a slash command.
"""


class IncomingTurn(Redacted, frozen=True, kw_only=True):
    """A message on its way to an agent. `owner` is the caller's subject.

    `skill` is the route that the caller names, `skill_field` the field that names it.

    `downstream_context_id` is the conversation's id for agents that have given it none of their own.

    `may_outlive_request`: the turn becomes a task if it takes long.

    `development_tool`: the caller is a program that uses the extension of this name.

    `executes`: the turn follows a slash command that its agent executes already.

    `text_only`: the caller shows nothing but text. `notes` are stored with the turn's task, if it has one.
    """

    message: Message
    skill: str | None
    skill_field: str
    owner: str
    principal: Principal | None
    context_id: str
    downstream_context_id: str
    streaming: bool
    request_id: str
    authorization: str | None = None
    traceparent: str | None = None
    cancellation: Cancellation = field(default_factory=Cancellation)
    development_tool: bool = False
    text_only: bool = True
    may_outlive_request: bool = False
    executes: bool = False
    notes: dict[str, Any] = field(default_factory=dict)


class Turn(Struct, kw_only=True):
    """The mutable record of one turn, complete when its events are exhausted. `immediate`: it waits for nobody."""

    incoming: IncomingTurn
    text: str
    language: Language
    choice: Choice | None
    immediate: bool = True
    texts: list[str] = []
    data: list[dict[str, Any]] = []
    citations: list[dict[str, Any]] = []
    failure: Failure | None = None
    routing_ms: float = 0.0
    downstream_ms: float = 0.0

    @property
    def answer(self) -> str:
        """The text so far."""
        return "".join(self.texts)

    def append_text(self, text: str, *, new_paragraph: bool = False) -> None:
        """Append to the answer, `new_paragraph` after an empty line."""
        if text:
            self.texts += ("\n\n", text) if new_paragraph and self.texts else (text,)
