"""One turn of a task: decide, ask where it has to be confirmed, do it, and go on until there is an answer or a question."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec.structs import replace

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.extensions.development_tool import (
    ConfirmationRequest,
    ErrorDetails,
    ToolCall,
    ToolCallConfirmation,
    ToolCallStatus,
)
from functions.devtool.actions import AnyAction, Edit, WriteFile
from functions.devtool.failure import Fault, ToolFailed
from functions.devtool.planner import Act, Mind
from functions.devtool.state import Answered, Asked, Called, Pending, Returned, State
from functions.devtool.texts import Key, say
from functions.devtool.tools import ALWAYS, CANCEL, Tools, modified, permission
from functions.devtool.turn_events import Begun, Completed, Failed, Happening, Said, Update, Waiting
from functions.devtool.workspace import Workspace

_MOST_STEPS = 20
# Ids of calls that are remembered as finished.
_MOST_FINISHED = 50


class Work:
    """A turn on one task. `state` is what is kept with it; it is kept before each happening that ends the turn."""

    def __init__(
        self,
        state: State,
        call: Call,
        *,
        mind: Mind,
        tools: Tools,
        workspace: Workspace | None,
        new_id: Callable[[], str],
    ) -> None:
        self._state = state
        self._call = call
        self._mind = mind
        self._tools = tools
        self._workspace = workspace
        self._new_id = new_id

    def begin(self, text: str, *, again: bool) -> Iterator[Happening]:
        """The first turn. Run `again`, after its process died, it does nothing that nobody has confirmed."""
        if again:
            self._state.allowed = ()
        self._state.dialogue = (*self._state.dialogue, Asked(text))
        yield Begun()
        yield from self._go_on()

    def answer(self, confirmation: ToolCallConfirmation) -> Iterator[Happening]:
        """The turn that a decision on the pending tool call begins; it fits that call."""
        pending = self._pending()
        self._state.pending = None
        self._call.record.update(tool=pending.action.tool, decision=confirmation.selected_option_id)
        if confirmation.selected_option_id == CANCEL:
            yield from self._cancelled(pending)
            return
        request, action = _request(pending.call), pending.action
        if confirmation.selected_option_id == ALWAYS:
            key = permission(action, request)
            self._state.allowed = tuple(dict.fromkeys((*self._state.allowed, key)))
        if confirmation.file_details is not None and request.file_edit_details is not None:
            content = confirmation.file_details.new_content
            action = WriteFile(path=_path(action), content=content)
            request = modified(request, content, action.path) or request
        shown = replace(pending.call, confirmation_request=None)
        yield from self._perform(action, shown, request)
        if self._state.pending is None:
            yield from self._go_on()

    def interrupted(self) -> Iterator[Happening]:
        """The turn whose process died after the decision: nobody knows what was done, and nothing is done again."""
        pending, self._state.pending = self._state.pending, None
        failure = ToolFailed(Fault.INTERRUPTED)
        if pending is not None:
            yield from self._failed(pending.call, failure)
        yield Failed(failure.told(self._state.language))

    def still_waiting(self) -> Iterator[Happening]:
        """The turn of a message that decides nothing."""
        pending = self._pending()
        yield Said(say(Key.STILL_WAITING, self._state.language))
        yield Update(pending.call)
        yield Waiting(pending.call)

    def _go_on(self) -> Iterator[Happening]:
        for _ in range(_MOST_STEPS):
            decision = yield from self._mind.decide(self._state, self._call)
            if not isinstance(decision, Act):
                self._state.dialogue = (*self._state.dialogue, Answered(decision.text))
                self._keep()
                if decision.failed:
                    yield Failed(decision.text)
                else:
                    yield Said(decision.text)
                    yield Completed()
                return
            yield from self._act(decision)
            if self._state.pending is not None:
                return
        yield Failed(say(Key.WITHOUT_ANSWER, self._state.language))

    def _act(self, decision: Act) -> Iterator[Happening]:
        action = decision.action
        self._call.record["tool"] = action.tool
        if self._workspace is None:
            text = say(Key.NO_WORKSPACE, self._state.language)
            self._state.dialogue = (*self._state.dialogue, Returned("", text, succeeded=False))
            return
        call = ToolCall(
            tool_call_id=self._new_id(),
            status=ToolCallStatus.PENDING,
            tool_name=action.tool,
            input_parameters=action.parameters,
        )
        called = Called(call.tool_call_id, action, decision.by, decision.signature)
        self._state.dialogue = (*self._state.dialogue, called)
        try:
            question = self._tools.question(action, self._workspace, self._state.language)
        except ToolFailed as failed:
            yield Update(call)
            yield from self._failed(call, failed)
            return
        if question is not None and permission(action, question) not in self._state.allowed:
            yield from self._ask(replace(call, confirmation_request=question), action)
            return
        yield Update(call)
        yield from self._perform(action, call, question)

    def _ask(self, call: ToolCall, action: AnyAction) -> Iterator[Happening]:
        self._state.pending = Pending(call, action)
        yield Update(call)
        self._keep()
        yield Waiting(call)

    def _perform(
        self, action: AnyAction, call: ToolCall, confirmed: ConfirmationRequest | None
    ) -> Iterator[Happening]:
        if self._workspace is None:
            yield from self._failed(call, ToolFailed(Fault.NOT_FOUND, path="."))
            return
        call = replace(call, status=ToolCallStatus.EXECUTING)
        yield Update(call)
        steps = self._tools.perform(
            action,
            self._workspace,
            self._state.language,
            confirmed=confirmed,
            cancellation=self._call.cancellation,
        )
        try:
            while True:
                live_content = next(steps)
                if live_content != call.live_content:
                    call = replace(call, live_content=live_content)
                    yield Update(call)
        except StopIteration as end:
            output, text = end.value
            done = replace(call, status=ToolCallStatus.SUCCEEDED, live_content=None, output=output)
            yield Update(done)
            self._finish(call.tool_call_id, text, succeeded=True)
        except ToolFailed as failed:
            yield from self._failed(call, failed)
            if failed.fault is Fault.CHANGED and confirmed is not None:
                yield from self._ask_again(action)
        finally:
            steps.close()

    def _ask_again(self, action: AnyAction) -> Iterator[Happening]:
        assert self._workspace is not None
        try:
            question = self._tools.question(action, self._workspace, self._state.language)
        except ToolFailed:
            # There is nothing to do any more; the dialogue says why nothing was done.
            return
        assert question is not None, "only what was confirmed is asked again"
        yield Said(say(Key.ASKED_AGAIN, self._state.language, path=_path(action)))
        call = ToolCall(
            tool_call_id=self._new_id(),
            status=ToolCallStatus.PENDING,
            tool_name=action.tool,
            input_parameters=action.parameters,
            confirmation_request=question,
        )
        before = next(each for each in reversed(self._state.dialogue) if isinstance(each, Called))
        again = replace(before, call_id=call.tool_call_id, action=action)
        self._state.dialogue = (*self._state.dialogue, again)
        yield from self._ask(call, action)

    def _cancelled(self, pending: Pending) -> Iterator[Happening]:
        call = replace(pending.call, status=ToolCallStatus.CANCELLED, confirmation_request=None)
        text = say(Key.CANCELLED, self._state.language)
        self._finish(call.tool_call_id, text, succeeded=False)
        yield Update(call)
        # Whoever says no decides what is next.
        self._state.dialogue = (*self._state.dialogue, Answered(text))
        self._keep()
        yield Said(text)
        yield Completed()

    def _failed(self, call: ToolCall, failed: ToolFailed) -> Iterator[Happening]:
        text = failed.told(self._state.language)
        self._call.record["fault"] = failed.fault
        error = ErrorDetails(message=text, type=failed.fault, status_code=failed.status_code)
        self._finish(call.tool_call_id, text, succeeded=False)
        yield Update(
            replace(
                call,
                status=ToolCallStatus.FAILED,
                live_content=None,
                confirmation_request=None,
                error=error,
            )
        )

    def _finish(self, call_id: str, text: str, *, succeeded: bool) -> None:
        state = self._state
        state.finished = (*state.finished, call_id)[-_MOST_FINISHED:]
        state.dialogue = (*state.dialogue, Returned(call_id, text, succeeded))
        self._keep()

    def _keep(self) -> None:
        assert self._call.task is not None, "who works on it has it in hand"
        self._state.keep(self._call.task)

    def _pending(self) -> Pending:
        assert self._state.pending is not None, "only who waits is answered"
        return self._state.pending


def _request(call: ToolCall) -> ConfirmationRequest:
    assert call.confirmation_request is not None, "what waits has asked something"
    return call.confirmation_request


def _path(action: Any) -> str:
    assert isinstance(action, Edit), "only a file is edited"
    return action.path
