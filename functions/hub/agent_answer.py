"""One agent's answer to a turn: call the agent, translate its events, contain failures, and update the conversation."""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from typing import Any

import msgspec
from msgspec.structs import replace

from a2a_hub.a2a import reply
from a2a_hub.a2a.agent import TryLater
from a2a_hub.a2a.client_errors import ClientFault
from a2a_hub.a2a.declining import declines
from a2a_hub.a2a.extensions import memory
from a2a_hub.a2a.extensions.development_tool import URI as DEVELOPMENT_TOOL
from a2a_hub.a2a.extensions.tool_confirmation import TOOL_TEXTS
from a2a_hub.a2a.extensions.tool_updates import PendingTools
from a2a_hub.a2a.model import Event, Message, TaskState
from a2a_hub.a2a.reply import Data, Piece, Question, Rejection, Text
from a2a_hub.routing.routes import Route, may_use
from a2a_hub.tasks.task_resolution import CONTINUES_WITH
from a2a_hub.telemetry import audit, tracing
from a2a_hub.telemetry.log import Log
from a2a_hub.telemetry.outcome import Outcome
from a2a_hub.text import citations
from a2a_hub.text.follow_up import is_small_talk
from a2a_hub.text.language import Language
from functions.hub import texts
from functions.hub.conversations import CONVERSATION, EXECUTES, REPEATS, RUNNING, Conversation
from functions.hub.downstream.event_translator import EventTranslator, TranslatedEvent
from functions.hub.downstream.interface import AgentRequest
from functions.hub.downstream.mirror import is_mirrored
from functions.hub.failure import DownstreamFailed, Failure, FailureKind, failure_of
from functions.hub.fallbacks import AgentSkipped, Declined
from functions.hub.texts import HUB_TEXTS
from functions.hub.tool_approval import Decision, approves, decided_in, decision_of, question_text
from functions.hub.turn import TurnRecord

# The number of broken-off answers after which a turn fails: the agent may have done the work each time.
_MAX_REPEATS = 5
_UNSUCCESSFUL = frozenset({TaskState.FAILED, TaskState.CANCELED})

Ask = Callable[[AgentRequest], Generator[Event]]
"""The call of an agent: the events of its answer to a request."""


class AgentAnswer:
    """The answer of `route`'s agent to a turn. `now` gives seconds since the epoch."""

    def __init__(self, turn: TurnRecord, route: Route, *, log: Log, now: Callable[[], float]) -> None:
        self._turn = turn
        self._route = route
        self._record = turn.incoming.call.record
        self._log = log
        self._now = now
        self._is_remembered = False
        self._decision = _decision(turn, route)
        if self._decision.call_id is not None:
            self._record |= {"tool": self._decision.pending[0].tool, "allowed": self._decision.allows}
        conversation = turn.conversation
        same_route = conversation is not None and conversation.route_id == route.id
        self._state = dict(conversation.transport_state) if conversation and same_route else {}
        self._translator = EventTranslator(
            turn.language,
            questions=self._decision.pending,
            decided=self._decision.call_id,
            delivered=conversation.delivered_artifacts if conversation and same_route else {},
        )

    def events(self, ask: Ask, *, may_be_skipped: bool = False) -> Iterator[TranslatedEvent]:
        """Yield the events of the answer, or of its failure, and update the conversation. Raises Declined, AgentSkipped or
        TryLater if this is not the turn's answer.
        """
        is_answer = True
        try:
            yield from self._contained(ask, may_be_skipped=may_be_skipped)
        except (Declined, AgentSkipped, TryLater):
            is_answer = False
            raise
        finally:
            if is_answer and not (self._is_remembered and self._turn.failure is None):
                self._remember()

    def _contained(self, ask: Ask, *, may_be_skipped: bool) -> Iterator[TranslatedEvent]:
        turn, route, has_started = self._turn, self._route, False
        try:
            if not may_use(route, turn.incoming.call.principal):
                raise DownstreamFailed(failure_of("not_permitted", route))
            if self._decision.not_understood:
                yield None, (self._recorded(Question(""), again=True),)
                return
            self._audit_decision()
            self._claim_question()
            with closing(ask(_agent_request(turn, route, self._decision, self._state))) as events:
                for translated in self._translated(events):
                    has_started = True
                    yield translated
            yield from self._end()
        except Declined:
            raise
        except DownstreamFailed as failed:
            if may_be_skipped and not has_started and not failed.failure.concerns_turn:
                raise AgentSkipped(failed.failure) from None
            if retry := self._retry_later(failed.failure):
                raise retry from None
            yield None, (self._failed(failed.failure),)
        except Exception:
            self._log.exception("A turn failed inside the hub", self._record)
            yield None, (report_failure(failure_of("internal", route), turn, route, self._log),)

    def _audit_decision(self) -> None:
        """Write each decision on a tool call to the audit log before the agent gets it."""
        for call, option in decided_in(self._decision.message):
            question = next((each for each in self._decision.pending if each.call_id == call), None)
            audit.record(
                "decided",
                self._turn.incoming.call.principal,
                decision="approved" if approves(option, question) else "rejected",
                option=option,
                route=self._route.id,
                tool=question.tool if question else None,
                object=question.subject if question else None,
                call=call,
                request=self._turn.incoming.call.request_id,
            )

    def _translated(self, events: Iterable[Event]) -> Iterator[TranslatedEvent]:
        translator, late = self._translator, False
        for event in events:
            pieces = [self._recorded(piece) for piece in translator.translate(event)]
            if not late and self._decision.allows and translator.tools.decision_was_late:
                late = True
                pieces.insert(0, self._late_decision())
            if translator.surfaces:
                self._remember_surfaces()
            if translator.task_id is not None:
                self._turn.incoming.notes[RUNNING] = {"route": self._route.id, "task": translator.task_id}
            if isinstance(event, Message) or (translator.state is not None and translator.state.settled):
                # The client may send the next message as soon as it has read this event.
                self._remember()
                self._is_remembered = True
            else:
                self._is_remembered = False
            yield event, pieces

    def _end(self) -> Iterator[TranslatedEvent]:
        """Yield what the hub adds after the agent's last event. Raises DownstreamFailed for a task without success."""
        turn, translator = self._turn, self._translator
        rest = [self._recorded(piece) for piece in translator.finish()]
        if self._decision.call_id is not None and translator.state is None:
            rest.append(self._late_decision())
        if rest:
            yield None, rest
        if translator.state in _UNSUCCESSFUL or (translator.state is TaskState.REJECTED and not translator.has_text):
            raise DownstreamFailed(failure_of("ended_task", self._route, state=translator.state.name.lower()))
        if translator.state is TaskState.REJECTED:
            self._record["outcome"] = Outcome.DECLINED
            yield None, (Rejection(),)
        elif not translator.has_text or any(map(declines, turn.data)):
            self._record["outcome"] = Outcome.UNANSWERED
        if not translator.has_text:
            yield None, (self._recorded(Text(texts.agent_text(HUB_TEXTS.no_answer, self._route, turn.language))),)
        if turn.declined and not turn.data:
            yield None, (self._recorded(Data({})),)
        if turn.data:
            turn.citations = citations.citations_of(turn.data)
            yield None, (Text(citations.numbered_lines(turn.citations, turn.language)),)

    def _recorded(self, piece: Piece, *, again: bool = False) -> Piece:
        """Record the piece; a question without a text gets one."""
        if isinstance(piece, Question) and not piece.text:
            pending = self._translator.tools.questions
            if pending and not piece.auth:
                text = question_text(pending, self._route, self._turn.language, again=again)
            else:
                text = texts.agent_text(HUB_TEXTS.question, self._route, self._turn.language)
            piece = Question(text, auth=piece.auth)
        return self._turn.recorded(piece)

    def _late_decision(self) -> Piece:
        self._translator.end_paragraph()
        return self._turn.recorded(Text(texts.agent_text(TOOL_TEXTS.late, self._route, self._turn.language)))

    def _failed(self, failure: Failure) -> Piece:
        conversation, route = self._turn.conversation, self._route
        # The agent did not act on it: a task that waits for an answer still waits.
        task_id = conversation.task_of(route.id) if conversation and self._translator.state is None else None
        is_answer = conversation is not None and task_id is not None and task_id == conversation.waiting_task_id
        piece = report_failure(failure, self._turn, route, self._log, is_answer=is_answer)
        return Question(piece.text) if task_id and failure.kind is FailureKind.NOT_ACCEPTED else piece

    def _retry_later(self, failure: Failure) -> TryLater | None:
        """Return the next attempt of a turn without a waiting caller, if its agent is away and the route's retry time is not
        over.
        """
        task = self._turn.incoming.call.task
        until = task.retries_until if task else None
        seconds = failure.seconds_to_wait or 0.0
        if until is None or not failure.transient or self._now() + seconds >= until:
            return None
        if self._decision.pending and self._turn.incoming.call.for_ui:
            # A person's approval is for now and for one execution: it is not retried later.
            return None
        if failure.fault == ClientFault.CUT:
            notes = self._turn.incoming.notes
            notes[REPEATS] = repeats = notes.get(REPEATS, 0) + 1
            if repeats >= _MAX_REPEATS:
                return None
        tracing.add("a2a_hub.retries", 1, reason="away")
        text = texts.reason_text(failure, self._route, self._turn.language)
        return TryLater(text, seconds=seconds, cause=failure.cause, reason=failure.kind.name)

    def _claim_question(self) -> None:
        """Claim the pending question, so that no concurrent message of the conversation answers it, too."""
        memory, route = self._turn.memory, self._route
        seen = memory.conversation if memory else None
        if memory is not None and seen is not None and seen.waiting_task_id is not None and seen.route_id == route.id:
            taken = self._turn.conversation.task_of(route.id) if self._turn.conversation else None
            if taken == seen.waiting_task_id:
                memory.save(seen.after(route.id, open_task_id=seen.open_tasks.get(route.id)))

    def _remember_surfaces(self) -> None:
        """Record which agent made these surfaces before the turn ends: people may act on them at once."""
        turn, route, translator = self._turn, self._route, self._translator
        earlier = turn.conversation or Conversation(route_id=route.id)
        now = earlier.with_surfaces(translator.surfaces, route.id, translator.task_id)
        if now != earlier:
            turn.conversation = now
            assert turn.memory is not None, "it was opened before the route was chosen"
            turn.memory.save(now)

    def _remember(self) -> None:
        """Store the state that the next turn of the conversation and of the task needs."""
        turn, route, translator = self._turn, self._route, self._translator
        earlier = turn.conversation or Conversation(route_id=route.id)
        open_work = self._open_work(earlier)
        now = earlier.after(
            route.id,
            last_route_id=self._last_route_id(),
            context_id=translator.context_id,
            hub_context_id=turn.incoming.context.downstream,
            transport_state=self._state,
            delivered_artifacts=translator.delivered if any(open_work.values()) else None,
            memory=translator.memory,
            has_answer=not any(map(declines, turn.data)),
            **open_work,
        )
        assert turn.memory is not None, "it was opened before the route was chosen"
        turn.memory.save(now)
        if turn.incoming.call.task is not None:
            self._note(now)

    def _last_route_id(self) -> str:
        """Return the route for follow-ups of the next turn; small talk does not change it."""
        conversation = self._turn.conversation
        if conversation is not None and is_small_talk(self._turn.text):
            return conversation.route_id
        return self._route.id if self._route.sticky or self._route.follow_ups else ""

    def _open_work(self, earlier: Conversation) -> dict[str, Any]:
        """Return the agent's open work after this turn, as arguments of `Conversation.after`."""
        turn, translator, route_id = self._turn, self._translator, self._route.id
        if turn.failure is None and translator.state is not None and translator.state.interrupted:
            if translator.is_idle:
                return {"open_task_id": translator.task_id}
            questions = translator.tools.questions
            pending = PendingTools(language=turn.language, questions=questions) if questions else None
            return {"waiting_task_id": translator.task_id, "pending_tools": pending}
        did_nothing = translator.state is None and (turn.failure is not None or self._decision.call_id is None)
        if did_nothing and earlier.route_id == route_id:
            # As far as the hub knows, the agent's task still waits.
            return {
                "waiting_task_id": earlier.waiting_task_id,
                "pending_tools": earlier.pending_tools,
                "open_task_id": earlier.open_tasks.get(route_id),
            }
        return {}

    def _note(self, now: Conversation) -> None:
        """Store the conversation in the notes of the task, replacing the notes of the running turn."""
        notes, translator = self._turn.incoming.notes, self._translator
        for name in (RUNNING, EXECUTES, REPEATS):
            notes.pop(name, None)
        if translator.state is TaskState.COMPLETED and DEVELOPMENT_TOOL in self._route.extensions:
            # The next message for this task goes to the agent's task.
            now = replace(now, route_id=self._route.id, waiting_task_id=translator.task_id)
            notes[CONTINUES_WITH] = DEVELOPMENT_TOOL
        notes[CONVERSATION] = msgspec.to_builtins(now)


def report_failure(
    failure: Failure, turn: TurnRecord, route: Route | None, log: Log, *, is_answer: bool = False
) -> reply.Failure:
    """Record the failure in the turn and the log, and return its text for the caller. `route` is None if none was chosen.

    `is_answer` is True if the message answered a question and the agent still waits for that answer.
    """
    turn.failure, call = failure, turn.incoming.call
    # A caller who leaves is no failure.
    severity = "INFO" if failure.fault == ClientFault.CANCELLED else "WARNING"
    fields = {"outcome": failure.outcome, "fault": failure.fault, **failure.log_fields, "severity": severity}
    in_own_line = log.add(call.record, fields)
    if not in_own_line and failure.fault != ClientFault.CANCELLED:
        late = {**call.record, "taskId": call.task.id if call.task else None}
        log.line(late.pop("severity"), "A turn failed after its request was answered", **late)
    text = texts.failure_text(failure, route, language=turn.language, reference=call.request_id, is_answer=is_answer)
    turn.append_text(text, new_paragraph=True)
    return reply.Failure(
        text, reason=failure.kind.name, retryable=failure.retryable, retry_after_seconds=failure.seconds_to_wait
    )


def _decision(turn: TurnRecord, route: Route) -> Decision:
    """Return the turn's decision on a tool call. A reply such as "1" has no language of its own: the turn gets that of the
    question.
    """
    message, conversation = turn.incoming.message, turn.conversation
    pending = conversation.pending_tools if conversation and conversation.route_id == route.id else None
    if pending is None:
        return Decision(message=message)
    if is_mirrored(route, turn.incoming.call):
        # A program sends decisions as data; its text is not interpreted.
        return Decision(message=message, pending=pending.questions)
    decision = decision_of(message, turn.text, pending)
    if turn.language is Language.EN and decision.of_text:
        turn.language = pending.language
    return decision


def _agent_request(turn: TurnRecord, route: Route, decision: Decision, state: dict[str, Any]) -> AgentRequest:
    incoming, conversation = turn.incoming, turn.conversation
    context_id = task_id = None
    if conversation is not None:
        context_id = conversation.context_ids.get(route.id)
        task_id = conversation.task_of(route.id) or conversation.task_of_surface(incoming.acts_on, route.id)
    metadata = decision.message.metadata
    if memory.URI in route.extensions:
        # Only memory that the agent itself wrote: metadata is not screened, so a caller's text must not get in.
        kept = (
            {memory.URI: conversation.memories[route.id]} if conversation and route.id in conversation.memories else {}
        )
        others = {name: value for name, value in (metadata or {}).items() if name != memory.URI}
        metadata = {**others, **kept} or None
    # The downstream's ids instead of ours; messageId passes through unchanged.
    message = replace(
        decision.message,
        metadata=metadata,
        context_id=context_id or incoming.context.downstream,
        task_id=task_id,
        reference_task_ids=(),
    )
    decides = decision.call_id is not None
    running = incoming.notes.get(RUNNING)
    running_task_id = running["task"] if running and running["route"] == route.id else None
    return AgentRequest(
        call=incoming.call,
        message=message,
        streaming=incoming.streaming,
        running_task_id=running_task_id,
        decides=decides,
        development_tool=DEVELOPMENT_TOOL in incoming.extensions or (decides and bool(message.extensions)),
        executes=incoming.executes,
        state=state,
    )
