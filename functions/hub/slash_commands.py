"""Slash commands of the agents behind the hub: `commands/get` and `command/execute` of the `development-tool` extension."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from msgspec.structs import replace

from a2a_hub.a2a.agent import Sending
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.errors import INVALID_PARAMS, UNAVAILABLE, A2AError, invalid_field
from a2a_hub.a2a.extensions import slash_commands
from a2a_hub.a2a.extensions.development_tool import (
    URI,
    CommandExecutionStatus,
    ExecuteSlashCommandRequest,
    ExecuteSlashCommandResponse,
    GetAllSlashCommandsRequest,
    GetAllSlashCommandsResponse,
    SlashCommand,
)
from a2a_hub.routing.routes import Route, may_use
from a2a_hub.telemetry.log import Log
from a2a_hub.text.language import Language, language_of
from functions.hub import slash_command_texts
from functions.hub.downstream.interface import CallContext, ExecutionReply
from functions.hub.execution import notes_of
from functions.hub.failure import DownstreamFailed, Failure, internal
from functions.hub.tables import Served
from functions.hub.texts import failure_text

_LIST_SECONDS = 10.0
# A person who asks for help waits for no agent that hangs.
_HELP_SECONDS = 2.0
Listed = Sequence[SlashCommand] | Failure


class SlashCommands:
    """See `DevelopmentTool`. `served` gives the table in use, `sending` starts tasks, where tasks are kept."""

    def __init__(
        self,
        served: Callable[[], Served],
        *,
        sending: Sending | None,
        log: Log,
        new_id: Callable[[], str],
    ) -> None:
        self._served = served
        self._sending = sending
        self._log = log
        self._new_id = new_id

    def commands(self, request: GetAllSlashCommandsRequest, call: Call) -> GetAllSlashCommandsResponse:
        """Those of all agents that the caller may use, in the order of the table; of two with one name the first.

        An agent that fails is left out. Raises A2AError: all fail, or `metadata.skill` names none of them.
        """
        served = self._served()
        routes = _routes(served, request.metadata, call)
        listed = self._listed(served, routes, request, call)
        failures = [(route, each) for route, each in listed if isinstance(each, Failure)]
        if failures and len(failures) == len(routes):
            route, failure = failures[0]
            call.record.update(severity="WARNING", cause=failure.cause)
            text = failure_text(failure, route, language=Language.EN, reference=call.request_id)
            raise A2AError(UNAVAILABLE, text)
        return GetAllSlashCommandsResponse(commands=_first_of_each_name(listed))

    def to_type(self, call: Call) -> Sequence[SlashCommand]:
        """Those for a person to type; an agent that cannot be asked has none."""
        served = self._served()
        routes = _routes(served, None, call)
        return _first_of_each_name(
            self._listed(served, routes, GetAllSlashCommandsRequest(), call, within_seconds=_HELP_SECONDS)
        )

    def execute(self, request: ExecuteSlashCommandRequest, call: Call) -> ExecuteSlashCommandResponse:
        """The command is executed by the agent that `metadata.skill` names, else by the first that offers it, and followed there
        by a task of the hub's. Whatever goes wrong before is told in FAILED_TO_START, but for what the agent does not accept in
        the request itself (INVALID_PARAMS). Raises A2AError.
        """
        sending = slash_commands.require_sending(self._sending, call)
        served = self._served()
        language = language_of(slash_commands.command_line(request))
        route = self._chosen(served, request, call, language)
        if isinstance(route, ExecuteSlashCommandResponse):
            return route
        call.record.update(route=route.id, agent=route.name)
        asked = replace(request, metadata=_without_skill(request.metadata))
        try:
            executed = served.downstreams[route.id].execute(asked, _calling(call))
        except Exception as error:
            failure = self._failure(error, route, call)
            if failure.fields:
                raise self._not_accepted(failure, route, call) from None
            return self._not_started(failure, route, call, language)
        if executed.refusal is not None:
            call.record["outcome"] = "not_started"
            reason = executed.refusal or slash_command_texts.refused(route, request, language)
            return slash_commands.not_started(reason)
        return self._followed(served, route, request, executed, call, sending)

    def _followed(
        self,
        served: Served,
        route: Route,
        request: ExecuteSlashCommandRequest,
        executed: ExecutionReply,
        call: Call,
        sending: Sending,
    ) -> ExecuteSlashCommandResponse:
        turn = replace(request, metadata={**(request.metadata or {}), "skill": route.id})
        try:
            response = slash_commands.start_execution(
                turn, call, sending, new_id=self._new_id, notes=notes_of(route, executed)
            )
        except Exception:
            if executed.task_id:
                # Nobody would ever see what it does.
                served.downstreams[route.id].cancel(
                    executed.task_id, authorization=call.authorization, traceparent=call.traceparent
                )
            raise
        status = executed.status or CommandExecutionStatus.STARTED
        return replace(response, status=status, message=executed.message)

    def _chosen(
        self, served: Served, request: ExecuteSlashCommandRequest, call: Call, language: Language
    ) -> Route | ExecuteSlashCommandResponse:
        """The route whose agent executes the command, or the answer that there is none."""
        routes = _routes(served, request.metadata, call)
        if len(routes) == 1:
            return routes[0]
        listed = self._listed(served, routes, GetAllSlashCommandsRequest(), call)
        known: dict[str, Route] = {}
        for route, each in listed:
            for command in () if isinstance(each, Failure) else each:
                known.setdefault(command.name, route)
        found = known.get(request.command_path[0])
        if found is not None:
            return found
        for route, each in listed:
            if isinstance(each, Failure):
                # The command may be that agent's.
                return self._not_started(each, route, call, language)
        call.record["outcome"] = "no_command"
        return slash_commands.not_started(slash_command_texts.unknown(request, tuple(known), language))

    def _listed(
        self,
        served: Served,
        routes: Sequence[Route],
        request: GetAllSlashCommandsRequest,
        call: Call,
        *,
        within_seconds: float = _LIST_SECONDS,
    ) -> list[tuple[Route, Listed]]:
        """What each agent has, or why it did not say; all are asked at once."""
        calling = _calling(call, within_seconds=within_seconds)
        asked = replace(request, metadata=_without_skill(request.metadata))

        def one(route: Route) -> Listed:
            try:
                return served.downstreams[route.id].commands(asked, calling)
            except Exception as error:
                failure = self._failure(error, route, call)
                self._left_out(route, failure, call)
                return failure

        if len(routes) < 2:
            return [(route, one(route)) for route in routes]
        with ThreadPoolExecutor(len(routes), thread_name_prefix="commands") as pool:
            return list(zip(routes, pool.map(one, routes), strict=True))

    def _failure(self, error: Exception, route: Route, call: Call) -> Failure:
        if isinstance(error, DownstreamFailed):
            return error.failure
        self._log.exception("A slash command failed inside the hub", call.record)
        return internal(route)

    def _left_out(self, route: Route, failure: Failure, call: Call) -> None:
        self._log.line(
            "WARNING",
            "An agent's slash commands could not be listed",
            requestId=call.request_id,
            route=route.id,
            outcome=failure.fault,
            cause=failure.cause,
            **({"remedy": failure.remedy} if failure.remedy else {}),
        )

    def _not_accepted(self, failure: Failure, route: Route, call: Call) -> A2AError:
        call.record.update(severity="WARNING", cause=failure.cause)
        text = failure_text(failure, route, language=Language.EN, reference=call.request_id)
        fields = tuple((field, "is not accepted by the agent") for field in failure.fields)
        return A2AError(INVALID_PARAMS, text, fields=fields)

    def _not_started(
        self, failure: Failure, route: Route, call: Call, language: Language
    ) -> ExecuteSlashCommandResponse:
        call.record.update(severity="WARNING", outcome=failure.fault, cause=failure.cause)
        if failure.remedy:
            call.record["remedy"] = failure.remedy
        return slash_commands.not_started(
            failure_text(failure, route, language=language, reference=call.request_id)
        )


def _first_of_each_name(listed: Sequence[tuple[Route, Listed]]) -> tuple[SlashCommand, ...]:
    first: dict[str, SlashCommand] = {}
    for _, each in listed:
        for command in () if isinstance(each, Failure) else each:
            first.setdefault(command.name, command)
    return tuple(first.values())


def _calling(call: Call, *, within_seconds: float | None = None) -> CallContext:
    return CallContext(
        authorization=call.authorization, traceparent=call.traceparent, within_seconds=within_seconds
    )


def _routes(served: Served, metadata: dict[str, object] | None, call: Call) -> Sequence[Route]:
    """Those whose agents have slash commands, as far as the caller may use them. Raises INVALID_PARAMS for an unknown skill."""
    routes = [
        route
        for route in served.settings.table.routes
        if route.passes_tasks and URI in route.extensions and may_use(route, call.principal)
    ]
    skill = (metadata or {}).get("skill")
    if skill is None:
        return routes
    named = [route for route in routes if route.id == skill]
    if not named:
        known = ", ".join(route.id for route in routes) or "none that you may use"
        raise invalid_field("metadata.skill", f"is unknown; with slash commands there are: {known}")
    return named


def _without_skill(metadata: dict[str, object] | None) -> dict[str, object] | None:
    """The skill is the hub's word for the agent, who need not know it."""
    kept = {name: value for name, value in (metadata or {}).items() if name != "skill"}
    return kept or None
