"""What a turn's message decides: where its agent waits for a person's word on a tool call, the text is taken for that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET, Struct

from a2a_hub.a2a.model import Message
from a2a_hub.routing.routes import Route
from a2a_hub.text.language import Language
from functions.hub import texts
from functions.hub.conversations import Conversation
from functions.hub.turn import IncomingTurn, Turn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from a2a_hub.a2a.extensions.tool_updates import PendingTools, ToolQuestion


class Decision(Struct, frozen=True, kw_only=True):
    """`message` is what the agent gets. `pending` are the tool calls that waited when it came.

    `call_id` is the one that it decides on, `allows` whether it may be done. With `asks_again`, nobody can tell what it says, and
    the agent gets nothing.
    """

    message: Message
    pending: tuple[ToolQuestion, ...] = ()
    call_id: str | None = None
    allows: bool = False
    asks_again: bool = False

    @property
    def of_extension(self) -> bool:
        """The agent gets it in the form of the `development-tool` extension."""
        return bool(self.message.extensions) and self.call_id is not None


def decided(turn: Turn, route: Route, conversation: Conversation | None) -> Decision:
    """The decision of this turn, whose language becomes that of the question where the reply tells none."""
    incoming = turn.incoming
    waiting = conversation if conversation is not None and conversation.route_id == route.id else None
    pending = waiting.pending_tools if waiting is not None else None
    if pending is None:
        return Decision(message=incoming.message)
    # What follows is loaded for the first tool call that waits for somebody.
    from a2a_hub.a2a.extensions.tool_confirmation import chosen, confirmation, plain_choices

    if _reads_events(incoming, route) or any(part.data is not UNSET for part in incoming.message.parts):
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


def question(pending: Sequence[ToolQuestion], route: Route, language: Language, *, again: bool) -> str:
    """Asks for a decision; `again`, where the reply was not understood."""
    from a2a_hub.a2a.extensions.tool_confirmation import not_understood_text, question_text

    text = question_text(pending, texts.name_of(route, language), language)
    return f"{not_understood_text(language)}\n\n{text}" if again else text


def too_late(route: Route, language: Language) -> str:
    """The agent had stopped waiting for the decision."""
    from a2a_hub.a2a.extensions.tool_confirmation import late_text

    return late_text(texts.name_of(route, language), language)


def waiting_for(pending: tuple[ToolQuestion, ...], language: Language) -> PendingTools | None:
    """What is kept with the conversation; None where nothing waits."""
    if not pending:
        return None
    from a2a_hub.a2a.extensions.tool_updates import PendingTools

    return PendingTools(language=language, questions=pending)


def _reads_events(incoming: IncomingTurn, route: Route) -> bool:
    return route.passes_tasks and not incoming.text_only
