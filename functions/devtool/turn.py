"""One turn of a task, an agent loop: plan a step, request approval, call the tool, until there is an answer or a question."""

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.extensions import development_tool
from a2a_hub.a2a.model import TaskState
from a2a_hub.runtime.ids import new_id
from a2a_hub.telemetry import audit
from functions.devtool.actions import AnyAction, Edit, WriteFile
from functions.devtool.conversation import AgentText, CalledTool, PendingApproval, State, ToolResult, UserText
from functions.devtool.planner import Planner
from functions.devtool.texts import DEVTOOL_TEXTS, Fault, ToolFailed
from functions.devtool.tools import ALWAYS, CANCEL, Tools, with_content

_MAX_STEPS = 20
_MAX_FINISHED_CALLS = 50


class StateChange(Struct, frozen=True):
    """The task has a new state: input-required with the `call` that waits for approval, failed with an `error` for the person."""

    state: TaskState
    call: development_tool.ToolCall | None = None
    error: str = ""


# A tool call as it is now, and a text to the person, are events of their own.
TurnEvent = StateChange | development_tool.AgentThought | development_tool.ToolCall | AgentText
STARTED, COMPLETED = StateChange(TaskState.WORKING), StateChange(TaskState.COMPLETED)


class TaskTurn(Struct, frozen=True):
    """A turn on one task. `state` is saved with the task before each event that ends the turn; no workspace, no `tools`."""

    state: State
    call: Call
    planner: Planner
    tools: Tools | None

    def start(self, text: str, *, again: bool) -> Iterator[TurnEvent]:
        """Run the first turn. If it runs `again`, after its process died, earlier permissions no longer apply."""
        if again:
            self.state.allowed = ()
        self.state.dialogue = (*self.state.dialogue, UserText(text))
        yield STARTED
        yield from self._run()

    def resume(self, confirmation: development_tool.ToolCallConfirmation) -> Iterator[TurnEvent]:
        """Run the turn after a decision on the pending tool call, which must fit that call."""
        pending = self._pending()
        self.state.pending = None
        self._log_decision(pending, confirmation.selected_option_id)
        if confirmation.selected_option_id == CANCEL:
            yield from self._cancel(pending)
            return
        request, action = pending.call.confirmation_request, pending.action
        assert request is not None, "a pending call has requested an approval"
        if confirmation.selected_option_id == ALWAYS and self.tools is not None:
            allowed = (*self.state.allowed, self.tools.permission(action, request))
            self.state.allowed = tuple(filter(None, dict.fromkeys(allowed)))
        if confirmation.file_details is not None and request.file_edit_details is not None:
            content = confirmation.file_details.new_content
            action = WriteFile(path=_path(action), content=content)
            request = with_content(request, request.file_edit_details, content, action.path)
        yield from self._execute(action, replace(pending.call, confirmation_request=None), request)
        if self.state.pending is None:
            yield from self._run()

    def _log_decision(self, pending: PendingApproval, decision: str) -> None:
        """Add to the log what was decided on; the line names the person."""
        request = pending.call.confirmation_request
        details = request.execute_details if request else None
        change = request.file_edit_details if request else None
        self.call.record.update(
            tool=pending.action.tool,
            decision=decision,
            subject=self.call.principal.subject if self.call.principal else None,
            command=details.command if details else None,
            file=change.file_path if change else None,
            workspace=str(self.tools.workspace.root) if self.tools else None,
        )
        names = ("tool", "decision", "command", "file", "workspace")
        decided = {name: self.call.record[name] for name in names}
        audit.record("decided", self.call.principal, **decided, request=self.call.request_id)

    def fail_as_interrupted(self) -> Iterator[TurnEvent]:
        """Fail the task of a process that died after the decision: the outcome is unknown, and nothing is repeated."""
        pending, self.state.pending = self.state.pending, None
        failure = ToolFailed(Fault.INTERRUPTED)
        if pending is not None:
            yield from self._fail(pending.call, failure)
        yield StateChange(TaskState.FAILED, error=failure.text(self.state.language))

    def request_again(self) -> Iterator[TurnEvent]:
        """Repeat the pending approval request after a message without a decision."""
        pending = self._pending()
        yield AgentText(DEVTOOL_TEXTS.still_waiting.render(self.state.language))
        yield pending.call
        yield StateChange(TaskState.INPUT_REQUIRED, pending.call)

    def _run(self) -> Iterator[TurnEvent]:
        for _ in range(_MAX_STEPS):
            step = yield from self.planner.next_step(self.state, self.call)
            if not isinstance(step, CalledTool):
                self.state.dialogue = (*self.state.dialogue, AgentText(step.text))
                self._save()
                if step.failed:
                    yield StateChange(TaskState.FAILED, error=step.text)
                else:
                    yield AgentText(step.text)
                    yield COMPLETED
                return
            yield from self._call_tool(step)
            if self.state.pending is not None:
                return
        yield StateChange(TaskState.FAILED, error=DEVTOOL_TEXTS.without_answer.render(self.state.language))

    def _call_tool(self, step: CalledTool) -> Iterator[TurnEvent]:
        action = step.action
        self.call.record["tool"] = action.tool
        if self.tools is None:
            text = DEVTOOL_TEXTS.no_workspace.render(self.state.language)
            self.state.dialogue = (*self.state.dialogue, ToolResult("", text, succeeded=False))
            return
        call = self._new_call(action)
        self.state.dialogue = (*self.state.dialogue, replace(step, call_id=call.tool_call_id))
        try:
            request = self.tools.approval_request(action)
        except ToolFailed as failed:
            yield call
            yield from self._fail(call, failed)
            return
        if request is not None and self.tools.permission(action, request) not in self.state.allowed:
            yield from self._request_approval(replace(call, confirmation_request=request), action)
            return
        yield call
        yield from self._execute(action, call, request)

    def _new_call(self, action: AnyAction) -> development_tool.ToolCall:
        return development_tool.ToolCall(
            tool_call_id=new_id(),
            status=development_tool.ToolCallStatus.PENDING,
            tool_name=action.tool,
            input_parameters=action.parameters,
        )

    def _request_approval(self, call: development_tool.ToolCall, action: AnyAction) -> Iterator[TurnEvent]:
        self.state.pending = PendingApproval(call, action)
        yield call
        self._save()
        yield StateChange(TaskState.INPUT_REQUIRED, call)

    def _execute(
        self, action: AnyAction, call: development_tool.ToolCall, approved: development_tool.ConfirmationRequest | None
    ) -> Iterator[TurnEvent]:
        if self.tools is None:
            yield from self._fail(call, ToolFailed(Fault.NOT_FOUND, path="."))
            return
        call = replace(call, status=development_tool.ToolCallStatus.EXECUTING)
        yield call
        steps = self.tools.execute(action, approved=approved, cancellation=self.call.cancellation)
        try:
            while True:
                live_content = next(steps)
                if live_content != call.live_content:
                    call = replace(call, live_content=live_content)
                    yield call
        except StopIteration as end:
            output, text = end.value
            yield replace(call, status=development_tool.ToolCallStatus.SUCCEEDED, live_content=None, output=output)
            self._finish(call.tool_call_id, text, succeeded=True)
        except ToolFailed as failed:
            yield from self._fail(call, failed)
            if failed.fault is Fault.CHANGED and approved is not None:
                yield from self._request_new_approval(action)
        finally:
            steps.close()

    def _request_new_approval(self, action: AnyAction) -> Iterator[TurnEvent]:
        assert self.tools is not None
        try:
            request = self.tools.approval_request(action)
        except ToolFailed:
            # Nothing is left to do; the dialogue has the reason.
            return
        assert request is not None, "the action has been approved before"
        yield AgentText(DEVTOOL_TEXTS.asked_again.render(self.state.language, path=_path(action)))
        call = replace(self._new_call(action), confirmation_request=request)
        last = next(each for each in reversed(self.state.dialogue) if isinstance(each, CalledTool))
        again = replace(last, call_id=call.tool_call_id, action=action)
        self.state.dialogue = (*self.state.dialogue, again)
        yield from self._request_approval(call, action)

    def _cancel(self, pending: PendingApproval) -> Iterator[TurnEvent]:
        call = replace(pending.call, status=development_tool.ToolCallStatus.CANCELLED, confirmation_request=None)
        text = DEVTOOL_TEXTS.cancelled.render(self.state.language)
        self._finish(call.tool_call_id, text, succeeded=False)
        yield call
        # The person decides on the next step.
        self.state.dialogue = (*self.state.dialogue, AgentText(text))
        self._save()
        yield AgentText(text)
        yield COMPLETED

    def _fail(self, call: development_tool.ToolCall, failed: ToolFailed) -> Iterator[TurnEvent]:
        text = failed.text(self.state.language)
        self.call.record["fault"] = failed.fault
        self._finish(call.tool_call_id, text, succeeded=False)
        yield replace(
            call,
            status=development_tool.ToolCallStatus.FAILED,
            live_content=None,
            confirmation_request=None,
            error=development_tool.ErrorDetails(message=text, type=failed.fault, status_code=failed.status_code),
        )

    def _finish(self, call_id: str, text: str, *, succeeded: bool) -> None:
        state = self.state
        state.finished = (*state.finished, call_id)[-_MAX_FINISHED_CALLS:]
        state.dialogue = (*state.dialogue, ToolResult(call_id, text, succeeded))
        self._save()

    def _save(self) -> None:
        assert self.call.task is not None, "a turn belongs to a task"
        self.state.save(self.call.task)

    def _pending(self) -> PendingApproval:
        assert self.state.pending is not None, "only a task that waits is resumed"
        return self.state.pending


def _path(action: AnyAction) -> str:
    assert isinstance(action, Edit), "only a file is edited"
    return action.path
