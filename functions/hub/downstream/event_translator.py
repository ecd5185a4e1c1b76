"""Translates an agent's events into pieces of the hub's answer, whatever the agent's style of answering.

Agents put their answer into artifacts, into one message, or into the last status; some repeat the whole task at the end.
No text is sent twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain, takewhile
from typing import Any

import msgspec
from msgspec import UNSET

from a2a_hub.a2a import model
from a2a_hub.a2a.a2ui import is_surface, surfaces_in, text_of_surfaces
from a2a_hub.a2a.extensions import memory
from a2a_hub.a2a.extensions.tool_calls import Kind, is_tool_call
from a2a_hub.a2a.extensions.tool_updates import ToolQuestion
from a2a_hub.a2a.reply import Data, Idle, Piece, Progress, Question, Surface, Text
from a2a_hub.text.language import Language
from functions.hub.downstream.tool_event_translator import ToolEventTranslator

TranslatedEvent = tuple[model.Event | None, Sequence[Piece]]
"""An event of the agent, None for the hub's own, and the pieces of answer that it adds."""

# An agent's remedies for its own failures, and what a model wrote that could not be verified: `/tools/query` shows them to
# operators, an answer does not.
_FOR_THE_OPERATOR = frozenset({"hints", "dropped"})
_SENTENCE_ENDS = tuple(".!?:。！？：」）")
_sorted_json = msgspec.json.Encoder(order="sorted").encode


class EventTranslator:
    """The translation of one turn.

    `questions` are the tool calls that waited for a decision before it; `decided` is the one on which its message decides.
    `delivered` are the artifacts of the agent's task that the user has from earlier turns, as hashes of their texts by id: an
    agent that answers with its whole task repeats them.
    """

    def __init__(
        self,
        language: Language = Language.EN,
        *,
        questions: Sequence[ToolQuestion] = (),
        decided: str | None = None,
        delivered: Mapping[str, str] | None = None,
    ) -> None:
        self._delivered = delivered or {}
        self._repeated: list[str] = []
        open_questions = tuple(each for each in questions if each.call_id != decided)
        self.tools = ToolEventTranslator(open_questions, decided, language)
        self.is_idle = False
        """True if the agent has answered and its task waits without a question."""
        self._paragraph_ended = False
        self.context_id: str | None = None
        """The agent's last context id, as `task_id` and `state` are its last ones."""
        self.task_id: str | None = None
        self.state: model.TaskState | None = None
        self.has_text = False
        """True once the answer has text that is not blank."""
        self._artifacts: dict[str, list[str]] = {}
        self._after_file: set[str] = set()
        self._question: str | None = None
        self._progress: dict[str, tuple[model.Part, ...]] = {}
        self._data: list[dict[str, Any]] = []
        self._known_data: set[bytes] = set()
        self._surfaces: list[model.Part] = []
        self.memory: Any = None
        """The memory that the agent leaves with its caller; None if it is as before."""
        self.surfaces: dict[str, None] = {}
        """The ids of the surfaces that the agent has made or changed."""

    def translate(self, event: model.Event) -> Iterator[Piece]:
        """Yield the pieces that this event adds."""
        match event:
            case model.Message():
                self.context_id = event.context_id or self.context_id
                self.state = model.TaskState.COMPLETED
                yield from self._parts(event.parts)
            case model.Task():
                self.context_id, self.task_id = event.context_id or self.context_id, event.id
                messages = (*last_answers(event.history), *((event.status.message,) if event.status.message else ()))
                self.tools.translate_task(event, messages)
                for artifact in event.artifacts:
                    yield from self._artifact(artifact, append=False, again=True, more=not event.status.state.settled)
                yield from self._history(event)
                asks = event.status.state.interrupted and not self.has_text and not self.tools.is_present
                yield from self._status(status_from_history(event) if asks else event.status)
                if self.state is model.TaskState.COMPLETED and not self.has_text and not self._data:
                    parts = tuple(chain.from_iterable(message.parts for message in last_answers(event.history)))
                    yield from self._append(_joined(parts))
                    yield from self._new_data(parts)
            case model.TaskStatusUpdateEvent():
                self.context_id, self.task_id = event.context_id or self.context_id, event.task_id
                yield from self._update(event)
            case model.TaskArtifactUpdateEvent():
                self.context_id, self.task_id = event.context_id or self.context_id, event.task_id
                yield from self._artifact(event.artifact, append=event.append, more=not event.last_chunk)

    @property
    def delivered(self) -> Mapping[str, str]:
        """The artifacts that the user has after this turn."""
        return {**self._delivered, **{id_: _hash("".join(texts)) for id_, texts in self._artifacts.items()}}

    def end_paragraph(self) -> None:
        """Begin a new paragraph with the agent's next text, after a text of the hub's own."""
        self.has_text = self._paragraph_ended = True

    def finish(self) -> Iterator[Piece]:
        """Yield the rest of the answer at the end of the turn.

        Without any text so far, that is the data as JSON, or the progress (Gemini CLI answers that way), or the artifacts of
        earlier turns that the agent named again.
        """
        if self.state is model.TaskState.COMPLETED and not self._data and not self.has_text:
            yield from self._append(self._in_progress() or "\n\n".join(self._repeated))
        if not self.has_text:
            yield from self._append(text_of_surfaces(self._surfaces))
        yield from self._data_without_text()

    def _data_without_text(self) -> Iterator[Piece]:
        if not self.has_text and self._data:
            yield from self._append(model.data_as_text(map(for_callers, self._data)))

    def _history(self, task: model.Task) -> Iterator[Piece]:
        """Yield the text of a development agent's whole task: its updates, which are its history now."""
        state = task.status.state
        ends = state in (model.TaskState.INPUT_REQUIRED, model.TaskState.COMPLETED)
        if self.has_text or not (ends and self.tools.is_present):
            return
        messages = {message.message_id: message for message in last_answers(task.history)}
        last = task.status.message
        if state is model.TaskState.COMPLETED and last is not None:
            messages[last.message_id] = last
        for message in messages.values():
            yield from self._content(text_of_parts(message.parts))
            self._paragraph_ended = self.has_text

    def _update(self, event: model.TaskStatusUpdateEvent) -> Iterator[Piece]:
        status = event.status
        kind, progress = self.tools.translate(event)
        yield from progress
        if kind is Kind.TEXT and status.message is not None:
            yield from self._content(text_of_parts(status.message.parts))
        elif kind is not None:
            self._paragraph_ended = self.has_text
        if kind in (Kind.TEXT, Kind.THOUGHT, Kind.TOOL_CALL):
            status = msgspec.structs.replace(status, message=None)
        yield from self._status(status)

    def _content(self, text: str) -> Iterator[Piece]:
        """Append to the answer; the text before the use of a tool is a paragraph of its own."""
        if text and self._paragraph_ended:
            text, self._paragraph_ended = f"\n\n{text}", False
        yield from self._append(text, more=True)

    def _status(self, status: model.TaskStatus) -> Iterator[Piece]:
        self.state = status.state
        whole = text_of_parts(status.message.parts) if status.message else ""
        text = "" if whole.isspace() else whole
        match status.state:
            case model.TaskState.INPUT_REQUIRED | model.TaskState.AUTH_REQUIRED:
                # An update and the whole task repeat one question.
                if self._is_finished(status.state, text) and not self.has_text:
                    yield from self._append(self._in_progress() or self.tools.outcome)
                self.is_idle = self._is_finished(status.state, text) and self.has_text
                if self.is_idle:
                    yield Idle()
                elif text != self._question:
                    if status.state is model.TaskState.INPUT_REQUIRED and not text:
                        # ADK and LangGraph put what they ask into data.
                        yield from self._new_data(status.message.parts if status.message else ())
                        yield from self._data_without_text()
                    self.has_text, self._question = True, text
                    yield Question(text, auth=status.state is model.TaskState.AUTH_REQUIRED)
            case model.TaskState.COMPLETED | model.TaskState.REJECTED if not self.has_text and status.message:
                yield from self._parts(status.message.parts)
            case model.TaskState.WORKING | model.TaskState.SUBMITTED if status.message and whole:
                # By its id, since each poll of a task repeats its messages.
                self._progress[status.message.message_id] = status.message.parts
                if text:
                    yield Progress(text)

    def _is_finished(self, state: model.TaskState, text: str) -> bool:
        """Return True if a development agent ends a turn that leaves nothing to decide."""
        waits = state is model.TaskState.INPUT_REQUIRED and not text
        return waits and self.tools.is_present and not self.tools.questions

    def _in_progress(self) -> str:
        return _joined(tuple(chain.from_iterable(self._progress.values())))

    def _artifact(
        self, artifact: model.Artifact, *, append: bool, again: bool = False, more: bool = False
    ) -> Iterator[Piece]:
        if self.tools.is_tool_output(artifact.artifact_id):
            return
        # Texts are compared without their separators: a task at its end has the chunks of its stream as parts.
        bare = "".join(_texts_of(artifact.parts))
        whole = _joined(artifact.parts)
        texts = self._artifacts.get(artifact.artifact_id)
        is_apart = artifact.artifact_id in self._after_file or _is_file(artifact.parts[:1])
        if bare:
            change = self._after_file.add if _is_file(artifact.parts[-1:]) else self._after_file.discard
            change(artifact.artifact_id)
        if texts is None and again and bare and self._delivered.get(artifact.artifact_id) == _hash(bare):
            self._repeated.append(bare)
            self._artifacts[artifact.artifact_id] = [bare]
            return
        if texts is None:
            yield from self._append(_after_another(whole, self.has_text), more=more)
            self._artifacts[artifact.artifact_id] = [bare]
        elif append:
            # A file is a line of its own, also among chunks of text.
            is_apart = is_apart and bare != "" and not "".join(texts[-1:]).endswith("\n")
            yield from self._append(f"\n{whole}" if is_apart else whole, more=more)
            texts.append(bare)
        elif bare != (before := "".join(texts)):
            grown = bare.startswith(before)
            yield from self._append(bare[len(before) :] if grown else _after_another(whole, self.has_text), more=more)
            texts[:] = [bare]
        yield from self._new_data(artifact.parts)

    def _parts(self, parts: tuple[model.Part, ...]) -> Iterator[Piece]:
        yield from self._append(text_of_parts(parts))
        yield from self._new_data(parts)

    def _new_data(self, parts: tuple[model.Part, ...]) -> Iterator[Piece]:
        parts = tuple(part for part in parts if part.data is not UNSET)
        if not parts:
            return
        self.surfaces |= dict.fromkeys(surfaces_in(parts))
        for part in parts:
            if is_surface(part):
                written = _sorted_json(part.data)
                if written not in self._known_data:
                    self._known_data.add(written)
                    self._surfaces.append(part)
                    yield Surface(part)
            elif memory.is_memory(part.data):
                self.memory = part.data[memory.URI]
            elif not (self.tools.is_present and is_tool_call(part.data)):
                value = part.data if isinstance(part.data, dict) else {"value": part.data}
                written = _sorted_json(value)
                if written not in self._known_data:
                    self._known_data.add(written)
                    self._data.append(value)
                    yield Data(value)

    def _append(self, text: str, *, more: bool = False) -> Iterator[Piece]:
        if text:
            # Blank text is passed on, since more may follow, and is no answer by itself.
            self.has_text = self.has_text or not text.isspace()
            yield Text(text, more)


def for_callers(data: dict[str, Any]) -> dict[str, Any]:
    """Return an agent's data without what is for operators."""
    return {name: value for name, value in data.items() if name not in _FOR_THE_OPERATOR}


def last_answers(history: tuple[model.Message, ...]) -> list[model.Message]:
    """Return the agent's last messages: some agents, such as Agno, put their answer nowhere else."""
    answers = takewhile(lambda message: message.role is model.Role.AGENT, reversed(history))
    return list(answers)[::-1]


def status_from_history(task: model.Task) -> model.TaskStatus:
    """Return the status of a task; without a message and artifacts, it gets the agent's last messages: FastA2A asks there."""
    status, answers = task.status, last_answers(task.history)
    if status.message is not None or task.artifacts or not answers:
        return status
    parts = tuple(chain.from_iterable(answer.parts for answer in answers))
    return msgspec.structs.replace(status, message=msgspec.structs.replace(answers[-1], parts=parts))


def _is_file(parts: tuple[model.Part, ...]) -> bool:
    return any(part.text is None and part.data is UNSET for part in parts)


def _hash(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def text_of_parts(parts: tuple[model.Part, ...]) -> str:
    """Return a line for each part."""
    return "\n".join(_texts_of(parts))


def _texts_of(parts: tuple[model.Part, ...]) -> list[str]:
    """Return the parts' texts; a file is named, since a text-only client cannot show it. A model's thoughts are left out, as ADK
    marks them.
    """
    return [
        part.text if part.text is not None else model.file_text(part)
        for part in parts
        if part.data is UNSET and not (part.metadata or {}).get("adk_thought")
    ]


def _joined(parts: tuple[model.Part, ...]) -> str:
    """Join an artifact's parts into one text: paragraphs, or chunks of a stream that its agent put together again.

    A file is a paragraph. A part after one that ends a sentence begins a paragraph; so does a capital after a small letter.
    """
    pieces: list[str] = []
    end, after_file = "", False
    for part in parts:
        for text in _texts_of((part,)):
            is_file = part.text is None
            if (
                end.removesuffix("\n").endswith(_SENTENCE_ENDS)
                or (end[-1:].islower() and text[:1].isupper())
                or (end and not end.endswith("\n") and (is_file or after_file))
            ):
                text = f"\n{text}"
            pieces.append(text)
            end, after_file = (end + text)[-2:], is_file
    return "".join(pieces)


def _after_another(text: str, has_text: bool) -> str:
    return f"\n\n{text}" if has_text and text else text
