"""A downstream agent's events → pieces of the hub's answer, whatever style the agent answers in.

Agents put their answer into artifacts, into one message, or into the last status; some repeat the whole task at the end.
Text that was passed on is not passed on again, since what a user has seen cannot be taken back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, takewhile
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET

from a2a_hub.a2a.model import (
    Artifact,
    Event,
    Message,
    Part,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from a2a_hub.a2a.reply import Data, Open, Piece, Progress, Question, Text
from a2a_hub.a2a.text import data_as_text
from a2a_hub.text.language import Language
from functions.hub.downstream.delivered_artifacts import Told
from functions.hub.downstream.paragraphs import after_another, joined, text_of_parts, texts_of

if TYPE_CHECKING:
    from a2a_hub.a2a.extensions.tool_updates import ToolQuestion
    from functions.hub.downstream.tool_event_translator import ToolListener

TranslatedEvent = tuple[Event | None, Sequence[Piece]]
"""What the agent said, and the pieces of answer that it adds; None for what the hub itself adds."""

# What an agent says of its own failures, with what mends them: `/tools/query` tells it, an answer does not.
_FOR_THE_OPERATOR = "hints"
_sorted_json = msgspec.json.Encoder(order="sorted").encode


class EventTranslator:
    """Hears one turn. After it, `context_id`, `task_id` and `state` are what the agent said last.

    `pending` are the tool calls that wait for a decision; `asked` were those before, `decided` is the one that the turn's message
    decides on.

    `told` are artifacts that earlier turns told of (`Told`); afterwards, those of this turn are among them.
    `rests` says that the agent waits, but for nothing in particular: it has answered, and its task can be gone on with.
    """

    def __init__(
        self,
        language: Language = Language.EN,
        *,
        asked: Sequence[ToolQuestion] = (),
        decided: str | None = None,
        told: Mapping[str, str] | None = None,
    ) -> None:
        self._language = language
        self._before = Told(told or {})
        self._were_asked = tuple(each for each in asked if each.call_id != decided)
        self._decided = decided
        self._tools: ToolListener | None = None
        self.rests = False
        self._paragraph_ended = False
        self.context_id: str | None = None
        self.task_id: str | None = None
        self.state: TaskState | None = None
        self.spoken = False
        self._artifacts: dict[str, list[str]] = {}
        self._asked: str | None = None
        self._progress: dict[str, tuple[Part, ...]] = {}
        self._data: list[dict[str, Any]] = []
        self._known_data: set[bytes] = set()

    def translate(self, event: Event) -> Iterator[Piece]:
        """The pieces that this event adds."""
        match event:
            case Message():
                self.context_id = event.context_id or self.context_id
                self.state = TaskState.COMPLETED
                yield from self._parts(event.parts)
            case Task():
                self.context_id, self.task_id = event.context_id or self.context_id, event.id
                said = (*_answers(event.history), *([event.status.message] if event.status.message else ()))
                if self._tells_of_tools(event.metadata, *said):
                    self._told_of_tools().hear_task(event, said)
                for artifact in event.artifacts:
                    yield from self._artifact(artifact, append=False, again=True)
                yield from self._told(event)
                yield from self._status(event.status)
                if self.state is TaskState.COMPLETED and not self.spoken and not self._data:
                    for message in _answers(event.history):
                        yield from self._parts(message.parts)
            case TaskStatusUpdateEvent():
                self.context_id, self.task_id = event.context_id or self.context_id, event.task_id
                yield from self._update(event)
            case TaskArtifactUpdateEvent():
                self.context_id, self.task_id = event.context_id or self.context_id, event.task_id
                yield from self._artifact(event.artifact, append=event.append)

    @property
    def told(self) -> Mapping[str, str]:
        """See the class."""
        return self._before.merged_with({id_: "".join(said) for id_, said in self._artifacts.items()})

    @property
    def pending(self) -> tuple[ToolQuestion, ...]:
        """See the class."""
        return self._tools.asked if self._tools else self._were_asked

    @property
    def too_late(self) -> bool:
        """The agent had given up the tool call that was decided on."""
        return self._tools is not None and self._tools.too_late

    def interrupted(self) -> None:
        """The hub itself has said something; what the agent says next is a paragraph of its own."""
        self.spoken = self._paragraph_ended = True

    def finish(self) -> Iterator[Piece]:
        """What is left to say at the end: data that came without any text, as JSON; or what was said only while it was worked on,
        as Gemini CLI gives its answers; or what earlier turns told, where the agent has nothing to add.
        """
        if self.state is TaskState.COMPLETED and not self._data and not self.spoken:
            yield from self._say(self._in_progress() or "\n\n".join(self._before.again))
        yield from self._unspoken_data()

    def _unspoken_data(self) -> Iterator[Piece]:
        if not self.spoken and self._data:
            yield from self._say(data_as_text(map(for_callers, self._data)))

    def _told(self, task: Task) -> Iterator[Piece]:
        """What a development agent's whole task says: its words are those of its updates, which are the history now."""
        state = task.status.state
        ends = state in (TaskState.INPUT_REQUIRED, TaskState.COMPLETED)
        if self.spoken or not (ends and self._tools and self._tools.spoken):
            return
        messages = {message.message_id: message for message in _answers(task.history)}
        last = task.status.message
        if state is TaskState.COMPLETED and last is not None:
            messages[last.message_id] = last
        for message in messages.values():
            yield from self._content(text_of_parts(message.parts))
            self._paragraph_ended = self.spoken

    def _update(self, event: TaskStatusUpdateEvent) -> Iterator[Piece]:
        status = event.status
        if not self._tells_of_tools(event.metadata, *([status.message] if status.message else ())):
            yield from self._status(status)
            return
        from a2a_hub.a2a.extensions.tool_calls import Kind

        kind, progress = self._told_of_tools().translate(event)
        yield from progress
        if kind is Kind.TEXT and status.message is not None:
            yield from self._content(text_of_parts(status.message.parts))
        elif kind is not None:
            self._paragraph_ended = self.spoken
        if kind in (Kind.TEXT, Kind.THOUGHT, Kind.TOOL_CALL):
            status = msgspec.structs.replace(status, message=None)
        yield from self._status(status)

    def _tells_of_tools(self, metadata: dict[str, Any] | None, *said: Message) -> bool:
        """Whether it may: most agents have nothing of the kind, and what reads it is not loaded for them."""
        return bool(metadata) or any(part.data is not UNSET for each in said for part in each.parts)

    def _told_of_tools(self) -> ToolListener:
        if self._tools is None:
            from functions.hub.downstream.tool_event_translator import ToolListener

            self._tools = ToolListener(self._were_asked, self._decided, self._language)
        return self._tools

    def _content(self, text: str) -> Iterator[Piece]:
        """The answer goes on; what was said before a tool was used is a paragraph of its own."""
        if text and self._paragraph_ended:
            text, self._paragraph_ended = f"\n\n{text}", False
        yield from self._say(text)

    def _status(self, status: TaskStatus) -> Iterator[Piece]:
        self.state = status.state
        said = text_of_parts(status.message.parts) if status.message else ""
        text = "" if said.isspace() else said
        match status.state:
            case TaskState.INPUT_REQUIRED | TaskState.AUTH_REQUIRED:
                # Once in the updates and once more in the task as a whole is one question.
                if self._tools and self._says_no_more(status.state, text) and not self.spoken:
                    yield from self._say(self._in_progress() or self._tools.outcome)
                self.rests = self._says_no_more(status.state, text) and self.spoken
                if self.rests:
                    yield Open()
                elif text != self._asked:
                    if status.state is TaskState.INPUT_REQUIRED and not text:
                        # ADK and LangGraph put what they ask into data.
                        yield from self._new_data(status.message.parts if status.message else ())
                        yield from self._unspoken_data()
                    self.spoken, self._asked = True, text
                    yield Question(text, auth=status.state is TaskState.AUTH_REQUIRED)
            case TaskState.COMPLETED | TaskState.REJECTED if not self.spoken and status.message:
                yield from self._parts(status.message.parts)
            case TaskState.WORKING | TaskState.SUBMITTED if status.message and said:
                # By its id, since who asks for a task again and again hears its words again.
                self._progress[status.message.message_id] = status.message.parts
                if text:
                    yield Progress(text)

    def _says_no_more(self, state: TaskState, text: str) -> bool:
        """A development agent ends a turn in which nothing is left to decide."""
        tools = self._tools
        waits = state is TaskState.INPUT_REQUIRED and not text
        return waits and tools is not None and tools.spoken and not tools.asked

    def _in_progress(self) -> str:
        return joined(tuple(chain.from_iterable(self._progress.values())))

    def _artifact(self, artifact: Artifact, *, append: bool, again: bool = False) -> Iterator[Piece]:
        if self._tools is not None and self._tools.is_tool_output(artifact.artifact_id):
            return
        # What was said is compared without what stands between parts: a task at the end holds the chunks of its stream as parts.
        bare = "".join(texts_of(artifact.parts))
        whole = joined(artifact.parts)
        said = self._artifacts.get(artifact.artifact_id)
        if said is None and again and self._before.holds(artifact.artifact_id, bare):
            self._artifacts[artifact.artifact_id] = [bare]
            return
        if said is None:
            yield from self._say(after_another(whole, self.spoken))
            self._artifacts[artifact.artifact_id] = [bare]
        elif append:
            yield from self._say(whole)
            said.append(bare)
        elif bare != (before := "".join(said)):
            more = bare.startswith(before)
            yield from self._say(bare[len(before) :] if more else after_another(whole, self.spoken))
            said[:] = [bare]
        yield from self._new_data(artifact.parts)

    def _parts(self, parts: tuple[Part, ...]) -> Iterator[Piece]:
        yield from self._say(text_of_parts(parts))
        yield from self._new_data(parts)

    def _new_data(self, parts: tuple[Part, ...]) -> Iterator[Piece]:
        for part in parts:
            if part.data is not UNSET and not (self._tools and self._tools.is_tool_call(part.data)):
                value = part.data if isinstance(part.data, dict) else {"value": part.data}
                written = _sorted_json(value)
                if written not in self._known_data:
                    self._known_data.add(written)
                    self._data.append(value)
                    yield Data(value)

    def _say(self, text: str) -> Iterator[Piece]:
        if text:
            # Blank text is passed on, since more may follow, and is no answer by itself.
            self.spoken = self.spoken or not text.isspace()
            yield Text(text)


def for_callers(data: dict[str, Any]) -> dict[str, Any]:
    """An agent's data without what is for the operator."""
    return {name: value for name, value in data.items() if name != _FOR_THE_OPERATOR}


def _answers(history: tuple[Message, ...]) -> list[Message]:
    """What the agent said last: some, such as Agno, put their answer nowhere else."""
    since_asked = takewhile(lambda message: message.role is Role.AGENT, reversed(history))
    return list(since_asked)[::-1]
