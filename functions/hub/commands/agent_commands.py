"""Slash commands of the agents behind the hub: `commands/get` and `command/execute` of the `development-tool` extension."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from a2a_hub.a2a.agent import MessageOperations
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.errors import INVALID_PARAMS, UNAVAILABLE, A2AError, invalid_field
from a2a_hub.a2a.extensions import slash_commands
from a2a_hub.a2a.extensions.development_tool import (
    URI,
    CommandExecutionStatus,
    DevelopmentToolEventKind,
    ExecuteSlashCommandRequest,
    ExecuteSlashCommandResponse,
    GetAllSlashCommandsRequest,
    GetAllSlashCommandsResponse,
    SlashCommand,
)
from a2a_hub.a2a.model import Event, Part, Task, TaskState, TaskStatus
from a2a_hub.a2a.reply import agent_message
from a2a_hub.routing.routes import Route, may_use
from a2a_hub.runtime.ids import timestamp
from a2a_hub.telemetry import audit
from a2a_hub.telemetry.log import Log
from a2a_hub.telemetry.outcome import Outcome
from a2a_hub.text.language import Language, language_of
from functions.hub.commands import texts
from functions.hub.commands.texts import COMMAND_TEXTS
from functions.hub.conversations import EXECUTES, RUNNING
from functions.hub.downstream.history_replay import update_of
from functions.hub.downstream.interface import ExecutionReply
from functions.hub.failure import DownstreamFailed, Failure, failure_of
from functions.hub.route_tables import ActiveTable, RouteTables
from functions.hub.texts import agent_text, failure_text

_LIST_SECONDS = 10.0
# /help does not wait for an agent that hangs.
_HELP_SECONDS = 2.0
_RESULT = "result"
CommandsOrFailure = Sequence[SlashCommand] | Failure


class AgentCommands(Struct, frozen=True):
    """The slash commands that the agents of the table in use offer; see `slash_commands.SlashCommands`."""

    tables: RouteTables
    log: Log

    def commands(self, request: GetAllSlashCommandsRequest, call: Call) -> GetAllSlashCommandsResponse:
        """Return the commands of all agents that the caller may use, in the table's order; the first, if two share a name.

        An agent that fails is left out. Raises A2AError if all fail, or if `metadata.skill` names none of them.
        """
        listed = self._listed(self.tables.current, request, call)
        failures = [(route, each) for route, each in listed if isinstance(each, Failure)]
        if failures and len(failures) == len(listed):
            route, failure = failures[0]
            call.record.update(severity="WARNING", cause=failure.cause)
            text = failure_text(failure, route, language=Language.EN, reference=call.request_id)
            raise A2AError(UNAVAILABLE, text)
        commands = tuple(command for _, command in _first_of_each_name(listed).values())
        return GetAllSlashCommandsResponse(commands=commands)

    def for_people(self, call: Call) -> Sequence[SlashCommand]:
        """Return the commands that the caller may type; an agent that fails or is slow has none."""
        listed = self._listed(self.tables.current, GetAllSlashCommandsRequest(), call, seconds=_HELP_SECONDS)
        return [command for _, command in _first_of_each_name(listed).values()]

    def _listed(
        self, active: ActiveTable, request: GetAllSlashCommandsRequest, call: Call, *, seconds: float = _LIST_SECONDS
    ) -> list[tuple[Route, CommandsOrFailure]]:
        """Return the commands of each agent, or its failure. All requests run at once."""
        routes = _routes_with_commands(active, request.metadata, call)
        passed = replace(request, metadata=_without_skill(request.metadata))

        def list_commands(route: Route) -> CommandsOrFailure:
            try:
                return active.downstreams[route.id].commands(passed, call, seconds=seconds)
            except Exception as error:
                failure = self._failure_of(error, route, call)
                self.log.line(
                    "WARNING",
                    "An agent's slash commands could not be listed",
                    requestId=call.request_id,
                    route=route.id,
                    outcome=failure.outcome,
                    fault=failure.fault,
                    **failure.log_fields,
                )
                return failure

        with ThreadPoolExecutor(max(1, len(routes)), thread_name_prefix="commands") as pool:
            return list(zip(routes, pool.map(list_commands, routes), strict=True))

    def _failure_of(self, error: Exception, route: Route, call: Call) -> Failure:
        """Return the failure behind an exception; an unexpected exception goes to the log."""
        if isinstance(error, DownstreamFailed):
            return error.failure
        self.log.exception("A slash command failed inside the hub", call.record)
        return failure_of("internal", route)

    def execute(
        self, request: ExecuteSlashCommandRequest, call: Call, operations: MessageOperations
    ) -> ExecuteSlashCommandResponse:
        """Execute the command at the agent that `metadata.skill` names, else at the first that offers it.

        A task of the hub follows the execution. A command that does not start is answered with FAILED_TO_START, except where the
        agent does not accept a field of the request (INVALID_PARAMS). Raises A2AError.
        """
        active = self.tables.current
        language = language_of(slash_commands.command_line(request))
        route = self._route_for(active, request, call, language)
        if isinstance(route, ExecuteSlashCommandResponse):
            return route
        call.record.update(route=route.id, agent=route.name)
        command = " ".join(request.command_path)
        audit.record("executed", call.principal, command=command, route=route.id, request=call.request_id)
        passed = replace(request, metadata=_without_skill(request.metadata))
        try:
            execution = active.downstreams[route.id].execute(passed, call)
        except Exception as error:
            failure = self._failure_of(error, route, call)
            if failure.fields:
                raise _not_accepted(failure, route, call) from None
            return _not_started(failure, route, call, language)
        if execution.refusal is not None:
            call.record.update(outcome=Outcome.DECLINED, fault="not_started")
            reason = agent_text(COMMAND_TEXTS.refused, route, language, command=texts.typed(request))
            return slash_commands.not_started(execution.refusal or reason)
        turn = replace(request, metadata={**(request.metadata or {}), "skill": route.id})
        try:
            notes = _notes_of(route, execution)
            response = slash_commands.start_execution(turn, call, operations, notes=notes)
        except Exception:
            if execution.task_id:
                # Without a task of the hub, its result would reach nobody.
                active.downstreams[route.id].cancel(execution.task_id, call)
            raise
        status = execution.status or CommandExecutionStatus.STARTED
        return replace(response, status=status, message=execution.message)

    def _route_for(
        self, active: ActiveTable, request: ExecuteSlashCommandRequest, call: Call, language: Language
    ) -> Route | ExecuteSlashCommandResponse:
        routes = _routes_with_commands(active, request.metadata, call)
        if len(routes) == 1:
            return routes[0]
        listed = self._listed(active, GetAllSlashCommandsRequest(), call)
        known = _first_of_each_name(listed)
        if found := known.get(request.command_path[0]):
            return found[0]
        for route, each in listed:
            if isinstance(each, Failure):
                # The command may be that agent's.
                return _not_started(each, route, call, language)
        call.record.update(outcome=Outcome.REFUSED, fault="no_command")
        return slash_commands.not_started(texts.unknown_agent_command_text(request, tuple(known), language))


def _routes_with_commands(active: ActiveTable, metadata: dict[str, object] | None, call: Call) -> Sequence[Route]:
    """Return the routes that the caller may use and whose agents have slash commands. Raises INVALID_PARAMS (unknown skill)."""
    routes = [
        route
        for route in active.routes.values()
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


def has_result(notes: Mapping[str, Any]) -> bool:
    """Return True for the notes of a command whose result the agent gave at once."""
    return _RESULT in notes.get(EXECUTES, ())


def result_events(notes: Mapping[str, Any], *, task_id: str, context_id: str) -> Iterator[Event]:
    """Yield the events of a command whose result is known: the extension puts everything into status updates."""
    result = notes[EXECUTES][_RESULT]
    part = Part(text=result) if isinstance(result, str) else Part(data=result, media_type="application/json")
    message = agent_message(part, context_id=context_id, task_id=task_id)
    now = timestamp()
    task = Task(id=task_id, context_id=context_id, status=TaskStatus(state=TaskState.SUBMITTED, timestamp=now))
    yield task
    working = TaskStatus(state=TaskState.WORKING, message=message, timestamp=now)
    yield update_of(task, working, DevelopmentToolEventKind.TEXT_CONTENT)
    yield update_of(task, TaskStatus(state=TaskState.COMPLETED, timestamp=now))


def _notes_of(route: Route, execution: ExecutionReply) -> dict[str, Any]:
    if execution.task_id:
        return {EXECUTES: {}, RUNNING: {"route": route.id, "task": execution.task_id}}
    return {EXECUTES: {_RESULT: execution.result}}


def _not_accepted(failure: Failure, route: Route, call: Call) -> A2AError:
    call.record.update(severity="WARNING", cause=failure.cause)
    text = failure_text(failure, route, language=Language.EN, reference=call.request_id)
    fields = tuple((field, "is not accepted by the agent") for field in failure.fields)
    return A2AError(INVALID_PARAMS, text, fields=fields)


def _not_started(failure: Failure, route: Route, call: Call, language: Language) -> ExecuteSlashCommandResponse:
    call.record.update(severity="WARNING", outcome=failure.outcome, fault=failure.fault, **failure.log_fields)
    return slash_commands.not_started(failure_text(failure, route, language=language, reference=call.request_id))


def _first_of_each_name(listed: Sequence[tuple[Route, CommandsOrFailure]]) -> dict[str, tuple[Route, SlashCommand]]:
    first: dict[str, tuple[Route, SlashCommand]] = {}
    for route, each in listed:
        for command in () if isinstance(each, Failure) else each:
            first.setdefault(command.name, (route, command))
    return first


def _without_skill(metadata: dict[str, object] | None) -> dict[str, object] | None:
    """Return the metadata without the skill, which is meant for the hub."""
    return {name: value for name, value in (metadata or {}).items() if name != "skill"} or None
