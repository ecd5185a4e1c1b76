"""One turn of a conversation: what came in, and the record of what was done about it."""

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
"""What is kept with a turn's task: the conversation as the turn left it, the agent's own task while it is under way, and that the
turn executes a slash command.
"""


class IncomingTurn(Redacted, frozen=True, kw_only=True):
    """A message on its way to an agent. `owner` is the caller's subject.

    `skill` is the route asked for by name, `skill_field` where it was.

    `downstream_context_id` is the id under which agents know this conversation, unless they have given it one of their own.

    `may_outlive_request`: the turn becomes a task when it takes long.

    `development_tool`: the caller is a program that uses the extension of this name.

    `executes`: the turn is a slash command's, which its agent executes already.

    `text_only`: nothing but text can be shown. `notes` are kept with the turn's task, where it has one.
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
    """What became of it. Complete when the pieces of the answer are exhausted. `immediate`: it waits for nobody."""

    incoming: IncomingTurn
    text: str
    language: Language
    choice: Choice | None
    immediate: bool = True
    said: list[str] = []
    data: list[dict[str, Any]] = []
    citations: list[dict[str, Any]] = []
    failure: Failure | None = None
    routing_ms: float = 0.0
    downstream_ms: float = 0.0

    @property
    def answer(self) -> str:
        """The text so far."""
        return "".join(self.said)

    def say(self, text: str, *, apart: bool = False) -> None:
        """The answer goes on, `apart` with a paragraph of its own."""
        if text:
            self.said += ("\n\n", text) if apart and self.said else (text,)
