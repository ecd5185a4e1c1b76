"""The development agent: a message starts a turn on a task, a decision resumes the task that waits for it."""

from collections.abc import Iterator

from a2a_hub.a2a.agent import Turn
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.errors import UNSUPPORTED_OPERATION, A2AError, invalid_field
from a2a_hub.a2a.extensions.development_tool import (
    URI,
    Spelling,
    ToolCallConfirmation,
    confirmation_in,
    in_metadata,
    spelling_of,
)
from a2a_hub.a2a.model import Message, SendMessageRequest, text_of
from a2a_hub.a2a.reply import MessageFactory, to_events
from a2a_hub.telemetry.log import Log
from functions.devtool import texts
from functions.devtool.conversation import Conversations, State, load_state
from functions.devtool.planner import Planner
from functions.devtool.presenter import ExtensionPresenter, decision_in, text_pieces
from functions.devtool.tools import Tools
from functions.devtool.turn import TaskTurn, TurnEvent, TurnFailed


class DevelopmentAgent:
    """See `a2a_hub.a2a.agent.Agent`. The state of a task is saved with the task."""

    def __init__(
        self,
        conversations: Conversations,
        *,
        planner: Planner,
        tools: Tools,
        message_factory: MessageFactory,
        log: Log,
    ) -> None:
        self._conversations = conversations
        self._planner = planner
        self._tools = tools
        self._message_factory = message_factory
        self._log = log

    def context_of(self, request: SendMessageRequest, call: Call) -> str:  # noqa: ARG002 - the protocol's
        """See `Agent.context_of`."""
        return request.message.context_id or self._message_factory.new_id()

    def bypasses_task(self, request: SendMessageRequest) -> bool:  # noqa: ARG002 - the protocol's
        """See `Agent.bypasses_task`: none does."""
        return False

    def cancel(self, call: Call) -> None:
        """See `Agent.cancel`: the turn notices by itself."""

    def send(self, request: SendMessageRequest, call: Call) -> Turn:
        """See `Agent.send`. A decision that fits no pending tool call is rejected, and changes nothing."""
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
                raise invalid_field("message.taskId", "is required: a decision belongs to the task that asked for it")
            state = self._conversations.new_state(message, call)
            events = self._turn(state, call).start(text_of(message), again=task.before is not None)
        else:
            state = load_state(task.notes) or State()
            if decision is None and not in_extension and state.pending is not None:
                decision = decision_in(text_of(message), state.pending.call)
            if decision is not None:
                state.spelling = _spelling(message, state)
                check(decision, state)
            events = self._resumed(state, call, decision)
        events = self._contained(events, call, state)
        if in_extension:
            presenter = ExtensionPresenter(
                task_id=task.id,
                context_id=message.context_id or "",
                spelling=state.spelling,
                model=self._planner.model,
                message_factory=self._message_factory,
            )
            return Turn(events=presenter.events(events), as_message=False)
        text_events = to_events(
            text_pieces(events, state.language),
            context_id=self.context_of(request, call),
            call=call,
            message_factory=self._message_factory,
        )
        # As a task it is stored, and the model can be reminded of it.
        return Turn(events=text_events, as_message=not self._planner.model)

    def _resumed(self, state: State, call: Call, decision: ToolCallConfirmation | None) -> Iterator[TurnEvent]:
        turn = self._turn(state, call)
        before = call.task.before if call.task else None
        # A turn starts while its task waits; a task that is at work already runs again after its process died.
        runs_again = before is not None and not before.status.state.interrupted
        if state.pending is None or (runs_again and decision is not None):
            return turn.fail_as_interrupted()
        return turn.request_again() if decision is None else turn.resume(decision)

    def _turn(self, state: State, call: Call) -> TaskTurn:
        return TaskTurn(
            state,
            call,
            planner=self._planner,
            tools=self._tools,
            workspace=self._conversations.workspace(state),
            new_id=self._message_factory.new_id,
        )

    def _contained(self, events: Iterator[TurnEvent], call: Call, state: State) -> Iterator[TurnEvent]:
        """Turn an unexpected error into a failed task with a helpful text; the log has the error."""
        try:
            yield from events
        except Exception:
            if call.cancellation.cancelled:
                return
            self._log.exception("A task of the development agent failed", call.record)
            call.record["severity"] = "ERROR"
            yield TurnFailed(texts.FAILED.render(state.language, reference=call.request_id))


def check(decision: ToolCallConfirmation, state: State) -> None:
    """Raise INVALID_PARAMS for a decision that does not fit the pending tool call."""
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


def _spelling(message: Message, state: State) -> Spelling:
    data = [part.data for part in message.parts if isinstance(part.data, dict)]
    return spelling_of(*data) if data else state.spelling
