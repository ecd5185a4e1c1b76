"""A turn: the message on its way to an agent, and the record of what became its answer."""

from typing import Any

from msgspec import Struct, field

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import Message
from a2a_hub.a2a.reply import Data, Piece, Question, Text
from a2a_hub.routing.router import Choice
from a2a_hub.routing.routes import Route
from a2a_hub.telemetry.log import Redacted
from a2a_hub.text.language import Language
from functions.hub import fallbacks
from functions.hub.conversations import ContextIds, Conversation, TurnMemory
from functions.hub.downstream.event_translator import for_callers
from functions.hub.downstream.interface import Downstream
from functions.hub.failure import Failure


class IncomingTurn(Redacted, frozen=True, kw_only=True):
    """A message on its way to an agent. If its `call` has a task, the turn becomes that if it takes long, and then outlives its
    request.

    `skill` is the route that the caller names, `skill_field` the field that names it.

    `context` has the conversation's id for agents that have given it none of their own.

    `extensions`: those that a program activates. `acts_on`: the surface of the action in the message.

    `executes`: the turn follows a slash command that its agent executes already.

    `notes` are stored with the task of the call, if it has one.
    """

    call: Call
    message: Message
    context: ContextIds
    skill: str | None = None
    skill_field: str = ""
    streaming: bool = False
    extensions: tuple[str, ...] = ()
    acts_on: str | None = None
    executes: bool = False
    notes: dict[str, Any] = field(default_factory=dict)


class TurnRecord(Struct, kw_only=True):
    """The mutable record of one turn, complete when its events are exhausted. `immediate`: it waits for no agent and no model.

    `memory` is that of the conversation, `conversation` its state as the turn began. `route` is that of the agent whose answer
    it has, `downstream`: the chosen one, or a fallback, after those that `declined`, each with its reason.
    """

    incoming: IncomingTurn
    text: str
    language: Language
    memory: TurnMemory | None = None
    conversation: Conversation | None = None
    choice: Choice | None = None
    route: Route | None = None
    downstream: Downstream | None = None
    declined: list[dict[str, str]] = []
    immediate: bool = True
    texts: list[str] = []
    data: list[dict[str, Any]] = []
    citations: list[dict[str, Any]] = []
    failure: Failure | None = None
    routing_ms: float = 0.0
    downstream_ms: float = 0.0

    @property
    def reason(self) -> str | None:
        """The reason for the route, with those of the agents that declined; None if no route was chosen."""
        if self.choice is None or self.route is None:
            return None
        return self.choice.reason + fallbacks.steps(self.declined, self.route)

    @property
    def kind(self) -> str:
        """The kind of what is asked, for the audit log: a command, action, decision, document, question, or files alone."""
        if self.incoming.executes:
            return "command"
        if self.incoming.acts_on:
            return "action"
        if self.conversation and self.conversation.pending_tools:
            return "decision"
        if "document" in (self.incoming.message.metadata or {}):
            return "document"
        return "question" if self.text else "files"

    @property
    def answer(self) -> str:
        """The text so far."""
        return "".join(self.texts)

    def append_text(self, text: str, *, new_paragraph: bool = False) -> None:
        """Append to the answer, `new_paragraph` after an empty line."""
        if text:
            self.texts += ("\n\n", text) if new_paragraph and self.texts else (text,)

    def recorded(self, piece: Piece) -> Piece:
        """Add the piece to the record, and return it as callers get it."""
        match piece:
            case Text(text):
                self.append_text(text)
            case Question(text):
                self.append_text(text, new_paragraph=True)
            case Data(value):
                if self.declined and not self.data:
                    value = value | {"declined": self.declined}
                self.data.append(value)
                return Data(for_callers(value))
        return piece
