"""The development agent: a message becomes a turn on a task, a decision goes on with the task that waits for it."""

from __future__ import annotations

from collections.abc import Iterator

from a2a_hub.a2a.agent import Turn
from a2a_hub.a2a.call import Call, TaskInHand
from a2a_hub.a2a.errors import UNSUPPORTED_OPERATION, A2AError, invalid_field
from a2a_hub.a2a.extensions.development_tool import (
    URI,
    Spelling,
    ToolCallConfirmation,
    confirmation_in,
    in_metadata,
    spelling_of,
)
from a2a_hub.a2a.model import Event, Message, SendMessageRequest
from a2a_hub.a2a.reply import MessageFactory, to_events
from a2a_hub.a2a.text import text_of
from a2a_hub.telemetry.log import Log
from functions.devtool.conversations import Conversations
from functions.devtool.planner import Mind
from functions.devtool.presenter import InExtension, pieces
from functions.devtool.state import State, state_in
from functions.devtool.texts import NAME, Key, say
from functions.devtool.tools import Tools
from functions.devtool.turn_events import Failed, Happening
from functions.devtool.work import Work


class DevelopmentAgent:
    """See `a2a_hub.a2a.agent.Agent`. What it knows of a task is kept with the task."""

    def __init__(
        self,
        conversations: Conversations,
        *,
        mind: Mind,
        tools: Tools,
        message_factory: MessageFactory,
        log: Log,
    ) -> None:
        self._conversations = conversations
        self._mind = mind
        self._tools = tools
        self._message_factory = message_factory
        self._log = log

    def context_of(self, request: SendMessageRequest, call: Call) -> str:  # noqa: ARG002 - the protocol's
        """See `Agent.context_of`."""
        return request.message.context_id or self._message_factory.new_id()

    def bypasses_task(self, request: SendMessageRequest) -> bool:  # noqa: ARG002 - the protocol's
        """None does."""
        return False

    def cancel(self, call: Call) -> None:
        """The turn itself sees that it was cancelled."""

    def send(self, request: SendMessageRequest, call: Call) -> Turn:
        """See `Agent.send`. A decision that fits no tool call which waits is refused, and changes nothing."""
        message, task = request.message, call.task
        if task is None:
            raise A2AError(UNSUPPORTED_OPERATION, "This agent works for callers who say who they are")
        if self._log.with_text:
            call.record["text"] = text_of(message)
        decision = confirmation_in(message)
        in_extension = (
            URI in call.extensions
            or URI in message.extensions
            or decision is not None
            or in_metadata(message.metadata) is not None
        )
        if task.turn == 1:
            if decision is not None:
                raise invalid_field(
                    "message.taskId", "is required: a decision belongs to the task that asked for it"
                )
            state = self._conversations.begun(message, call)
            happenings = self._work(state, call).begin(text_of(message), again=task.before is not None)
        else:
            state = state_in(task.notes) or State()
            if decision is None and not in_extension:
                decision = _in_words(message, state)
            if decision is not None:
                state.spelling = _spelling(message, state)
                check(decision, state)
            happenings = self._going_on(state, call, decision)
        happenings = self._contained(happenings, call, state)
        if in_extension:
            return Turn(events=self._in_extension(happenings, message, task, state), as_message=False)
        told = pieces(happenings, NAME, state.language)
        context_id = self.context_of(request, call)
        events = to_events(told, context_id=context_id, call=call, message_factory=self._message_factory)
        # As a task it is stored, and the model can be reminded of it.
        return Turn(events=events, as_message=not self._mind.model)

    def _going_on(
        self, state: State, call: Call, decision: ToolCallConfirmation | None
    ) -> Iterator[Happening]:
        work = self._work(state, call)
        before = call.task.before if call.task else None
        # A turn starts when its task waits; one that finds it at work is run again.
        is_run_again = before is not None and not before.status.state.interrupted
        if state.pending is None or (is_run_again and decision is not None):
            return work.interrupted()
        return work.still_waiting() if decision is None else work.answer(decision)

    def _work(self, state: State, call: Call) -> Work:
        return Work(
            state,
            call,
            mind=self._mind,
            tools=self._tools,
            workspace=self._conversations.workspace(state),
            new_id=self._message_factory.new_id,
        )

    def _in_extension(
        self, happenings: Iterator[Happening], message: Message, task: TaskInHand, state: State
    ) -> Iterator[Event]:
        telling = InExtension(
            task_id=task.id,
            context_id=message.context_id or "",
            spelling=state.spelling,
            model=self._mind.model,
            message_factory=self._message_factory,
        )
        return telling.events(happenings)

    def _contained(self, happenings: Iterator[Happening], call: Call, state: State) -> Iterator[Happening]:
        """A fault of ours ends the task with words that help; what it was, the log knows."""
        try:
            yield from happenings
        except Exception:
            if call.cancellation.cancelled:
                return
            self._log.exception("A task of the development agent failed", call.record)
            call.record["severity"] = "ERROR"
            yield Failed(say(Key.FAILED, state.language, reference=call.request_id))


def check(decision: ToolCallConfirmation, state: State) -> None:
    """Raises INVALID_PARAMS for a decision that does not fit the tool call which waits."""
    pending, camel = state.pending, state.spelling is Spelling.CAMEL
    call_id = "toolCallId" if camel else "tool_call_id"
    if pending is None or decision.tool_call_id != pending.call.tool_call_id:
        why = "names no tool call that waits for a decision"
        if decision.tool_call_id in state.finished:
            why = "names a tool call that was decided on before, and was not called again"
        raise invalid_field(call_id, why)
    request = pending.call.confirmation_request
    options = [each.id for each in request.options] if request else []
    if decision.selected_option_id not in options:
        option_id = "selectedOptionId" if camel else "selected_option_id"
        raise invalid_field(option_id, f"must be one of {', '.join(options)}")
    if decision.file_details is not None and not (request and request.file_edit_details):
        raise invalid_field("fileDetails" if camel else "file_details", "belongs to a change of a file")


def _in_words(message: Message, state: State) -> ToolCallConfirmation | None:
    """What a reply in words decides; None where it is no decision."""
    from functions.devtool.text_confirmation import chosen

    call = state.pending.call if state.pending else None
    option_id = chosen(text_of(message), call) if call else None
    if call is None or option_id is None:
        return None
    return ToolCallConfirmation(tool_call_id=call.tool_call_id, selected_option_id=option_id)


def _spelling(message: Message, state: State) -> Spelling:
    data = [part.data for part in message.parts if isinstance(part.data, dict)]
    return spelling_of(*data) if data else state.spelling
