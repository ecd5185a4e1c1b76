"""The pipeline of a turn: canonical text → route → agent → pieces of the answer, with every failure contained."""

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from a2a_hub.a2a import reply
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.errors import A2AError
from a2a_hub.a2a.extensions.tool_updates import PendingTools
from a2a_hub.a2a.model import Message, TaskState, text_of
from a2a_hub.a2a.reply import Data, Piece, Question, Text
from a2a_hub.http.messages import Cancellation
from a2a_hub.identity.principal import Principal
from a2a_hub.routing.router import Choice
from a2a_hub.routing.routes import Route, may_use
from a2a_hub.telemetry.log import Log, Record, Redacted
from a2a_hub.text.language import Language, language_of
from functions.hub import citations, texts
from functions.hub.conversations import CONVERSATION, EXECUTES, RUNNING, Conversation, Conversations
from functions.hub.downstream.event_translator import EventTranslator, TranslatedEvent, for_callers
from functions.hub.downstream.interface import AgentRequest, CallContext, Downstream
from functions.hub.failure import (
    LEFT,
    DownstreamFailed,
    Failure,
    FailureKind,
    failed_task,
    internal,
    not_permitted,
    unrouted,
)
from functions.hub.tables import Served, Tables
from functions.hub.tool_approval import Decision, decision_of, question_text, too_late_text

_UNSUCCESSFUL = frozenset({TaskState.FAILED, TaskState.CANCELED})


class IncomingTurn(Redacted, frozen=True, kw_only=True):
    """A message on its way to an agent. `owner` is the caller's subject.

    `skill` is the route that the caller names, `skill_field` the field that names it.

    `downstream_context_id` is the conversation's id for agents that have given it none of their own.

    `task_id`: the turn becomes this task if it takes long, and then outlives its request.

    `development_tool`: the caller is a program that uses the extension of this name.

    `executes`: the turn follows a slash command that its agent executes already.

    `text_only`: the caller shows nothing but text. `notes` are stored with the turn's task, if it has one.
    """

    message: Message
    skill: str | None
    skill_field: str
    owner: str
    principal: Principal | None
    context_id: str
    downstream_context_id: str
    streaming: bool
    request_id: str
    authorization: str | None = None
    traceparent: str | None = None
    cancellation: Cancellation = field(default_factory=Cancellation)
    development_tool: bool = False
    text_only: bool = True
    task_id: str | None = None
    executes: bool = False
    notes: dict[str, Any] = field(default_factory=dict)


class TurnRecord(Struct, kw_only=True):
    """The mutable record of one turn, complete when its events are exhausted. `immediate`: it waits for no agent and no model."""

    incoming: IncomingTurn
    text: str
    language: Language
    choice: Choice | None
    immediate: bool = True
    texts: list[str] = []
    data: list[dict[str, Any]] = []
    citations: list[dict[str, Any]] = []
    failure: Failure | None = None
    routing_ms: float = 0.0
    downstream_ms: float = 0.0

    @property
    def answer(self) -> str:
        """The text so far."""
        return "".join(self.texts)

    def append_text(self, text: str, *, new_paragraph: bool = False) -> None:
        """Append to the answer, `new_paragraph` after an empty line."""
        if text:
            self.texts += ("\n\n", text) if new_paragraph and self.texts else (text,)


class Pipeline:
    """The pipeline of all turns. `clock` returns monotonic seconds. Thread-safe."""

    def __init__(
        self,
        *,
        tables: Tables,
        conversations: Conversations,
        log: Log,
        clock: Callable[[], float],
    ) -> None:
        self._tables = tables
        self._conversations = conversations
        self._log = log
        self._clock = clock

    def start_turn(self, incoming: IncomingTurn, record: Record) -> tuple[TurnRecord, Iterator[TranslatedEvent]]:
        """Choose the route and return the turn with its agent's events, which complete the turn as they are taken.

        Raises A2AError (INVALID_PARAMS) for a skill that no route of this caller has.
        """
        started = self._clock()
        text = text_of(incoming.message)
        turn = TurnRecord(incoming=incoming, text=text, language=language_of(text), choice=None)
        if self._log.with_text:
            record["text"] = text
        if not text and (incoming.text_only or all(part.text is not None for part in incoming.message.parts)):
            record["outcome"] = "no_text"
            turn.append_text(texts.empty_message_text())
            return turn, iter(((None, (Text(turn.answer),)),))
        try:
            conversation, choice, downstream = self._choose_downstream(text, incoming)
            turn.immediate = downstream.immediate
        except A2AError:
            raise
        except Exception:
            self._log.exception("No route could be chosen", record)
            return turn, iter(((None, (self._fail(turn, None, unrouted(), record),)),))
        turn.choice = choice
        turn.routing_ms = _milliseconds(self._clock() - started)
        reason = choice.reason if self._log.with_text else choice.reason_without_text
        record |= {"route": choice.route.id, "reason": reason, "agent": choice.route.name}
        return turn, self._events(turn, choice.route, downstream, conversation, record)

    def _choose_downstream(self, text: str, incoming: IncomingTurn) -> tuple[Conversation | None, Choice, Downstream]:
        conversation = Conversation.from_note(incoming.notes.get(CONVERSATION)) or self._conversations.get(
            incoming.owner, incoming.downstream_context_id
        )
        served = self._tables.now
        choice = _choose_route(served, text, incoming, conversation)
        return conversation, choice, served.downstreams[choice.route.id]

    def starts_new_task(self, incoming: IncomingTurn) -> bool:
        """Return True if the message is for another agent than that of the idle task in the notes."""
        noted = Conversation.from_note(incoming.notes.get(CONVERSATION))
        if noted is None or noted.waiting_task_id is not None:
            return False
        latest = self._conversations.get(incoming.owner, incoming.downstream_context_id) or noted
        try:
            choice = _choose_route(self._tables.now, text_of(incoming.message), incoming, latest)
        except Exception:
            # The turn will raise the same error and report it.
            return False
        return choice.route.id != noted.route_id

    def cancel(self, owner: str, downstream_context_id: str, call: Call) -> None:
        """Pass a task's cancellation on to its agent, as far as that is known."""
        self._conversations.forget_waiting(owner, downstream_context_id)
        notes = call.task.notes if call.task else {}
        conversation = Conversation.from_note(notes.get(CONVERSATION))
        waiting = conversation.task_of(conversation.route_id) if conversation else None
        running = notes.get(RUNNING)
        if isinstance(running, dict):
            route_id, task_id = running["route"], running["task"]
        elif conversation is not None and waiting is not None:
            route_id, task_id = conversation.route_id, waiting
        else:
            return
        downstream = self._tables.now.downstreams.get(route_id)
        if downstream is not None:
            downstream.cancel(task_id, CallContext(authorization=call.authorization, traceparent=call.traceparent))

    def _events(
        self,
        turn: TurnRecord,
        route: Route,
        downstream: Downstream,
        conversation: Conversation | None,
        record: Record,
    ) -> Iterator[TranslatedEvent]:
        started = self._clock()
        notes = turn.incoming.notes
        decision, late = _decision(turn, route, conversation), False
        same_route = conversation is not None and conversation.route_id == route.id
        delivered = conversation.delivered_artifacts if conversation and same_route else {}
        translator = EventTranslator(
            turn.language, questions=decision.pending, decided=decision.call_id, delivered=delivered
        )
        try:
            if not may_use(route, turn.incoming.principal):
                raise DownstreamFailed(not_permitted(route))
            if decision.not_understood:
                yield None, (self._with_text(Question(""), turn, route, translator, again=True),)
                return
            agent_request = _agent_request(turn, route, conversation, decision)
            with closing(downstream.ask(agent_request)) as events:  # type: ignore[type-var]
                for event in events:
                    pieces = [self._with_text(piece, turn, route, translator) for piece in translator.translate(event)]
                    if not late and decision.allows and translator.decision_was_late:
                        late = True
                        translator.end_paragraph()
                        pieces.insert(0, _recorded(Text(too_late_text(route, turn.language)), turn))
                    if translator.task_id is not None:
                        notes[RUNNING] = {"route": route.id, "task": translator.task_id}
                    yield event, pieces
            rest = [_recorded(piece, turn) for piece in translator.finish()]
            if decision.call_id is not None and translator.state is None:
                rest.append(_recorded(Text(too_late_text(route, turn.language)), turn))
                translator.end_paragraph()
            if rest:
                yield None, rest
            if translator.state in _UNSUCCESSFUL or (
                translator.state is TaskState.REJECTED and not translator.has_text
            ):
                raise DownstreamFailed(failed_task(route, translator.state.name.lower()))
            if not translator.has_text:
                yield None, (_recorded(Text(texts.no_answer_text(route, turn.language)), turn),)
            if turn.data:
                turn.citations = citations.citations_of(turn.data)
                yield None, (Text(citations.numbered_lines(turn.citations, turn.language)),)
        except DownstreamFailed as failed:
            piece = self._fail(turn, route, failed.failure, record)
            refused = failed.failure.kind is FailureKind.NOT_ACCEPTED and translator.state is None
            # The agent did nothing with it: a task that waits for an answer still waits.
            waits = refused and conversation is not None and conversation.task_of(route.id) is not None
            yield None, (Question(piece.text) if waits else piece,)
        except Exception:
            self._log.exception("A turn failed inside the hub", record)
            yield None, (self._fail(turn, route, internal(route), record),)
        finally:
            turn.downstream_ms = _milliseconds(self._clock() - started)
            record["downstreamMs"] = turn.downstream_ms
            self._store_conversation(turn, route, conversation, translator, decision)

    def _with_text(
        self, piece: Piece, turn: TurnRecord, route: Route, translator: EventTranslator, *, again: bool = False
    ) -> Piece:
        if isinstance(piece, Question) and not piece.text:
            if translator.pending and not piece.auth:
                text = question_text(translator.pending, route, turn.language, again=again)
            else:
                text = texts.question_text(route, turn.language)
            piece = Question(text, auth=piece.auth)
        return _recorded(piece, turn)

    def _fail(self, turn: TurnRecord, route: Route | None, failure: Failure, record: Record) -> reply.Failure:
        turn.failure = failure
        # A caller who leaves is no failure.
        severity = "INFO" if failure.fault == LEFT else "WARNING"
        fields = {"outcome": failure.fault, "cause": failure.cause}
        if failure.remedy:
            fields["remedy"] = failure.remedy
        in_own_line = self._log.add(record, fields | {"severity": severity})
        if not in_own_line and failure.fault != LEFT:
            late = {**record, "taskId": turn.incoming.task_id}
            self._log.line(late.pop("severity"), "A turn failed after its request was answered", **late)
        text = texts.failure_text(failure, route, language=turn.language, reference=turn.incoming.request_id)
        turn.append_text(text, new_paragraph=True)
        return reply.Failure(text)

    def _store_conversation(
        self,
        turn: TurnRecord,
        route: Route,
        conversation: Conversation | None,
        translator: EventTranslator,
        decision: Decision,
    ) -> None:
        earlier = conversation or Conversation(route_id=route.id)
        waiting_task_id = open_task_id = None
        pending = None
        if turn.failure is None and translator.state is not None and translator.state.interrupted:
            if translator.is_idle:
                open_task_id = translator.task_id
            else:
                waiting_task_id = translator.task_id
                if translator.pending:
                    pending = PendingTools(language=turn.language, questions=translator.pending)
        elif (
            translator.state is None
            and earlier.route_id == route.id
            and (turn.failure is not None or decision.call_id is None)
        ):
            # The agent sent nothing: as far as the hub knows, its task still waits.
            waiting_task_id, pending = earlier.waiting_task_id, earlier.pending_tools
            open_task_id = earlier.open_tasks.get(route.id)
        now = earlier.after(
            route.id,
            context_id=translator.context_id,
            waiting_task_id=waiting_task_id,
            pending_tools=pending,
            open_task_id=open_task_id,
            delivered_artifacts=translator.delivered,
        )
        incoming = turn.incoming
        self._conversations.put(incoming.owner, incoming.downstream_context_id, now)
        if incoming.task_id is not None:
            incoming.notes.pop(RUNNING, None)
            incoming.notes.pop(EXECUTES, None)
            incoming.notes[CONVERSATION] = now.as_note()


def _choose_route(served: Served, text: str, incoming: IncomingTurn, conversation: Conversation | None) -> Choice:
    return served.choose(
        text,
        conversation,
        skill=incoming.skill,
        skill_field=incoming.skill_field,
        principal=incoming.principal,
    )


def _decision(turn: TurnRecord, route: Route, conversation: Conversation | None) -> Decision:
    """Return the turn's decision on a tool call. Where the reply shows no language, the turn gets that of the question."""
    message = turn.incoming.message
    pending = conversation.pending_tools if conversation and conversation.route_id == route.id else None
    if pending is None:
        return Decision(message=message)
    if route.passes_tasks and not turn.incoming.text_only:
        # A program decides by data, or knows why it does not.
        return Decision(message=message, pending=pending.questions)
    decision = decision_of(message, turn.text, pending)
    if turn.language is Language.EN and decision.of_text:
        turn.language = pending.language
    return decision


def _agent_request(
    turn: TurnRecord, route: Route, conversation: Conversation | None, decision: Decision
) -> AgentRequest:
    incoming = turn.incoming
    context_id = task_id = None
    if conversation is not None:
        context_id = conversation.context_ids.get(route.id)
        task_id = conversation.task_of(route.id)
    # The downstream's ids instead of ours; messageId passes through unchanged.
    message = replace(
        decision.message,
        context_id=context_id or incoming.downstream_context_id,
        task_id=task_id,
        reference_task_ids=(),
    )
    running = incoming.notes.get(RUNNING)
    running_task_id = running["task"] if running and running["route"] == route.id else None
    return AgentRequest(
        message=message,
        streaming=incoming.streaming,
        authorization=incoming.authorization,
        traceparent=incoming.traceparent,
        cancellation=incoming.cancellation,
        running_task_id=running_task_id,
        decides=decision.call_id is not None,
        development_tool=incoming.development_tool or decision.uses_extension,
        may_outlive_request=incoming.task_id is not None,
        executes=incoming.executes,
    )


def _recorded(piece: Piece, turn: TurnRecord) -> Piece:
    """Add the piece to the turn's record."""
    match piece:
        case Text(text):
            turn.append_text(text)
        case Question(text):
            turn.append_text(text, new_paragraph=True)
        case Data(value):
            turn.data.append(value)
            return Data(for_callers(value))
    return piece


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 3)
