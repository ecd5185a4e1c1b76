"""The development agent: a message starts a turn on a task, a decision resumes it; the turn as events, or as text."""

from collections.abc import Iterator

from msgspec.structs import replace

from a2a_hub.a2a import model
from a2a_hub.a2a.agent import Agent, Turn
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.errors import UNSUPPORTED_OPERATION, A2AError, invalid_field
from a2a_hub.a2a.extensions.development_tool import (
    URI,
    AgentThought,
    DevelopmentToolEvent,
    DevelopmentToolEventKind,
    Spelling,
    ToolCall,
    ToolCallConfirmation,
    ToolCallStatus,
    confirmation_in,
    in_metadata,
    metadata_of,
    part_of,
    spelling_of,
)
from a2a_hub.a2a.extensions.tool_calls import tool_calls_in
from a2a_hub.a2a.extensions.tool_confirmation import chosen, progress_text, question_text
from a2a_hub.a2a.extensions.tool_updates import ToolQuestion, ToolUpdate
from a2a_hub.a2a.reply import Failure, Piece, Progress, Question, Text, agent_message, to_events
from a2a_hub.agents.function import too_long_text
from a2a_hub.runtime.ids import timestamp
from a2a_hub.tasks.task_resolution import CONTINUES_WITH
from a2a_hub.telemetry.log import Log
from a2a_hub.telemetry.redaction import redacted
from a2a_hub.text.language import Language
from functions.devtool.conversation import AgentText, Conversations, State, load_state
from functions.devtool.planner import Planner
from functions.devtool.programs import AllowedPrograms
from functions.devtool.texts import DEVTOOL_TEXTS
from functions.devtool.tools import Tools
from functions.devtool.turn import COMPLETED, STARTED, StateChange, TaskTurn, TurnEvent


class DevelopmentAgent(Agent):
    """The agent. The state of a task is saved with the task."""

    def __init__(
        self,
        conversations: Conversations,
        *,
        planner: Planner,
        programs: AllowedPrograms,
        user_tier: str | None = None,
        log: Log,
    ) -> None:
        self._conversations = conversations
        self._planner = planner
        self._programs = programs
        self._log = log
        self._event = DevelopmentToolEvent(model=planner.model, user_tier=user_tier)

    def send(self, request: model.SendMessageRequest, call: Call) -> Turn:
        """See `Agent.send`. A decision that fits no pending tool call is rejected, and changes nothing."""
        message, task = request.message, call.task
        if task is None:
            raise A2AError(UNSUPPORTED_OPERATION, "This agent works for callers who say who they are")
        if self._log.with_text:
            call.record["text"] = redacted(model.text_of(message))
        decision = confirmation_in(message)
        in_extension = (
            URI in call.extensions
            or URI in message.extensions
            or decision is not None
            or in_metadata(message.metadata) is not None
        )
        is_refused = False
        task.notes[CONTINUES_WITH] = URI
        continues = task.before is not None and task.before.status.state.terminal
        if task.turn == 1 or (continues and decision is None):
            if decision is not None:
                raise invalid_field("message.taskId", "is required: a decision belongs to the task that asked for it")
            state = self._conversations.new_state(message, call)
            text = model.text_of(message)
            refusal = too_long_text(text, call.record)
            is_refused = refusal is not None or not text
            if refusal is not None:
                events: Iterator[TurnEvent] = iter((STARTED, AgentText(refusal), COMPLETED))
            else:
                events = self._turn(state, call).start(text, again=task.before is not None and not continues)
        else:
            state = load_state(task.notes) or State()
            if decision is None and not in_extension and state.pending is not None:
                decision = decision_in(model.text_of(message), state.pending.call)
            if decision is not None:
                data = [part.data for part in message.parts if isinstance(part.data, dict)]
                state.spelling = spelling_of(*data) if data else state.spelling
                check(decision, state)
            events = self._resumed(state, call, decision)
        events = self._contained(events, call, state)
        if in_extension:
            shown = extension_events(
                events, task_id=task.id, context_id=message.context_id or "", spelling=state.spelling, base=self._event
            )
            return Turn(events=shown)
        text_events = to_events(
            text_pieces(events, state.language), context_id=self.context_of(request, call), call=call
        )
        return Turn(events=text_events, immediate=is_refused)

    def _resumed(self, state: State, call: Call, decision: ToolCallConfirmation | None) -> Iterator[TurnEvent]:
        turn = self._turn(state, call)
        before = call.task.before if call.task else None
        # A turn starts while its task waits; a task that is at work already runs again after its process died.
        runs_again = before is not None and not before.status.state.interrupted
        if state.pending is None or (runs_again and decision is not None):
            return turn.fail_as_interrupted()
        return turn.request_again() if decision is None else turn.resume(decision)

    def _turn(self, state: State, call: Call) -> TaskTurn:
        workspace = self._conversations.workspace(state, call)
        tools = Tools(self._programs, workspace, state.language) if workspace else None
        return TaskTurn(state, call, planner=self._planner, tools=tools)

    def _contained(self, events: Iterator[TurnEvent], call: Call, state: State) -> Iterator[TurnEvent]:
        """Turn an unexpected error into a failed task with a helpful text; the log has the error."""
        try:
            yield from events
        except Exception:
            if call.cancellation.cancelled:
                return
            self._log.exception("A task of the development agent failed", call.record)
            call.record["severity"] = "ERROR"
            yield StateChange(
                model.TaskState.FAILED, error=DEVTOOL_TEXTS.failed.render(state.language, reference=call.request_id)
            )


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


def extension_events(
    turn: Iterator[TurnEvent], *, task_id: str, context_id: str, spelling: Spelling, base: DevelopmentToolEvent
) -> Iterator[model.Event]:
    """Yield a status update of the extension, in its caller's spelling, for each event of the turn; `base` is their metadata."""

    def update(
        kind: DevelopmentToolEventKind, state: model.TaskState, *parts: model.Part, error: str | None = None
    ) -> model.TaskStatusUpdateEvent:
        message = None
        if parts:
            plain = agent_message(*parts, context_id=context_id, task_id=task_id)
            message = replace(plain, extensions=(URI,))
        return model.TaskStatusUpdateEvent(
            task_id=task_id,
            context_id=context_id,
            status=model.TaskStatus(state=state, message=message, timestamp=timestamp()),
            metadata=metadata_of(replace(base, kind=kind, error=error), spelling),
        )

    kinds = DevelopmentToolEventKind
    for event in turn:
        match event:
            case StateChange(state, call, error):
                parts = [part_of(call, spelling)] if call else [model.Part(text=error)] if error else []
                yield update(kinds.STATE_CHANGE, state, *parts, error=error or None)
            case AgentThought():
                yield update(kinds.THOUGHT, model.TaskState.WORKING, part_of(event, spelling))
            case ToolCall() as call:
                yield update(kinds.TOOL_CALL_UPDATE, model.TaskState.WORKING, part_of(call, spelling))
            case AgentText(text):
                yield update(kinds.TEXT_CONTENT, model.TaskState.WORKING, model.Part(text=text))


def text_pieces(turn: Iterator[TurnEvent], language: Language) -> Iterator[Piece]:
    """Yield the turn as text: progress, and the question or the answer at its end."""
    announced: set[str] = set()
    texts: list[str] = []
    for event in turn:
        match event:
            case ToolCall() as call if call.status is ToolCallStatus.EXECUTING and call.tool_call_id not in announced:
                announced.add(call.tool_call_id)
                yield Progress(progress_text(_tool_update(call), language))
            case AgentThought():
                yield Progress(event.subject)
            case AgentText(text):
                texts.append(text)
            case StateChange(model.TaskState.INPUT_REQUIRED, call) if call:
                # Text above a question is no answer, which would stay on the screen.
                request = question_text([_tool_question(call)], DEVTOOL_TEXTS.agent_name.render(language), language)
                yield Question("\n\n".join([*texts, request]))
            case StateChange(model.TaskState.COMPLETED):
                yield Text("\n\n".join(texts))
            case StateChange(model.TaskState.FAILED, _, error):
                yield Failure(error)


def decision_in(reply: str, call: ToolCall) -> ToolCallConfirmation | None:
    """Return the decision on a pending call that a text states; None if it states none."""
    option_id = chosen(reply, _tool_question(call))
    if option_id is None:
        return None
    return ToolCallConfirmation(tool_call_id=call.tool_call_id, selected_option_id=option_id)


def _tool_question(call: ToolCall) -> ToolQuestion:
    question = _tool_update(call).question
    assert question is not None, "a pending call has requested an approval"
    return question


def _tool_update(call: ToolCall) -> ToolUpdate:
    message = model.Message(message_id="", role=model.Role.AGENT, parts=(part_of(call, Spelling.SNAKE),))
    return next(tool_calls_in(message))
