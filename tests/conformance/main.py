"""The entry point of the agent that the conformance kits need: the beginning of the message's id selects its behaviour.

The beginnings are those of the kit's scenario files (a2a-tck, branch 1.0-dev, scenarios/), and of the kit for 0.3.
"""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from msgspec import UNSET

from a2a_hub.a2a.agent import Agent, Turn
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.card import AgentSkill
from a2a_hub.a2a.model import (
    Artifact,
    Event,
    Message,
    Part,
    Role,
    SendMessageRequest,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from a2a_hub.a2a.server import A2AServer
from a2a_hub.agents.function import agent_card, serve_agent
from a2a_hub.http.flask_adapter import entry_point
from a2a_hub.runtime.function import stdout_log
from a2a_hub.runtime.ids import new_id, timestamp

_FILE = Part(raw="dGNr", media_type="text/plain", filename="output.txt")
_FILE_URL = Part(url="https://example.com/output.txt", media_type="text/plain", filename="output.txt")
_DATA = Part(data={"key": "value", "count": 42})
_LONG_SECONDS = 4.0


@dataclass(frozen=True, slots=True)
class _Step:
    """One thing to do: a status, an artifact's parts, or to let time pass."""

    state: TaskState | None = None
    text: str = ""
    part: Part | None = None
    append: bool = False
    seconds: float = 0.0


_WORKING = _Step(TaskState.WORKING)
_COMPLETED = _Step(TaskState.COMPLETED)


def _text(text: str, *, append: bool = False) -> _Step:
    return _Step(part=Part(text=text), append=append)


# The longer beginning before the shorter.
_SCENARIOS: tuple[tuple[str, tuple[_Step, ...]], ...] = (
    ("tck-stream-artifact-chunked", (_WORKING, _text("chunk-1 "), _text("chunk-2", append=True), _COMPLETED)),
    ("tck-stream-artifact-text", (_WORKING, _text("Streamed text content"), _COMPLETED)),
    ("tck-stream-artifact-file", (_WORKING, _Step(part=_FILE), _COMPLETED)),
    ("tck-stream-ordering-001", (_WORKING, _text("Ordered output"), _COMPLETED)),
    ("tck-stream-001", (_WORKING, _text("Stream hello from TCK"), _COMPLETED)),
    ("tck-stream-002", (_COMPLETED,)),
    ("tck-stream-003", (_WORKING, _text("Stream task lifecycle"), _COMPLETED)),
    ("test-resubscribe-message-id", (_WORKING, _Step(seconds=_LONG_SECONDS), _COMPLETED)),
    ("tck-complete-task", (_Step(TaskState.COMPLETED, "Hello from TCK"),)),
    ("tck-input-required", (_Step(TaskState.INPUT_REQUIRED, "Which one?"),)),
    ("tck-reject-task", (_Step(TaskState.REJECTED, "This is rejected"),)),
    ("tck-artifact-file-url", (_Step(part=_FILE_URL), _COMPLETED)),
    ("tck-artifact-file", (_Step(part=_FILE), _COMPLETED)),
    ("tck-artifact-text", (_text("Generated text content"), _COMPLETED)),
    ("tck-artifact-data", (_Step(part=_DATA), _COMPLETED)),
)
# The kit for 0.3 expects an agent whose tasks wait for more.
_OTHERWISE = (_WORKING, _text("Hello from the conformance agent"), _Step(TaskState.INPUT_REQUIRED, "Anything else?"))
_MESSAGE = "tck-message-response"


class ConformanceAgent(Agent):
    """The agent. It keeps nothing: the hub does. `pause` waits for seconds, or until the call is cancelled."""

    def send(self, request: SendMessageRequest, call: Call) -> Turn:
        """See `Agent.send`."""
        context_id = self.context_of(request, call)
        message_id = request.message.message_id
        if message_id.startswith(_MESSAGE):
            message = self._message("Direct message response", context_id, None)
            return Turn(events=iter((message,)))
        steps = next((steps for start, steps in _SCENARIOS if message_id.startswith(start)), _OTHERWISE)
        return Turn(events=self._events(steps, context_id, _waiter(call)))

    def _events(self, steps: tuple[_Step, ...], context_id: str, wait: Callable[[float], bool]) -> Iterator[Event]:
        task_id = new_id()

        def status(state: TaskState, text: str = "") -> TaskStatus:
            message = self._message(text, context_id, task_id) if text else None
            return TaskStatus(state=state, message=message, timestamp=timestamp())

        yield Task(id=task_id, context_id=context_id, status=status(TaskState.SUBMITTED))
        for step in steps:
            if wait(step.seconds):
                return
            if step.state is not None:
                yield TaskStatusUpdateEvent(
                    task_id=task_id, context_id=context_id, status=status(step.state, step.text)
                )
            if step.part is not None:
                artifact = Artifact(artifact_id="artifact-1", parts=(step.part,))
                yield TaskArtifactUpdateEvent(
                    task_id=task_id,
                    context_id=context_id,
                    artifact=artifact,
                    append=step.append,
                    last_chunk=step.part.data is UNSET and step.append,
                )

    def _message(self, text: str, context_id: str, task_id: str | None) -> Message:
        return Message(
            message_id=new_id(),
            role=Role.AGENT,
            parts=(Part(text=text),),
            context_id=context_id,
            task_id=task_id,
        )


def _waiter(call: Call) -> Callable[[float], bool]:
    gone = threading.Event()
    call.cancellation.on_cancel(gone.set)
    return lambda seconds: bool(seconds) and gone.wait(seconds)


_card = agent_card(
    name="Conformance agent",
    description="Does what a message's id begins with.",
    version="1.0.0",
    url="http://127.0.0.1",
    skills=(AgentSkill(id="conformance", name="Conformance", description="For kits.", tags=("test",)),),
)

_log = stdout_log("conformance")
_agent = ConformanceAgent()
_server = A2AServer(_agent, card=lambda: _card, log=_log)

conformance = entry_point(serve_agent(_server, card=_card, log=_log))
