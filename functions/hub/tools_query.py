"""POST /tools/query: one question, answered with everything that a user interface does not get. Errors are RFC 9457 problems."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from a2a_hub.a2a import errors, protojson
from a2a_hub.a2a.error_response import read_body
from a2a_hub.a2a.errors import A2AError, invalid_field
from a2a_hub.a2a.model import Message, Part, Role
from a2a_hub.http.messages import JSON, Request, Response
from a2a_hub.identity.authentication import Caller
from a2a_hub.identity.principal import is_operator, may_call
from a2a_hub.runtime.ids import new_id
from a2a_hub.telemetry.log import Record, traceparent_of
from functions.hub.conversations import ids_of
from functions.hub.downstream.event_translator import for_callers
from functions.hub.failure import Failure
from functions.hub.pipeline import IncomingTurn, Pipeline, Turn

PATH = "/tools/query"
OPERATION = "tools/query"
_FIELDS = ("query", "contextId", "route")


class ToolsQuery:
    """The endpoint at `PATH`. `operators` are emails whose owners see causes and remedies, which name accounts and settings."""

    def __init__(self, pipeline: Pipeline, *, max_body_bytes: int, operators: Collection[str]) -> None:
        self._pipeline = pipeline
        self._max_body_bytes = max_body_bytes
        self._operators = operators

    def handle(self, request: Request, caller: Caller, record: Record) -> Response:
        """Return the answer. Raises A2AError."""
        if not may_call(OPERATION, caller.principal):
            raise A2AError(errors.PERMISSION_DENIED, f"Your credential does not cover {OPERATION}")
        incoming = self._incoming(request, caller, record)
        turn, events = self._pipeline.start_turn(incoming, record)
        for _ in events:
            pass
        record.setdefault("outcome", "ok")
        answer = _answer(turn, for_operator=is_operator(caller.principal, self._operators))
        return Response(headers={"content-type": JSON}, body=protojson.encode(answer))

    def _incoming(self, request: Request, caller: Caller, record: Record) -> IncomingTurn:
        if request.media_type not in ("", JSON):
            raise A2AError(errors.UNSUPPORTED_MEDIA_TYPE, "Send the body as Content-Type: application/json")
        value = protojson.decode(read_body(request, self._max_body_bytes))
        if not isinstance(value, dict):
            raise invalid_field("body", "must be an object")
        for name in value:
            if name not in _FIELDS:
                raise invalid_field(name[:60], f"is not known; known are {', '.join(_FIELDS)}")
        query = _text(value, "query")
        if query is None or not query.strip():
            raise invalid_field("query", "is required")
        owner = caller.principal.subject if caller.principal else ""
        context_id, downstream_context_id = ids_of(owner, _text(value, "contextId") or None)
        return IncomingTurn(
            message=Message(message_id=new_id(), role=Role.USER, parts=(Part(text=query),)),
            skill=_text(value, "route"),
            skill_field="route",
            owner=owner,
            principal=caller.principal,
            context_id=context_id,
            downstream_context_id=downstream_context_id,
            streaming=False,
            request_id=record["requestId"],
            authorization=caller.authorization,
            traceparent=traceparent_of(request.headers),
        )


def _text(value: dict[str, Any], name: str) -> str | None:
    text = value.get(name)
    if text is not None and not isinstance(text, str):
        raise invalid_field(name, "must be a string")
    return text


def _answer(turn: Turn, *, for_operator: bool) -> dict[str, Any]:
    choice = turn.choice
    data = turn.data if for_operator else [for_callers(value) for value in turn.data]
    return {
        "route": choice.route.id if choice else None,
        "reason": choice.reason if choice else _reason_without_route(turn),
        "agent": choice.route.name if choice else None,
        "boundary": choice.route.boundary.kind if choice else None,
        "answer": turn.answer,
        "data": data[0] if len(data) == 1 else (data or None),
        "citations": turn.citations,
        "timings": {"routingMs": turn.routing_ms, "downstreamMs": turn.downstream_ms},
        "error": _failure(turn.failure, for_operator=for_operator) if turn.failure else None,
        "contextId": turn.incoming.context_id,
        "requestId": turn.incoming.request_id,
    }


def _reason_without_route(turn: Turn) -> str:
    return turn.failure.cause if turn.failure else "no text: nothing was asked"


def _failure(failure: Failure, *, for_operator: bool) -> dict[str, Any]:
    values = {
        "kind": failure.kind.value,
        "fault": failure.fault,
        "cause": failure.cause if for_operator else None,
        "remedy": failure.remedy if for_operator else None,
        "httpStatus": failure.http_status,
        "retryAfterSeconds": failure.seconds_to_wait,
    }
    return {name: value for name, value in values.items() if value is not None}
