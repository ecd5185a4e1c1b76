"""From what happens in a turn to events: those of the extension, or text for clients that do not know it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from a2a_hub.a2a.extensions.development_tool import (
    URI,
    AgentThought,
    DevelopmentToolEvent,
    DevelopmentToolEventKind,
    Spelling,
    ToolCallStatus,
    metadata_of,
    part_of,
)
from a2a_hub.a2a.model import Event, Part, TaskState, TaskStatus, TaskStatusUpdateEvent
from a2a_hub.a2a.reply import Failure, MessageFactory, Piece, Progress, Question, Text
from a2a_hub.text.language import Language
from functions.devtool.turn_events import Begun, Completed, Failed, Happening, Said, Update, Waiting


class InExtension:
    """Tells a turn in the extension's own messages, in its caller's spelling."""

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

    def events(self, happenings: Iterator[Happening]) -> Iterator[Event]:
        """The events of the turn."""
        kinds = DevelopmentToolEventKind
        for happening in happenings:
            match happening:
                case Begun():
                    yield self._event(kinds.STATE_CHANGE, TaskState.WORKING)
                case AgentThought():
                    part = part_of(happening, self._spelling)
                    yield self._event(kinds.THOUGHT, TaskState.WORKING, part)
                case Update(call):
                    part = part_of(call, self._spelling)
                    yield self._event(kinds.TOOL_CALL_UPDATE, TaskState.WORKING, part)
                case Said(text):
                    yield self._event(kinds.TEXT_CONTENT, TaskState.WORKING, Part(text=text))
                case Waiting(call):
                    part = part_of(call, self._spelling)
                    yield self._event(kinds.STATE_CHANGE, TaskState.INPUT_REQUIRED, part)
                case Completed():
                    yield self._event(kinds.STATE_CHANGE, TaskState.COMPLETED)
                case Failed(text):
                    yield self._event(kinds.STATE_CHANGE, TaskState.FAILED, Part(text=text), error=text)

    def _event(
        self, kind: DevelopmentToolEventKind, state: TaskState, *parts: Part, error: str | None = None
    ) -> TaskStatusUpdateEvent:
        message = None
        if parts:
            said = self._message_factory.message(*parts, context_id=self._context_id, task_id=self._task_id)
            message = replace(said, extensions=(URI,))
        told = DevelopmentToolEvent(kind=kind, model=self._model, error=error)
        return TaskStatusUpdateEvent(
            task_id=self._task_id,
            context_id=self._context_id,
            status=TaskStatus(state=state, message=message, timestamp=self._message_factory.timestamp()),
            metadata=metadata_of(told, self._spelling),
        )


def pieces(happenings: Iterator[Happening], agent: str, language: Language) -> Iterator[Piece]:
    """The turn in text: what `agent` asks, and what came of it."""
    # Loaded for the first client without the extension.
    from functions.devtool.text_confirmation import doing, question

    told: set[str] = set()
    said: list[str] = []
    for happening in happenings:
        match happening:
            case Update(call) if call.status is ToolCallStatus.EXECUTING and call.tool_call_id not in told:
                told.add(call.tool_call_id)
                yield Progress(doing(call, language))
            case AgentThought():
                yield Progress(happening.subject)
            case Said(text):
                said.append(text)
            case Waiting(call):
                # What is said above a question is no answer, which would stand there for good.
                yield Question("\n\n".join([*said, question(call, agent, language)]))
            case Completed():
                yield Text("\n\n".join(said))
            case Failed(text):
                yield Failure(text)
