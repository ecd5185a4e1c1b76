"""Presentation of a turn: as events of the extension, or as text for clients without it."""

from collections.abc import Iterator

from msgspec.structs import replace

from a2a_hub.a2a.extensions.development_tool import (
    URI,
    AgentThought,
    DevelopmentToolEvent,
    DevelopmentToolEventKind,
    Spelling,
    ToolCall,
    ToolCallConfirmation,
    ToolCallStatus,
    metadata_of,
    part_of,
)
from a2a_hub.a2a.extensions.tool_calls import tool_calls_in
from a2a_hub.a2a.extensions.tool_confirmation import chosen, progress_text, question_text
from a2a_hub.a2a.extensions.tool_updates import ToolQuestion, ToolUpdate
from a2a_hub.a2a.model import Event, Message, Part, Role, TaskState, TaskStatus, TaskStatusUpdateEvent
from a2a_hub.a2a.reply import Failure, MessageFactory, Piece, Progress, Question, Text
from a2a_hub.text.language import Language
from functions.devtool.texts import AGENT_NAME
from functions.devtool.turn import (
    ApprovalRequested,
    TextAdded,
    ToolCallUpdated,
    TurnCompleted,
    TurnEvent,
    TurnFailed,
    TurnStarted,
)


class ExtensionPresenter:
    """The presentation of a turn as events of the extension, in its caller's spelling."""

    def __init__(
        self,
        *,
        task_id: str,
        context_id: str,
        spelling: Spelling,
        model: str,
        message_factory: MessageFactory,
    ) -> None:
        self._task_id = task_id
        self._context_id = context_id
        self._spelling = spelling
        self._model = model
        self._message_factory = message_factory

    def events(self, turn: Iterator[TurnEvent]) -> Iterator[Event]:
        """Yield a status update for each event of the turn."""
        kinds = DevelopmentToolEventKind
        for event in turn:
            match event:
                case TurnStarted():
                    yield self._event(kinds.STATE_CHANGE, TaskState.WORKING)
                case AgentThought():
                    part = part_of(event, self._spelling)
                    yield self._event(kinds.THOUGHT, TaskState.WORKING, part)
                case ToolCallUpdated(call):
                    part = part_of(call, self._spelling)
                    yield self._event(kinds.TOOL_CALL_UPDATE, TaskState.WORKING, part)
                case TextAdded(text):
                    yield self._event(kinds.TEXT_CONTENT, TaskState.WORKING, Part(text=text))
                case ApprovalRequested(call):
                    part = part_of(call, self._spelling)
                    yield self._event(kinds.STATE_CHANGE, TaskState.INPUT_REQUIRED, part)
                case TurnCompleted():
                    yield self._event(kinds.STATE_CHANGE, TaskState.COMPLETED)
                case TurnFailed(text):
                    yield self._event(kinds.STATE_CHANGE, TaskState.FAILED, Part(text=text), error=text)

    def _event(
        self, kind: DevelopmentToolEventKind, state: TaskState, *parts: Part, error: str | None = None
    ) -> TaskStatusUpdateEvent:
        message = None
        if parts:
            plain = self._message_factory.message(*parts, context_id=self._context_id, task_id=self._task_id)
            message = replace(plain, extensions=(URI,))
        event = DevelopmentToolEvent(kind=kind, model=self._model, error=error)
        return TaskStatusUpdateEvent(
            task_id=self._task_id,
            context_id=self._context_id,
            status=TaskStatus(state=state, message=message, timestamp=self._message_factory.timestamp()),
            metadata=metadata_of(event, self._spelling),
        )


def text_pieces(turn: Iterator[TurnEvent], language: Language) -> Iterator[Piece]:
    """Yield the turn as text: progress, and the question or the answer at its end."""
    announced: set[str] = set()
    texts: list[str] = []
    for event in turn:
        match event:
            case ToolCallUpdated(call) if (
                call.status is ToolCallStatus.EXECUTING and call.tool_call_id not in announced
            ):
                announced.add(call.tool_call_id)
                yield Progress(progress_text(_tool_update(call), language))
            case AgentThought():
                yield Progress(event.subject)
            case TextAdded(text):
                texts.append(text)
            case ApprovalRequested(call):
                # Text above a question is no answer, which would stay on the screen.
                request = question_text([_tool_question(call)], AGENT_NAME.render(language), language)
                yield Question("\n\n".join([*texts, request]))
            case TurnCompleted():
                yield Text("\n\n".join(texts))
            case TurnFailed(text):
                yield Failure(text)


def decision_in(reply: str, call: ToolCall) -> ToolCallConfirmation | None:
    """Return the decision of a reply in words on a pending call; None if it is none."""
    option_id = chosen(reply, _tool_question(call))
    if option_id is None:
        return None
    return ToolCallConfirmation(tool_call_id=call.tool_call_id, selected_option_id=option_id)


def _tool_question(call: ToolCall) -> ToolQuestion:
    question = _tool_update(call).question
    assert question is not None, "a pending call has requested an approval"
    return question


def _tool_update(call: ToolCall) -> ToolUpdate:
    """Return the call as clients of the extension read it."""
    message = Message(message_id="", role=Role.AGENT, parts=(part_of(call, Spelling.SNAKE),))
    return next(tool_calls_in(message))
