"""What a development agent tells of its tools: for a person, a line for each that is at work, and what waits for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from a2a_hub.a2a.extensions.gemini_cli import is_output, is_task
from a2a_hub.a2a.extensions.tool_calls import Kind, is_tool_call, kind_of, thought_in, tool_calls_in
from a2a_hub.a2a.extensions.tool_confirmation import progress_text, rejected_text
from a2a_hub.a2a.extensions.tool_updates import Stage, ToolQuestion, ToolUpdate
from a2a_hub.a2a.model import Message, Task, TaskStatusUpdateEvent
from a2a_hub.a2a.reply import Piece, Progress
from a2a_hub.text.language import Language

# A person reads a few lines of progress, not hundreds.
_MOST_LINES = 50
# They are kept with the conversation.
_MOST_ASKED = 20


class ToolListener:
    """Hears one turn. `asked` are the tool calls that wait for a decision, in the order in which they came; `decided` is the one
    that this turn's message is about.
    """

    def __init__(self, asked: Sequence[ToolQuestion], decided: str | None, language: Language) -> None:
        self.spoken = False
        """The agent is one that tells of its tools."""
        self._language = language
        self._asked = {question.call_id: question for question in asked}
        self._decided = decided
        self._stages: dict[str, Stage] = {}
        self._at_work: set[str] = set()
        self._lines: set[str] = set()

    @property
    def asked(self) -> tuple[ToolQuestion, ...]:
        """What waits for a decision now."""
        return tuple(self._asked.values())

    @property
    def too_late(self) -> bool:
        """The call that was decided on had been given up by its agent: it never was at work."""
        return (
            self._decided is not None
            and self._stages.get(self._decided) is Stage.CANCELLED
            and self._decided not in self._at_work
        )

    @property
    def outcome(self) -> str:
        """What became of the decision, where the agent ends without a word."""
        rejected = self._decided is not None and self._stages.get(self._decided) is Stage.CANCELLED
        return rejected_text(self._language) if rejected else ""

    def translate(self, event: TaskStatusUpdateEvent) -> tuple[Kind | None, Sequence[Piece]]:
        """What the update tells, and the progress that it is."""
        message = event.status.message
        kind, calls = kind_of(event.metadata), list(tool_calls_in(message))
        self.spoken = self.spoken or bool(calls) or kind is not None
        if calls:
            return Kind.TOOL_CALL, list(self._heard(calls))
        if kind is Kind.THOUGHT:
            return kind, list(self._line(thought_in(message)))
        return kind, ()

    def hear_task(self, task: Task, said: Sequence[Message]) -> None:
        """A whole task, with what was said in this turn; the progress that it tells of is past."""
        self.spoken = self.spoken or is_task(task)
        for message in said:
            for _ in self._heard(tool_calls_in(message)):
                pass

    def is_tool_call(self, data: Any) -> bool:
        """The data is a tool call, which is no part of the answer."""
        return is_tool_call(data)

    def is_tool_output(self, artifact_id: str) -> bool:
        """The artifact is what a tool prints while it runs, and so no part of the answer."""
        return self.spoken and is_output(artifact_id)

    def _heard(self, calls: Iterable[ToolUpdate]) -> Iterator[Piece]:
        for call in calls:
            self.spoken = True
            self._stages[call.call_id] = call.stage
            if call.question is None:
                self._asked.pop(call.call_id, None)
            elif call.call_id in self._asked or len(self._asked) < _MOST_ASKED:
                self._asked[call.call_id] = call.question
            if call.stage in (Stage.EXECUTING, Stage.SUCCEEDED, Stage.FAILED):
                self._at_work.add(call.call_id)
            if call.stage is Stage.EXECUTING:
                yield from self._line(progress_text(call, self._language))

    def _line(self, text: str) -> Iterator[Piece]:
        if text and text not in self._lines and len(self._lines) < _MOST_LINES:
            self._lines.add(text)
            yield Progress(text)
