"""Decisions on tool calls: a text for an agent that waits for approval is read as the decision."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET, Struct

from a2a_hub.a2a.extensions import tool_confirmation
from a2a_hub.a2a.extensions.tool_confirmation import (
    chosen,
    confirmation,
    late_text,
    not_understood_text,
    plain_choices,
)
from a2a_hub.a2a.extensions.tool_updates import PendingTools, ToolQuestion
from a2a_hub.a2a.model import Message
from a2a_hub.routing.routes import Route
from a2a_hub.text.language import Language
from functions.hub import texts
from functions.hub.conversations import Conversation
from functions.hub.turn import Turn


class Decision(Struct, frozen=True, kw_only=True):
    """The reading of a turn's message, which the agent gets as `message`. `pending` are the tool calls that waited before it.

    `call_id` is the call that it decides on, `allows` its approval. If it `asks_again`, the text was not understood, and the
    agent gets nothing.
    """

    message: Message
    pending: tuple[ToolQuestion, ...] = ()
    call_id: str | None = None
    allows: bool = False
    asks_again: bool = False

    @property
    def uses_extension(self) -> bool:
        """True if the agent gets it in the form of the `development-tool` extension."""
        return bool(self.message.extensions) and self.call_id is not None


def decision_of(turn: Turn, route: Route, conversation: Conversation | None) -> Decision:
    """Return the turn's decision. Where the reply shows no language, the turn gets that of the question."""
    incoming = turn.incoming
    waiting = conversation if conversation is not None and conversation.route_id == route.id else None
    pending = waiting.pending_tools if waiting is not None else None
    if pending is None:
        return Decision(message=incoming.message)
    reads_events = route.passes_tasks and not incoming.text_only
    if reads_events or any(part.data is not UNSET for part in incoming.message.parts):
        # A program decides by data, or knows why it does not.
        return Decision(message=incoming.message, pending=pending.questions)
    if turn.language is Language.EN:
        turn.language = pending.language
    first = pending.questions[0]
    option_id = chosen(turn.text, first)
    if option_id is None:
        return Decision(message=incoming.message, pending=pending.questions, asks_again=True)
    return Decision(
        message=confirmation(incoming.message, first, option_id),
        pending=pending.questions,
        call_id=first.call_id,
        allows=option_id not in ("cancel", plain_choices(first)[1]),
    )


def question_text(pending: Sequence[ToolQuestion], route: Route, language: Language, *, again: bool) -> str:
    """Return the question for a decision; `again`, after a reply that was not understood."""
    text = tool_confirmation.question_text(pending, texts.name_of(route, language), language)
    return f"{not_understood_text(language)}\n\n{text}" if again else text


def too_late_text(route: Route, language: Language) -> str:
    """Return that the agent no longer waited for the decision."""
    return late_text(texts.name_of(route, language), language)


def pending_tools(questions: tuple[ToolQuestion, ...], language: Language) -> PendingTools | None:
    """Return the pending tool calls as the conversation stores them; None for none."""
    return PendingTools(language=language, questions=questions) if questions else None
