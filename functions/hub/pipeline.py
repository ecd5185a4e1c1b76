"""The pipeline of a turn: canonical text → route → agent → pieces of the answer, with every failure contained."""

import time
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import closing
from functools import partial
from typing import NoReturn

from msgspec import Struct
from msgspec.structs import replace

from a2a_hub.a2a.agent import TryLater
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.errors import A2AError
from a2a_hub.a2a.model import Event, files_of, text_of
from a2a_hub.a2a.reply import Text
from a2a_hub.identity.principal import Principal
from a2a_hub.quota.limits import Quota, QuotaExceeded
from a2a_hub.quota.quotas import DAY_SECONDS, Quotas
from a2a_hub.routing.router import Choice, Rule
from a2a_hub.routing.routes import Route, may_use
from a2a_hub.telemetry import audit, tracing
from a2a_hub.telemetry.log import Log
from a2a_hub.telemetry.outcome import Outcome
from a2a_hub.telemetry.redaction import redacted
from a2a_hub.text.follow_up import asks_once_more
from a2a_hub.text.language import language_of
from functions.hub import fallbacks, texts
from functions.hub.agent_answer import AgentAnswer, Ask, report_failure
from functions.hub.conversations import CONVERSATION, RUNNING, Conversation, Conversations
from functions.hub.display import for_display
from functions.hub.downstream.event_translator import TranslatedEvent
from functions.hub.downstream.interface import AgentRequest, Downstream
from functions.hub.failure import DownstreamFailed, Failure, failure_of
from functions.hub.fallbacks import AgentSkipped, Declined, candidates, takes_files, unless_declined
from functions.hub.misses import Misses
from functions.hub.route_tables import ActiveTable, RouteTables
from functions.hub.turn import IncomingTurn, TurnRecord


class Pipeline(Struct, frozen=True, kw_only=True):
    """The pipeline of all turns, and the memory of their `conversations`.

    `link_hosts` are those that texts for user interfaces may link to. `clock` returns monotonic seconds, `now` those since the
    epoch. Thread-safe.
    """

    tables: RouteTables
    conversations: Conversations
    quotas: Quotas
    misses: Misses
    link_hosts: Collection[str] = ()
    log: Log
    clock: Callable[[], float]
    now: Callable[[], float] = time.time

    def start_turn(self, incoming: IncomingTurn) -> tuple[TurnRecord, Iterator[TranslatedEvent]]:
        """Choose the route and return the turn with its agent's events; the turn is complete when these are exhausted.

        Raises A2AError (INVALID_PARAMS) for a skill that no route of this caller has.
        """
        started = self.clock()
        call, text = incoming.call, text_of(incoming.message)
        turn = TurnRecord(incoming=incoming, text=text, language=language_of(text))
        if self.log.with_text:
            call.record["text"] = redacted(text)
        files = files_of(incoming.message)
        if not (text or files or incoming.acts_on) and (
            call.for_ui or all(part.text is not None for part in incoming.message.parts)
        ):
            return _without_text(turn, texts.EMPTY_MESSAGE)
        try:
            active, choice = self._choose(turn)
            before = turn.conversation.answered_by if turn.conversation else ""
            is_about_answer = choice.rule is Rule.FOLLOW_UP and asks_once_more(text)
            routes = candidates(choice, active.routes, call.principal, answered_by=None if is_about_answer else before)
            immediate = all(active.downstreams[route.id].immediate for route in routes)
        except A2AError:
            raise
        except Exception:
            self.log.exception("No route could be chosen", call.record)
            return turn, iter(((None, (report_failure(failure_of("unrouted", None), turn, None, self.log),)),))
        if not (text or incoming.acts_on) and call.for_ui and not takes_files(choice, files):
            return _without_text(turn, texts.files_alone_text(files))
        turn.choice, turn.route, turn.immediate = choice, choice.route, immediate
        turn.routing_ms = _milliseconds(self.clock() - started)
        self._record_route(turn)
        events = tracing.inside(call.traceparent, self._events(turn, routes, active))
        return turn, for_display(events, self.link_hosts) if call.for_ui else events

    def _choose(self, turn: TurnRecord) -> tuple[ActiveTable, Choice]:
        """Open the turn's conversation, and return the chosen route with the table it comes from."""
        incoming, active = turn.incoming, self.tables.current
        turn.memory = memory = self.conversations.open(incoming.call.owner, incoming.context)
        noted = Conversation.from_note(incoming.notes.get(CONVERSATION))
        turn.conversation = noted.merged_with(memory.conversation) if noted else memory.conversation
        with tracing.span("route", incoming.call.traceparent) as span:
            choice = active.choose(incoming, turn.text, turn.conversation)
            span.set({"a2a_hub.route": choice.route.id, "a2a_hub.rule": choice.rule})
        return active, choice

    def passed_over(self, turn: TurnRecord) -> dict[str, str]:
        """Return why other routes with matching rules were not chosen, by route id, for routes that the caller may use."""
        active = self.tables.current
        reasons = active.router.passed_over(turn.text) if turn.incoming.skill is None else {}
        return {
            each: why for each, why in reasons.items() if may_use(active.routes[each], turn.incoming.call.principal)
        }

    def starts_new_task(self, incoming: IncomingTurn) -> bool:
        """Return True if the message is for another agent than that of the idle task in the notes."""
        noted = Conversation.from_note(incoming.notes.get(CONVERSATION))
        if noted is None or noted.waiting_task_id is not None:
            return False
        latest = self.conversations.open(incoming.call.owner, incoming.context).conversation or noted
        try:
            choice = self.tables.current.choose(incoming, text_of(incoming.message), latest)
        except Exception:
            # The turn will raise the same error and report it.
            return False
        return choice.route.id != noted.route_id

    def cancel(self, call: Call) -> None:
        """See `Canceller.cancel`. The agent is notified if it has named its task."""
        assert call.task is not None, "a stored task is cancelled"
        notes, before = call.task.notes, call.task.before
        context = self.conversations.ids_of(call.owner, before.context_id if before else None)
        self.conversations.forget_waiting(call.owner, context)
        conversation = Conversation.from_note(notes.get(CONVERSATION))
        waiting = conversation.task_of(conversation.route_id) if conversation else None
        running = notes.get(RUNNING)
        if isinstance(running, dict):
            route_id, task_id = running["route"], running["task"]
        elif conversation is not None and waiting is not None:
            route_id, task_id = conversation.route_id, waiting
        else:
            return
        downstream = self.tables.current.downstreams.get(route_id)
        if downstream is not None:
            downstream.cancel(task_id, call)

    def _record_route(self, turn: TurnRecord) -> None:
        choice, route, call = turn.choice, turn.route, turn.incoming.call
        assert choice is not None, "a route was chosen"
        assert route is not None, "a route was chosen"
        reason = redacted(choice.reason) if self.log.with_text else choice.reason_without_text
        fields = {
            "route": route.id,
            "rule": choice.rule,
            "reason": reason + fallbacks.steps(turn.declined, route),
            "agent": route.name,
            "conversation": turn.incoming.context.downstream,
            **({"declined": turn.declined} if turn.declined else {}),
            **({"kind": turn.kind} if turn.kind == "document" else {}),
        }
        call.record.update(fields)

    def _events(self, turn: TurnRecord, routes: tuple[Route, ...], active: ActiveTable) -> Iterator[TranslatedEvent]:
        """Yield the events of the first agent that does not decline, else of the agent that declined with the best reason."""
        assert turn.choice is not None, "a route was chosen"
        started = self.clock()
        by_default = turn.choice.rule is Rule.DEFAULT and len(routes) > 1
        declined: dict[str, Declined] = {}
        failures: dict[str, Failure] = {}
        may_decline = len(routes) > 1
        is_over = True
        try:
            for number, route in enumerate(routes):
                turn.route = route
                ask = partial(self._agent_events, turn, route, active.downstreams[route.id], by_default, may_decline)
                try:
                    answer = AgentAnswer(turn, route, log=self.log, now=self.now)
                    yield from answer.events(ask, may_be_skipped=by_default or number > 0)
                    return
                except Declined as reply:
                    declined[route.id] = reply
                    reason = reply.reason.value
                except AgentSkipped as failed:
                    reason = "failed"
                    failures[route.id] = failed.failure
                    turn.incoming.call.record.update(severity="WARNING", **failed.failure.log_fields)
                turn.declined = [*turn.declined, {"route": route.id, "agent": route.name, "reason": reason}]
            turn.route = (
                routes[0]
                if routes[0].id in failures
                else active.routes[min(declined, key=lambda id_: declined[id_].rank)]
            )
            failure = failures.get(turn.route.id)
            answer = AgentAnswer(turn, turn.route, log=self.log, now=self.now)
            yield from answer.events(_failing(failure) if failure else _repeated(declined[turn.route.id]))
        except TryLater:
            is_over = False
            raise
        finally:
            turn.downstream_ms = _milliseconds(self.clock() - started)
            if is_over:
                self._complete(turn)

    def _complete(self, turn: TurnRecord) -> None:
        """Record the outcome of the turn in the logs, the misses, and the memory for ratings."""
        incoming, call, route = turn.incoming, turn.incoming.call, turn.route
        assert turn.choice is not None, "a route was chosen"
        assert route is not None, "an agent was asked"
        call.record["downstreamMs"] = turn.downstream_ms
        if turn.declined or route is not turn.choice.route:
            self._record_route(turn)
        self.conversations.note_turn(call.owner, incoming.context, call.request_id, route.id)
        self.misses.note(turn, call.record.get("outcome"))
        audit.record(
            "asked",
            call.principal,
            kind=turn.kind,
            route=route.id,
            outcome=call.record.get("outcome", Outcome.ANSWERED),
            request=call.request_id,
            task=call.task.id if call.task else None,
        )

    def _agent_events(
        self,
        turn: TurnRecord,
        route: Route,
        downstream: Downstream,
        by_default: bool,
        may_decline: bool,
        agent_request: AgentRequest,
    ) -> Generator[Event]:
        turn.downstream = downstream
        end = _begin_turn(self.quotas, route, turn.incoming.call.principal)
        try:
            with closing(downstream.ask(agent_request)) as events:  # type: ignore[type-var]
                yield from unless_declined(events, by_default=by_default) if may_decline else events
        finally:
            end()


def _begin_turn(quotas: Quotas, route: Route, principal: Principal | None) -> Callable[[], None]:
    """Count a turn, as running until the returned function is called. Raises DownstreamFailed if a quota is exceeded."""
    subject = f"route:{route.id}"
    try:
        if route.model_calls_per_day:
            quotas.count_model_call(principal)
        quotas.count(Quota.MODEL_CALLS, subject, route.model_calls_per_day, seconds=DAY_SECONDS)
        quotas.count(Quota.REQUESTS, subject, route.turns_per_minute)
        return quotas.hold(Quota.TURNS, subject, route.concurrent_turns)
    except QuotaExceeded as exceeded:
        failure = failure_of("quota", route, quota=exceeded.quota, seconds=exceeded.seconds)
        raise DownstreamFailed(replace(failure, seconds_to_wait=exceeded.seconds)) from None


def _without_text(turn: TurnRecord, text: str) -> tuple[TurnRecord, Iterator[TranslatedEvent]]:
    turn.incoming.call.record.update(outcome=Outcome.REFUSED, fault="no_text")
    turn.append_text(text)
    return turn, iter(((None, (Text(text),)),))


def _repeated(declined: Declined) -> Ask:
    def ask(_: AgentRequest) -> Generator[Event]:
        yield from declined.events

    return ask


def _failing(failure: Failure) -> Ask:
    def ask(_: AgentRequest) -> NoReturn:
        raise DownstreamFailed(failure)

    return ask


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 3)
