"""The hub's endpoints beside A2A: pages, `/tools/query` for programs, operators' activity, and running stored tasks."""

import time
from collections.abc import Collection
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from a2a_hub.a2a import errors, protojson
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.error_response import read_body
from a2a_hub.a2a.errors import A2AError, invalid_field
from a2a_hub.a2a.model import Binding, Message, Part, Role, Version
from a2a_hub.http.messages import JSON, Request, Response
from a2a_hub.identity.authentication import Caller
from a2a_hub.identity.principal import TASKS_FUNCTION, is_operator, may_call
from a2a_hub.routing.routes import may_use
from a2a_hub.runtime.function import front_page
from a2a_hub.runtime.ids import new_id
from a2a_hub.runtime.version import VERSION
from a2a_hub.task_store.store import LeaseLost, TaskEnded, TaskStore, Unavailable, UnfinishedTask
from a2a_hub.tasks.engine import TurnEngine
from a2a_hub.telemetry import audit
from a2a_hub.telemetry.log import Record, traceparent_of
from a2a_hub.telemetry.outcome import Outcome
from functions.hub import schemas
from functions.hub.doctor import require_operator
from functions.hub.downstream.event_translator import for_callers
from functions.hub.failure import Failure
from functions.hub.misses import DAYS, Misses
from functions.hub.pipeline import Pipeline
from functions.hub.route_tables import RouteTables
from functions.hub.turn import IncomingTurn, TurnRecord

S = TypeVar("S", bound=Struct)
TOOLS_PATH = "/tools/query"
ACTIVITY_PATH = "/activity"
RUN_PATH = "/internal/tasks:run"
_OPENAPI = Path(__file__).with_name("openapi.yaml")
_TOOLS_OPERATION = "tools/query"
_MAX_RUN_BYTES = 10_000
_MAX_TASKS = 100
_NO_TASKS = "Tasks cannot be reached at the moment"


class Pages(Struct, frozen=True):
    """The pages of the hub. None of them shows an agent's address."""

    tables: RouteTables
    commit: str

    def front(self, _: Request) -> Response:
        """Return the page at `/`."""
        return front_page(self.tables.current.card.name)

    def openapi(self, _: Request) -> Response:
        """Return the description of the hub's HTTP interface."""
        return Response(headers={"content-type": "application/yaml"}, body=_OPENAPI.read_bytes())

    def routes(self, _request: Request, caller: Caller, _record: Record) -> Response:
        """Return the routes that the caller may use."""
        usable = [route for route in self.tables.current.routes.values() if may_use(route, caller.principal)]
        return _json(schemas.Routes([_shown(schemas.Route, each, boundary=each.boundary.kind) for each in usable]))

    def version(self, _request: Request, _caller: Caller, _record: Record) -> Response:
        """Return the versions of the hub and of its protocols."""
        protocols = [version.value for version in Version]
        return _json(schemas.Version(version=VERSION, commit=self.commit, protocol_versions=protocols))


class Activity(Struct, frozen=True):
    """The endpoint at `ACTIVITY_PATH`: for operators, the unfinished work with its leases, and the misses of the last days.

    `store` is the task store, if there is one; `operators`: see `is_operator`.
    """

    store: TaskStore | None
    misses: Misses
    operators: Collection[str]

    def handle(self, request: Request, caller: Caller, record: Record) -> Response:
        """Return the activity. Raises PERMISSION_DENIED, UNAVAILABLE."""
        require_operator(caller, self.operators)
        audit.record("read", caller.principal, page=request.path, request=record["requestId"])
        limit = caller.principal.routes if caller.principal else None
        try:
            tasks = self.store.unfinished(limit=_MAX_TASKS) if self.store and limit is None else ()
            found = list(self.misses.counts())
        except Unavailable:
            raise A2AError(errors.UNAVAILABLE, _NO_TASKS) from None
        misses = [
            schemas.Miss(kind=miss.kind, route=miss.route, text=miss.text or None, count=count)
            for miss, count in found
            if limit is None or miss.route in limit
        ]
        return _json(schemas.Activity(tasks=[_unfinished(task) for task in tasks], misses=misses, days=DAYS))


class ToolsQuery(Struct, frozen=True):
    """The endpoint at `TOOLS_PATH`. `operators` are the email addresses of those who see causes and remedies, with account
    names.
    """

    pipeline: Pipeline
    max_body_bytes: int
    operators: Collection[str]

    def handle(self, request: Request, caller: Caller, record: Record) -> Response:
        """Return the answer. Raises A2AError."""
        if not may_call(_TOOLS_OPERATION, caller.principal):
            raise A2AError(errors.PERMISSION_DENIED, f"Your credential does not cover {_TOOLS_OPERATION}")
        incoming, is_dry = self._incoming(request, caller, record)
        turn, events = self.pipeline.start_turn(incoming)
        if is_dry:
            choice, passed_over = turn.choice, self.pipeline.passed_over(turn)
            why = {"rule": choice.rule, "words": choice.words} if choice else {}
            return _json(replace(_answer(turn, for_operator=False), passed_over=passed_over, **why))
        for _ in events:
            pass
        record.setdefault("outcome", Outcome.ANSWERED)
        return _json(_answer(turn, for_operator=is_operator(caller.principal, self.operators)))

    def _incoming(self, request: Request, caller: Caller, record: Record) -> tuple[IncomingTurn, bool]:
        """Return the turn, and True for a dry run."""
        if request.media_type not in ("", JSON):
            raise A2AError(errors.UNSUPPORTED_MEDIA_TYPE, "Send the body as Content-Type: application/json")
        value = protojson.as_object(protojson.decode(read_body(request, self.max_body_bytes)), "body")
        known = schemas.Query.__struct_encode_fields__
        for name in value:
            if name not in known:
                raise invalid_field(name[:60], f"is not known; known are {', '.join(known)}")
        query = protojson.read(schemas.Query, value)
        if not query.query.strip():
            raise invalid_field("query", "is required")
        metadata = {"document": query.document} if query.document else None
        call = Call(
            request_id=record["requestId"],
            principal=caller.principal,
            version=Version.V1_0,
            binding=Binding.HTTP_JSON,
            streaming=False,
            authorization=caller.authorization,
            traceparent=traceparent_of(request.headers),
            record=record,
            for_ui=True,
        )
        incoming = IncomingTurn(
            call=call,
            message=Message(message_id=new_id(), role=Role.USER, parts=(Part(text=query.query),), metadata=metadata),
            context=self.pipeline.conversations.ids_of(call.owner, query.context_id),
            skill=query.route,
            skill_field="route",
        )
        return incoming, bool(query.dry_run)


class _Run(Struct, frozen=True, rename="camel"):
    task_id: str
    seconds: float | None = None


_RUN = msgspec.json.Decoder(_Run)


class RunEndpoint(Struct, frozen=True):
    """The endpoint at `RUN_PATH`, for the `tasks` function only; 404 for others."""

    engine: TurnEngine

    def handle(self, request: Request, caller: Caller, record: Record) -> Response | None:
        """Run the task `taskId` to the end of its turn and return `{"state"}`, null if there was nothing to run.

        A turn that takes longer than the body's `seconds` is handed over, and the next request goes on with it. Raises A2AError.
        """
        if caller.principal is None or caller.principal.subject != TASKS_FUNCTION:
            return None
        if request.method != "POST":
            raise A2AError(errors.METHOD_NOT_ALLOWED, headers={"allow": "POST"})
        try:
            run = _RUN.decode(read_body(request, _MAX_RUN_BYTES))
        except msgspec.DecodeError as error:
            raise A2AError(errors.INVALID_PARAMS, str(error)) from None
        record["taskId"] = run.task_id
        until = None if run.seconds is None else time.time() + run.seconds
        try:
            state = self.engine.run(run.task_id, request_id=record["requestId"], record=record, until=until)
        except (LeaseLost, TaskEnded):
            state = None
        except Unavailable:
            raise A2AError(errors.UNAVAILABLE, _NO_TASKS) from None
        if state is None or state.settled:
            record.setdefault("outcome", Outcome.ANSWERED)
        return _json({"state": state})


def _json(value: object) -> Response:
    return Response(headers={"content-type": JSON}, body=protojson.encode(value))


def _shown(type_: type[S], value: Struct, **others: object) -> S:
    """Return the fields of a value that are shown, `others` in their places."""
    fields = {name: getattr(value, name) for name in type_.__struct_fields__ if name not in others}
    return type_(**fields, **others)


def _answer(turn: TurnRecord, *, for_operator: bool) -> schemas.Answer:
    route, failure = turn.route, turn.failure
    reason = turn.reason or (failure.cause if failure else "no text: nothing was asked")
    data = turn.data if for_operator else [for_callers(value) for value in turn.data]
    return schemas.Answer(
        route=route.id if route else None,
        reason=reason,
        agent=route.name if route else None,
        boundary=route.boundary.kind if route else None,
        answer=turn.answer,
        data=data[0] if len(data) == 1 else (data or None),
        citations=turn.citations,
        timings=schemas.Timings(routing_ms=turn.routing_ms, downstream_ms=turn.downstream_ms),
        error=_failure(failure, for_operator=for_operator) if failure else None,
        context_id=turn.incoming.context.context_id,
        request_id=turn.incoming.call.request_id,
    )


def _failure(failure: Failure, *, for_operator: bool) -> schemas.Failure:
    hidden = {} if for_operator else {"cause": None, "remedy": None}
    return _shown(schemas.Failure, failure, **hidden, retry_after_seconds=failure.seconds_to_wait)


def _unfinished(task: UnfinishedTask) -> schemas.UnfinishedTask:
    optional = {"role": task.role or None, "holder": task.holder or None, "lease_until": task.lease_until or None}
    return _shown(schemas.UnfinishedTask, task, **optional, state=task.state.name)
