"""MCP servers as agents: a turn calls tools, and waits for a person's confirmation of those that are not read-only."""

import threading
import time
from collections import OrderedDict
from collections.abc import Collection, Generator, Iterator
from contextlib import closing, suppress

import msgspec
from msgspec import UNSET, Struct, field
from msgspec.structs import replace

from a2a_hub.a2a.client_errors import ClientError, ClientFault
from a2a_hub.a2a.errors import INVALID_PARAMS, A2AError
from a2a_hub.a2a.extensions.development_tool import (
    ConfirmationRequest,
    GenericDetails,
    Spelling,
    ToolCall,
    ToolCallConfirmation,
    ToolCallStatus,
    confirmation_in,
    part_of,
)
from a2a_hub.a2a.extensions.tool_confirmation import TOOL_TEXTS
from a2a_hub.a2a.model import (
    Event,
    Message,
    Part,
    Role,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
    data_as_text,
    text_of,
)
from a2a_hub.a2a.reply import agent_message
from a2a_hub.boundaries.sources import CredentialSources
from a2a_hub.http.client import Http
from a2a_hub.http.messages import Cancellation
from a2a_hub.language_models.model import LanguageModel
from a2a_hub.mcp.client import McpClient, Tool, ToolResult
from a2a_hub.routing.routes import Route
from a2a_hub.runtime.ids import new_id
from a2a_hub.task_store.store import SharedState, Unavailable
from a2a_hub.text.language import language_of
from functions.hub.downstream.event_translator import text_of_parts
from functions.hub.downstream.guard import Guard
from functions.hub.downstream.interface import AgentRequest, AnswersOnly, TransportCall
from functions.hub.downstream.mcp_planner import CalledTool, Dialogue, ToolPlanner

_DIALOGUE = "dialogue"
_ALLOWED = "proceed_once"
_MAX_DIALOGUE_BYTES = 200_000
_MAX_DECIDED = 1000
_DECIDED_SECONDS = 86_400.0
_MAX_CALLS = 8
_MISTAKEN = ToolResult(
    parts=(Part(text="There is no such function, or its arguments do not fit it. Nothing was done."),), has_failed=True
)


def mcp_agent(
    route: Route, *, http: Http, sources: CredentialSources, model: LanguageModel | None, store: SharedState | None
) -> Guard:
    """Return the guarded MCP server of a route. Without `model`, the route names the tool."""
    planner = ToolPlanner(route, model) if model and not route.tool else None
    transport = McpTransport(route, planner=planner, store=store)
    return Guard(route, transport, http=http, sources=sources)


class McpTransport(AnswersOnly, Struct):
    """A `Transport` for MCP. What waits for a confirmation is in the state of the conversation. Thread-safe.

    Instances with a `store` make each confirmed call once.
    """

    route: Route
    planner: ToolPlanner | None = None
    store: SharedState | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _decided: OrderedDict[str, None] = field(default_factory=OrderedDict)

    def ask(self, agent_request: AgentRequest, call: TransportCall) -> Generator[Event]:
        message = agent_request.message
        decision = _decision(message)
        waiting = _waiting(agent_request)
        if waiting is None:
            if decision is None:
                text = text_of(message)
                dialogue = Dialogue(text=text, language=language_of(text), task_id=new_id())
                yield from self._work(dialogue, agent_request, call)
        elif decision is None or decision.tool_call_id != waiting.called[-1].id:
            yield self._question(waiting, message)
        elif agent_request.running_task_id is not None:
            # The turn broke off after the decision: the tool may have done its work, and is not called again.
            yield _update(waiting, message, TaskState.FAILED)
        elif decision.selected_option_id != _ALLOWED:
            yield agent_message(Part(text=TOOL_TEXTS.rejected[waiting.language]), context_id=message.context_id)
        else:
            yield from self._work(waiting, agent_request, call, is_allowed=True)

    def _work(
        self, dialogue: Dialogue, agent_request: AgentRequest, call: TransportCall, *, is_allowed: bool = False
    ) -> Iterator[Event]:
        """Yield the events of the calls and the answer, or the question whether a tool may be called.

        With `is_allowed`, the last call of the dialogue is the one that was confirmed.
        """
        message, cancellation = agent_request.message, agent_request.call.cancellation
        client = McpClient(
            call.http, self.route.url, budget=call.budget, headers=call.headers, cancellation=cancellation
        )
        with closing(client):
            tools = {tool.name: tool for tool in client.tools(self.route.tool)}
            for _ in range(_MAX_CALLS):
                if not is_allowed:
                    seconds = call.budget.deadline - call.http.clock()
                    step = self._next_step(
                        dialogue, tools.values(), has_more=client.has_more, seconds=seconds, cancellation=cancellation
                    )
                    if isinstance(step, str):
                        yield agent_message(Part(text=step), context_id=message.context_id)
                        return
                    dialogue = replace(dialogue, called=(*dialogue.called, step))
                called = dialogue.called[-1]
                tool = None if called.arguments is None else tools.get(called.tool)
                if tool is None and self.planner is None:
                    raise ClientError(ClientFault.NOT_FOUND, f'the server has no tool "{called.tool}"')
                if not (is_allowed or tool is None or tool.is_read_only or tool.name in self.route.read_only_tools):
                    agent_request.state[_DIALOGUE] = msgspec.to_builtins(dialogue)
                    yield self._question(dialogue, message)
                    return
                # The run is known by this before the tool is called.
                yield _update(dialogue, message, TaskState.WORKING, _tool_call(called, ToolCallStatus.EXECUTING))
                if is_allowed and not self._is_first(called):
                    raise ClientError(ClientFault.REFUSED, "the call was confirmed by another message already")
                is_allowed = False
                result = self._result(client, tool, called)
                if self.planner is None:
                    if result.has_failed:
                        raise ClientError(
                            ClientFault.REFUSED, f'the tool "{called.tool}" answered with an error of its own'
                        )
                    yield agent_message(*result.parts, context_id=message.context_id)
                    return
                ended = replace(called, result=_text_of(result), has_failed=result.has_failed)
                dialogue = replace(dialogue, called=(*dialogue.called[:-1], ended))
        raise ClientError(ClientFault.REFUSED, f"the model called {_MAX_CALLS} tools without an answer")

    def _result(self, client: McpClient, tool: Tool | None, called: CalledTool) -> ToolResult:
        """Return the result of the call; a model hears of its mistakes, and may correct them."""
        try:
            return client.call(tool, called.arguments or {}) if tool is not None else _MISTAKEN
        except ClientError as error:
            if self.planner is None or error.code != INVALID_PARAMS.code:
                raise
            return _MISTAKEN

    def _next_step(
        self, dialogue: Dialogue, tools: Collection[Tool], *, has_more: bool, seconds: float, cancellation: Cancellation
    ) -> CalledTool | str:
        if self.planner is None:
            arguments = {self.route.text_argument: dialogue.text}
            return CalledTool(id=new_id(), tool=self.route.tool, arguments=arguments)
        step = self.planner.next_step(dialogue, tools, has_more=has_more, seconds=seconds, cancellation=cancellation)
        if isinstance(step, str):
            return step
        return CalledTool(id=new_id(), tool=step.name, arguments=step.arguments, signature=step.signature)

    def _is_first(self, called: CalledTool) -> bool:
        """Return True if no other message has confirmed the call. Raises ClientError if nobody knows."""
        if self.store is not None:
            counter, expires_at = f"confirmed/{called.id}", time.time() + _DECIDED_SECONDS
            try:
                claimed = self.store.claim_quota(counter, new_id(), amount=1, limit=1, expires_at=expires_at)
            except Unavailable:
                raise ClientError(
                    ClientFault.REFUSED, "the store does not answer, which knows confirmed calls"
                ) from None
            return claimed == 1
        with self._lock:
            is_first = called.id not in self._decided
            self._decided[called.id] = None
            if len(self._decided) > _MAX_DECIDED:
                self._decided.popitem(last=False)
        return is_first

    def _question(self, dialogue: Dialogue, message: Message) -> Event:
        if len(msgspec.json.encode(dialogue)) > _MAX_DIALOGUE_BYTES:
            raise ClientError(ClientFault.TOO_LARGE, "the arguments of the tool are too large to be confirmed")
        call = _tool_call(dialogue.called[-1], ToolCallStatus.PENDING)
        return _update(dialogue, message, TaskState.INPUT_REQUIRED, call)


def _text_of(result: ToolResult) -> str:
    data = data_as_text(part.data for part in result.parts if part.data is not UNSET)
    has_text = any(part.text for part in result.parts)
    return "\n".join(filter(None, (text_of_parts(result.parts), "" if has_text else data)))


def _decision(message: Message) -> ToolCallConfirmation | None:
    with suppress(A2AError):
        return confirmation_in(message)
    return None


def _waiting(agent_request: AgentRequest) -> Dialogue | None:
    stored = agent_request.state.get(_DIALOGUE)
    dialogue = msgspec.convert(stored, Dialogue) if stored else None
    return dialogue if dialogue and dialogue.task_id == agent_request.message.task_id else None


def _tool_call(called: CalledTool, status: ToolCallStatus) -> ToolCall:
    is_pending = status is ToolCallStatus.PENDING
    return ToolCall(
        tool_call_id=called.id,
        status=status,
        tool_name=called.tool,
        input_parameters=called.arguments or {},
        confirmation_request=ConfirmationRequest(generic_details=GenericDetails()) if is_pending else None,
    )


def _update(
    dialogue: Dialogue, message: Message, state: TaskState, call: ToolCall | None = None
) -> TaskStatusUpdateEvent:
    context_id = message.context_id or ""
    report = None
    if call is not None:
        report = Message(message_id=call.tool_call_id, role=Role.AGENT, parts=(part_of(call, Spelling.SNAKE),))
    status = TaskStatus(state=state, message=report)
    return TaskStatusUpdateEvent(task_id=dialogue.task_id, context_id=context_id, status=status)
