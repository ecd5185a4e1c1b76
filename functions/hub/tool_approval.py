"""Decisions on tool calls: a text for an agent that waits for approval is read as the decision."""

from collections.abc import Iterator, Sequence

from msgspec import UNSET, Struct

from a2a_hub.a2a.extensions import tool_confirmation
from a2a_hub.a2a.extensions.tool_confirmation import TOOL_TEXTS, chosen, confirmation, plain_choices
from a2a_hub.a2a.extensions.tool_updates import PendingTools, ToolQuestion, visible
from a2a_hub.a2a.model import Message
from a2a_hub.routing.routes import Route
from a2a_hub.text.language import Language
from functions.hub import texts

# In both spellings of the extension, and as gemini-cli has it.
_DECISION_MEMBERS = (("tool_call_id", "selected_option_id"), ("toolCallId", "selectedOptionId"), ("callId", "outcome"))


class Decision(Struct, frozen=True, kw_only=True):
    """The reading of a turn's message, which the agent gets as `message`. `pending` are the tool calls that waited before it.

    `call_id` is the call that it decides on, `allows` its approval. If the text was
    `not_understood`, the agent gets nothing. `of_text`: it was read from a text.
    """

    message: Message
    pending: tuple[ToolQuestion, ...] = ()
    call_id: str | None = None
    allows: bool = False
    not_understood: bool = False
    of_text: bool = False


def decision_of(message: Message, text: str, pending: PendingTools) -> Decision:
    """Return the decision in a reply to the first pending tool call."""
    if any(part.data is not UNSET for part in message.parts):
        return Decision(message=message, pending=pending.questions)
    first = pending.questions[0]
    option_id = chosen(text, first)
    if option_id is None:
        return Decision(message=message, pending=pending.questions, not_understood=True, of_text=True)
    return Decision(
        message=confirmation(message, first, option_id),
        pending=pending.questions,
        call_id=first.call_id,
        allows=approves(option_id, first),
        of_text=True,
    )


def decided_in(message: Message) -> Iterator[tuple[str, str]]:
    """Yield the call and the option of each decision in a message's data, as the agent gets it."""
    for data in [part.data for part in message.parts if isinstance(part.data, dict)]:
        for call, option in _DECISION_MEMBERS:
            if {call, option} <= data.keys():
                yield visible(str(data[call])), visible(str(data[option]))


def approves(option_id: str, question: ToolQuestion | None) -> bool:
    """Return True if the option lets the tool run; None is a question that the hub does not know."""
    return option_id not in ("cancel", plain_choices(question)[1] if question else None)


def question_text(pending: Sequence[ToolQuestion], route: Route, language: Language, *, again: bool) -> str:
    """Return the question for a decision; `again`, after a reply that was not understood."""
    text = tool_confirmation.question_text(pending, texts.name_of(route, language), language)
    return f"{TOOL_TEXTS.not_understood[language]}\n\n{text}" if again else text
