"""An agent whose requests and answers Model Armor screens before they go on (`safety` of a route)."""

import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import replace

from a2a_hub.a2a import model
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.client import Endpoint
from a2a_hub.a2a.client_errors import ClientFault
from a2a_hub.a2a.extensions.development_tool import URI as DEVELOPMENT_TOOL
from a2a_hub.a2a.extensions.development_tool import ExecuteSlashCommandRequest, GetAllSlashCommandsRequest, SlashCommand
from a2a_hub.routing.routes import Route, Safety
from a2a_hub.telemetry import tracing
from a2a_hub.telemetry.log import Log
from a2a_hub.text.decoding import Undecodable, decoded
from a2a_hub.text.language import Language, language_of
from functions.hub.downstream.interface import AgentRequest, Downstream, ExecutionReply
from functions.hub.downstream.model_armor import Direction, ModelArmor, Unscreened, Verdict, document_kind
from functions.hub.failure import DownstreamFailed, failure_of, unscreened
from functions.hub.texts import HUB_TEXTS

# A stream is released in pieces of this size at least, each up to the end of a sentence; one without such an end, from that size.
_PIECE_CHARACTERS, _MAX_CHARACTERS = 1_000, 4_000
# Agents read texts as lines, or as one.
_BETWEEN_PARTS = ("\n", "")
_SENTENCE_END = r"[.!?](?=\s|$)|[。！？\n]"


class ScreenedAgent(Struct, frozen=True):
    """A `Downstream` that screens the requests and answers of another one."""

    agent: Downstream
    route: Route
    armor: ModelArmor
    log: Log

    immediate = False

    @property
    def endpoint(self) -> Endpoint | None:
        return self.agent.endpoint

    @property
    def open_circuit(self) -> Any:
        return self.agent.open_circuit

    def ask(self, agent_request: AgentRequest) -> Iterator[model.Event]:
        message = agent_request.message
        turn = _Screening(self, language_of(model.text_of(message)), agent_request.call)
        if not agent_request.executes:
            agent_request = replace(agent_request, message=turn.message(message, Direction.REQUEST))
        with closing(self.agent.ask(agent_request)) as events:  # type: ignore[type-var]
            yield from map(turn.event, _merged(events))

    def cancel(self, task_id: str, call: Call) -> None:
        self.agent.cancel(task_id, call)

    def commands(self, request: GetAllSlashCommandsRequest, call: Call, *, seconds: float) -> Sequence[SlashCommand]:
        return self.agent.commands(request, call, seconds=seconds)

    def execute(self, request: ExecuteSlashCommandRequest, call: Call) -> ExecutionReply:
        turn = _Screening(self, language_of(request.args), call)
        reply = self.agent.execute(replace(request, args=turn.text(request.args, Direction.REQUEST)), call)
        message, refusal = turn.text(reply.message, Direction.ANSWER), reply.refusal
        if refusal is not None:
            refusal = turn.text(refusal, Direction.ANSWER)
        return replace(reply, message=message, refusal=refusal, result=turn.json(reply.result, Direction.ANSWER))


class _Screening(Struct):
    """The screening of one request and its answer. Equal texts are screened once. Each method raises DownstreamFailed."""

    agent: ScreenedAgent
    language: Language
    call: Call
    known: dict[tuple[str, Direction], str] = {}
    known_files: set[tuple[str, Direction]] = set()
    needs_note: bool = False
    has_note: bool = False
    in_progress: bool = False

    def event(self, event: model.Event) -> model.Event:
        """Return the screened event."""
        match event:
            case model.Message():
                return self.message(event, Direction.ANSWER)
            case model.TaskArtifactUpdateEvent():
                return replace(event, artifact=self._artifact(event.artifact))
            case model.TaskStatusUpdateEvent():
                return replace(event, status=self._status(event.status))
            case model.Task():
                artifacts, status = tuple(map(self._artifact, event.artifacts)), self._status(event.status)
                history = tuple(
                    self.message(each, Direction.ANSWER) if each.role is model.Role.AGENT else each
                    for each in event.history
                )
                return replace(event, status=status, artifacts=artifacts, history=history)

    def message(self, message: model.Message, direction: Direction) -> model.Message:
        """Return the screened message."""
        return replace(message, parts=self._parts(message.parts, direction))

    def text(self, text: str, direction: Direction) -> str:
        """Return the screened text. After a match of a route with `safety = "tell"`, the next text of the answer ends with a
        note.
        """
        screened = self._screened_text(text, direction)
        if not self.needs_note or self.in_progress or direction is Direction.REQUEST or not text.strip():
            return screened
        self.needs_note, self.has_note = False, True
        return f"{screened}\n\n{HUB_TEXTS.flagged[self.language]}"

    def json(self, value: Any, direction: Direction) -> Any:
        """Return the JSON value, screened as text."""
        if value is None:
            return value
        written = msgspec.json.encode(value).decode()
        screened = self._screened_text(written, direction)
        try:
            return value if screened == written else msgspec.json.decode(screened)
        except msgspec.DecodeError:
            raise DownstreamFailed(failure_of(f"unsafe_{direction}", self.agent.route, filters="sdp")) from None

    def _status(self, status: model.TaskStatus) -> model.TaskStatus:
        if status.message is None:
            return status
        # Only a development tool answers while it works.
        self.in_progress = not (status.state.settled or DEVELOPMENT_TOOL in self.agent.route.extensions)
        message = self.message(status.message, Direction.ANSWER)
        self.in_progress = False
        return replace(status, message=message)

    def _artifact(self, artifact: model.Artifact) -> model.Artifact:
        return replace(artifact, parts=self._parts(artifact.parts, Direction.ANSWER))

    def _parts(self, parts: Sequence[model.Part], direction: Direction) -> tuple[model.Part, ...]:
        """Return the screened parts; where several texts change, one takes the place of all."""
        texts = [part.text for part in parts if part.text is not None]
        screened = self._together(texts, direction) if len(texts) > 1 else None
        if screened is not None:
            first = next(part for part in parts if part.text is not None)
            others = [part for part in parts if part.text is None]
            parts = [replace(first, text=screened), *others]
        return tuple(self._part(part, direction) for part in parts)

    def _together(self, texts: Sequence[str], direction: Direction) -> str | None:
        """Screen texts as an agent reads them, since halves may say nothing by themselves. Return what they become; None if each
        passes as it is.
        """
        for separator in _BETWEEN_PARTS:
            whole = separator.join(texts)
            screened = self._screened_text(whole, direction)
            if screened != whole:
                self.known[screened, direction] = screened
                return screened
        for text in texts:
            self.known.setdefault((text, direction), text)
        return None

    def _part(self, part: model.Part, direction: Direction) -> model.Part:
        if part.text is not None:
            return replace(part, text=self.text(part.text, direction))
        if part.raw is not None:
            return replace(part, raw=self._file(part.raw, direction))
        return part if part.data is UNSET else replace(part, data=self.json(part.data, direction))

    def _file(self, raw: str, direction: Direction) -> str:
        if (raw, direction) in self.known_files:
            return raw
        armor, cancellation, content = self.agent.armor, self.call.cancellation, b64decode(raw)
        try:
            if kind := document_kind(content):
                self._screened(raw, direction, lambda: armor.screen_file(content, kind, direction, cancellation))
            else:
                text = decoded(content)
                screened = self._screened_text(text, direction)
                return raw if screened == text else b64encode(screened.encode()).decode()
        except Undecodable:
            if not armor.fails_open:
                raise DownstreamFailed(failure_of("unscreenable_file", self.agent.route, direction=direction)) from None
            self._report("was away", direction, cause="Model Armor does not read such files")
        self.known_files.add((raw, direction))
        return raw

    def _screened_text(self, text: str, direction: Direction) -> str:
        key = text, direction
        if text.strip() and key not in self.known:
            screen = self.agent.armor.screen
            self.known[key] = self._screened(text, direction, lambda: screen(text, direction, self.call.cancellation))
        return self.known.get(key, text)

    def _screened(self, content: str, direction: Direction, screen: Callable[[], Verdict]) -> str:
        """Return the content, or what `screen` makes of it. Raises DownstreamFailed."""
        route, armor = self.agent.route, self.agent.armor
        try:
            verdict = screen()
        except Unscreened as problem:
            if not armor.fails_open:
                failure = unscreened(route, direction, problem.cause, problem.remedy)
                # A caller who leaves ends the call of Model Armor, too.
                fault = ClientFault.CANCELLED.value if self.call.cancellation.cancelled else failure.fault
                raise DownstreamFailed(replace(failure, fault=fault)) from None
            self._report("was away", direction, cause=problem.cause, remedy=problem.remedy)
            return content
        if not verdict.matches:
            return content
        for name in verdict.matches:
            tracing.add("a2a_hub.safety.matches", 1, **{"a2a_hub.route": route.id, "a2a_hub.safety.filter": name})
        self._report("found something", direction, filters=verdict.matches)
        if route.safety is Safety.TELL:
            self.needs_note = not self.has_note
            return content
        if route.safety is Safety.REDACT and verdict.redacted is not None:
            return verdict.redacted
        raise DownstreamFailed(failure_of(f"unsafe_{direction}", route, filters=", ".join(verdict.matches)))

    def _report(self, what: str, direction: Direction, **fields: object) -> None:
        about = {"requestId": self.call.request_id, "route": self.agent.route.id, "direction": direction}
        self.agent.log.line("WARNING", f"The safety check {what}", **about, **fields)


def _merged(events: Iterator[model.Event]) -> Iterator[model.Event]:
    """Yield the events, with the chunks of an artifact merged until they can be screened: at the end of it, or of a sentence
    after which the piece is long enough.
    """
    held: model.TaskArtifactUpdateEvent | None = None
    for event in events:
        if isinstance(event, model.TaskArtifactUpdateEvent):
            if held is not None and (event.artifact.artifact_id != held.artifact.artifact_id or not event.append):
                yield held
                held = None
            piece, held = _piece(event if held is None else _with_chunk(held, event))
            if piece is not None:
                yield piece
            continue
        says_nothing = isinstance(event, model.TaskStatusUpdateEvent) and not (
            event.status.message or event.status.state.settled
        )
        if held is not None and not says_nothing:
            yield held
            held = None
        yield event
    if held is not None:
        yield held


_Update = model.TaskArtifactUpdateEvent


def _piece(held: _Update) -> tuple[_Update | None, _Update | None]:
    """Return what can be screened now, up to the end of its last sentence, and what is held until there is more."""
    parts = held.artifact.parts
    size = sum(len(part.text or "") for part in parts)
    if held.last_chunk:
        return held, None
    if size < _PIECE_CHARACTERS:
        return None, held
    *before, last = parts
    text = last.text or ""
    ends = [match.end() for match in re.finditer(_SENTENCE_END, text)]
    if not ends:
        return (held, None) if size >= _MAX_CHARACTERS or last.text is None else (None, held)
    rest = text[ends[-1] :]
    if not rest.strip(" "):
        return held, None
    piece = replace(held, artifact=replace(held.artifact, parts=(*before, replace(last, text=text[: ends[-1]]))))
    return piece, replace(held, artifact=replace(held.artifact, parts=(replace(last, text=rest),)), append=True)


def _with_chunk(
    held: model.TaskArtifactUpdateEvent, chunk: model.TaskArtifactUpdateEvent
) -> model.TaskArtifactUpdateEvent:
    *parts, last = held.artifact.parts or (model.Part(text=""),)
    for part in chunk.artifact.parts:
        if last.text is not None and part.text is not None and last.metadata == part.metadata:
            last = replace(last, text=last.text + part.text)
        else:
            parts.append(last)
            last = part
    artifact = replace(held.artifact, parts=(*parts, last), metadata=chunk.artifact.metadata or held.artifact.metadata)
    return replace(held, artifact=artifact, last_chunk=chunk.last_chunk, metadata=chunk.metadata or held.metadata)
