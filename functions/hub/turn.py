"""A turn: the incoming message, and the record of its answer."""

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
    """A message to route to an agent. If its `call` has a task and the turn takes long, it becomes that task and outlives the
    request.

    `skill` is the route that the caller names, `skill_field` the field that names it.

    `context` holds the context id, and the one sent to agents that have not assigned their own.

    `extensions` are those that a program activates. `acts_on` is the A2UI surface on which the message's action is taken.

    `executes` is True if the turn follows a slash command that its agent is already executing.

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
    """The mutable record of one turn, complete when its events are exhausted. `immediate` is True if no agent or model is
    waited for.

    `memory` is that of the conversation, `conversation` its state at the start of the turn. `route` and `downstream` are those
    of the answering agent: the chosen one, or a fallback after those that `declined`, each with its reason.
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
        """The reason for the route, including agents that declined; None if no route was chosen."""
        if self.choice is None or self.route is None:
            return None
        return self.choice.reason + fallbacks.steps(self.declined, self.route)

    @property
    def kind(self) -> str:
        """The kind of request, for the audit log: command, action, decision, document, question, or files."""
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
        """Append to the answer; with `new_paragraph`, after an empty line."""
        if text:
            self.texts += ("\n\n", text) if new_paragraph and self.texts else (text,)

    def recorded(self, piece: Piece) -> Piece:
        """Add the piece to the record, and return it without fields for operators."""
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
