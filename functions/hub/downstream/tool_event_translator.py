"""Translates a development agent's updates on its tools: for a person, a line of progress for each, and questions to decide."""

from collections.abc import Iterable, Iterator, Sequence

from a2a_hub.a2a.extensions.gemini_cli import is_output, is_task
from a2a_hub.a2a.extensions.tool_calls import Kind, kind_of, thought_in, tool_calls_in
from a2a_hub.a2a.extensions.tool_confirmation import TOOL_TEXTS, progress_text
from a2a_hub.a2a.extensions.tool_updates import Stage, ToolQuestion, ToolUpdate
from a2a_hub.a2a.model import Message, Task, TaskStatusUpdateEvent
from a2a_hub.a2a.reply import Piece, Progress
from a2a_hub.text.language import Language

# A person reads a few lines of progress, not hundreds.
_MAX_LINES = 50
# They are stored with the conversation.
_MAX_QUESTIONS = 20


class ToolEventTranslator:
    """The translation of one turn. `questions` are the tool calls that wait for a decision, in order of arrival; `decided` is the
    call on which this turn's message decides.
    """

    def __init__(self, questions: Sequence[ToolQuestion], decided: str | None, language: Language) -> None:
        self.is_present = False
        """True if the agent reports on its tools."""
        self._language = language
        self._questions = {question.call_id: question for question in questions}
        self._decided = decided
        self._stages: dict[str, Stage] = {}
        self._started: set[str] = set()
        self._lines: set[str] = set()

    @property
    def questions(self) -> tuple[ToolQuestion, ...]:
        """The calls that wait for a decision now."""
        return tuple(self._questions.values())

    @property
    def decision_was_late(self) -> bool:
        """True if the agent had given up the call before the decision: the call never ran."""
        return (
            self._decided is not None
            and self._stages.get(self._decided) is Stage.CANCELLED
            and self._decided not in self._started
        )

    @property
    def outcome(self) -> str:
        """The text on a rejected call, for an agent that ends without one."""
        rejected = self._decided is not None and self._stages.get(self._decided) is Stage.CANCELLED
        return TOOL_TEXTS.rejected[self._language] if rejected else ""

    def translate(self, event: TaskStatusUpdateEvent) -> tuple[Kind | None, Sequence[Piece]]:
        """Return the kind of the update, and its progress."""
        message = event.status.message
        kind, calls = kind_of(event.metadata), list(tool_calls_in(message))
        self.is_present = self.is_present or bool(calls) or kind is not None
        if calls:
            return Kind.TOOL_CALL, list(self._updates(calls))
        if kind is Kind.THOUGHT:
            return kind, list(self._line(thought_in(message)))
        return kind, ()

    def translate_task(self, task: Task, messages: Sequence[Message]) -> None:
        """Process a whole task with the messages of this turn; its progress is not reported again."""
        self.is_present = self.is_present or is_task(task)
        for message in messages:
            for _ in self._updates(tool_calls_in(message)):
                pass

    def is_tool_output(self, artifact_id: str) -> bool:
        """Return True if the artifact is the output of a running tool, which is no part of the answer."""
        return self.is_present and is_output(artifact_id)

    def _updates(self, calls: Iterable[ToolUpdate]) -> Iterator[Piece]:
        for call in calls:
            self.is_present = True
            self._stages[call.call_id] = call.stage
            if call.question is None:
                self._questions.pop(call.call_id, None)
            elif call.call_id in self._questions or len(self._questions) < _MAX_QUESTIONS:
                self._questions[call.call_id] = call.question
            if call.stage in (Stage.EXECUTING, Stage.SUCCEEDED, Stage.FAILED):
                self._started.add(call.call_id)
            if call.stage is Stage.EXECUTING:
                yield from self._line(progress_text(call, self._language))

    def _line(self, text: str) -> Iterator[Piece]:
        if text and text not in self._lines and len(self._lines) < _MAX_LINES:
            self._lines.add(text)
            yield Progress(text)
