"""A turn's way through the hub: canonical text → route → agent → pieces of answer, with every failure contained (design §3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing

from functions.hub import citations, texts
from functions.hub.choosing import choose
from functions.hub.containment import failed_task, internal, not_permitted
from functions.hub.conversations import Conversation, Conversations
from functions.hub.downstream import Asking, Downstream, addressed
from functions.hub.failure import DownstreamFailed, Failure
from functions.hub.listening import Listener
from functions.hub.router import Router
from functions.hub.turn import Incoming, Turn
from shared.a2a import reply
from shared.a2a.client import ClientFault
from shared.a2a.model import TaskState
from shared.a2a.reply import Data, Piece, Question, Text
from shared.a2a.text import text_of
from shared.access import may_use
from shared.language import language_of
from shared.log import Log, Record
from shared.routes import Route

_UNSUCCESSFUL = frozenset({TaskState.FAILED, TaskState.CANCELED})


class Pipeline:
    """Runs turns. `clock` gives seconds that never go back. Thread-safe."""

    def __init__(
        self,
        *,
        router: Router,
        downstreams: Mapping[str, Downstream],
        routes: Mapping[str, Route],
        conversations: Conversations,
        log: Log,
        clock: Callable[[], float],
    ) -> None:
        self._router = router
        self._downstreams = downstreams
        self._routes = routes
        self._conversations = conversations
        self._log = log
        self._clock = clock

    def begin(self, incoming: Incoming, record: Record) -> tuple[Turn, Iterator[Piece]]:
        """Chooses the route; the pieces that come with it do the rest as they are taken.

        Raises A2AError (INVALID_PARAMS) for a skill that no route of this caller has.
        """
        started = self._clock()
        text = text_of(incoming.message)
        turn = Turn(incoming=incoming, text=text, language=language_of(text), choice=None)
        if self._log.with_text:
            record["text"] = text
        if not text:
            record["outcome"] = "no_text"
            turn.answer = texts.empty_message_text()
            return turn, iter((Text(turn.answer),))
        conversation = self._conversations.get(incoming.owner, incoming.downstream_context_id)
        choice = turn.choice = choose(text, incoming, conversation, router=self._router, routes=self._routes)
        turn.routing_ms = _milliseconds(self._clock() - started)
        record |= {"route": choice.route.id, "reason": choice.reason, "agent": choice.route.name}
        return turn, self._pieces(turn, choice.route, conversation, record)

    def _pieces(
        self, turn: Turn, route: Route, conversation: Conversation | None, record: Record
    ) -> Iterator[Piece]:
        started = self._clock()
        listener = Listener()
        try:
            if not may_use(route, turn.incoming.principal):
                raise DownstreamFailed(not_permitted(route))
            asking = self._asking(turn, route, conversation)
            with closing(self._downstreams[route.id].ask(asking)) as events:  # type: ignore[type-var]
                for event in events:
                    for piece in listener.hear(event):
                        if piece == Question(""):
                            piece = Question(texts.question_text(route, turn.language))
                        yield _noted(piece, turn)
            for piece in listener.finish():
                yield _noted(piece, turn)
            if listener.state in _UNSUCCESSFUL or (
                listener.state is TaskState.REJECTED and not listener.spoken
            ):
                raise DownstreamFailed(failed_task(route, listener.state.name.lower()))
            if not listener.spoken:
                yield _noted(Text(texts.no_answer_text(route, turn.language)), turn)
            turn.citations = citations.citations_of(turn.data)
            yield Text(citations.numbered_lines(turn.citations, turn.language))
        except DownstreamFailed as failed:
            yield self._failed(turn, route, failed.failure, record)
        except Exception:
            self._log.exception("A turn failed inside the hub", record)
            yield self._failed(turn, route, internal(route), record)
        finally:
            turn.downstream_ms = _milliseconds(self._clock() - started)
            record["downstreamMs"] = turn.downstream_ms
            self._remember(turn, route, conversation, listener)

    def _asking(self, turn: Turn, route: Route, conversation: Conversation | None) -> Asking:
        incoming = turn.incoming
        context_id = task_id = None
        if conversation is not None:
            context_id = conversation.context_ids.get(route.id)
            task_id = conversation.waiting_task_id if conversation.route_id == route.id else None
        message = addressed(
            incoming.message, context_id=context_id or incoming.downstream_context_id, task_id=task_id
        )
        return Asking(
            message=message,
            streaming=incoming.streaming,
            authorization=incoming.authorization,
            traceparent=incoming.traceparent,
            cancellation=incoming.cancellation,
        )

    def _failed(self, turn: Turn, route: Route, failure: Failure, record: Record) -> Piece:
        turn.failure = failure
        # Leaving is the caller's good right.
        severity = "INFO" if failure.fault == ClientFault.CANCELLED else "WARNING"
        record |= {"severity": severity, "outcome": failure.fault, "cause": failure.cause}
        if failure.remedy:
            record["remedy"] = failure.remedy
        text = texts.failure_text(failure, route, language=turn.language, reference=turn.incoming.request_id)
        turn.answer = f"{turn.answer}\n\n{text}" if turn.answer else text
        return reply.Failure(text)

    def _remember(
        self, turn: Turn, route: Route, conversation: Conversation | None, listener: Listener
    ) -> None:
        earlier = conversation or Conversation(route_id=route.id)
        waiting_task_id = None
        if turn.failure is None and listener.state is not None and listener.state.interrupted:
            waiting_task_id = listener.task_id
        elif listener.state is None and earlier.route_id == route.id:
            # The agent said nothing: as far as the hub can know, its task still waits.
            waiting_task_id = earlier.waiting_task_id
        self._conversations.put(
            turn.incoming.owner,
            turn.incoming.downstream_context_id,
            earlier.after(route.id, context_id=listener.context_id, waiting_task_id=waiting_task_id),
        )


def _noted(piece: Piece, turn: Turn) -> Piece:
    match piece:
        case Text(text):
            turn.answer += text
        case Question(text):
            turn.answer = f"{turn.answer}\n\n{text}" if turn.answer else text
        case Data(value):
            turn.data.append(value)
    return piece


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 3)
