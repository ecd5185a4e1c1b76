"""One turn with one A2A agent: send the message, follow its task, recover the task when the connection breaks."""

import threading
from collections.abc import Generator, Iterator

from msgspec.structs import replace

from a2a_hub.a2a import model
from a2a_hub.a2a.client import A2AClient, Endpoint
from a2a_hub.a2a.client_errors import ClientError, ClientFault
from a2a_hub.a2a.errors import TASK_NOT_FOUND, UNSUPPORTED_OPERATION
from functions.hub.downstream.history_replay import replayed
from functions.hub.downstream.interface import AgentRequest, TransportCall

_OUTPUT_MODES = ("text/plain", "application/json")
_FIRST_POLL_SECONDS = 0.1
_SLOWEST_POLL_SECONDS = 2.0
_TASK_IS_GONE = frozenset({TASK_NOT_FOUND.code, UNSUPPORTED_OPERATION.code})
# The connection was lost; the agent may still be working.
_LOST = frozenset({ClientFault.CUT, ClientFault.UNANSWERED, ClientFault.UNREACHABLE})
# Transient faults: the agent restarts, or is overloaded.
_TRANSIENT = _LOST | {ClientFault.TIMEOUT, ClientFault.SERVER_ERROR, ClientFault.RATE_LIMITED}
_TRANSIENT_SECONDS = 20.0


class AgentSession:
    """One turn. `call` has the headers of each request, and the limits of answers, streams and continuing tasks."""

    def __init__(self, endpoint: Endpoint, agent_request: AgentRequest, *, call: TransportCall) -> None:
        self._request = agent_request
        self._streaming = agent_request.streaming and endpoint.streaming
        self._client = A2AClient(
            http=call.http,
            endpoint=endpoint,
            headers=call.headers,
            budget=call.stream_budget if self._streaming else call.budget,
            cancellation=agent_request.call.cancellation,
        )
        # Such a turn may outlive its caller, and survives a short outage of the agent.
        outlives_request = agent_request.call.task is not None
        self._task_client = replace(self._client, budget=call.stream_budget) if outlives_request else self._client
        self._budget = call.budget
        self._clock = call.http.clock
        self._transient_seconds = _TRANSIENT_SECONDS if outlives_request else 0.0
        self._caller_left: threading.Event | None = None

    def events(self) -> Generator[model.Event]:
        """Return the agent's events of this turn. Raises ClientError."""
        agent_request = self._request
        if not (agent_request.executes or agent_request.development_tool):
            return self._answer()
        if not agent_request.executes:
            return replayed(self._answer(), since=agent_request.message.message_id)
        assert agent_request.running_task_id is not None, "the agent executes a command already"
        return replayed(self._follow(agent_request.running_task_id))

    def _answer(self) -> Generator[model.Event]:
        running = self._request.running_task_id
        task = self._task(running) if running is not None else None
        if task is not None:
            yield task
            # A subscription of 0.3 begins without the task, and so without what it missed since then (A2A 1.0.1 §3.1.6).
            follows = self._client.endpoint.version is model.Version.V1_0 and not task.status.state.settled
            yield from self._follow(task.id) if follows else self._poll(task)
            return
        event: model.Event | None = None
        is_silent = self._streaming
        try:
            for event in self._send(self._request.message):
                is_silent = is_silent and _is_silent(event)
                if is_silent and isinstance(event, model.TaskStatusUpdateEvent):
                    event = self._with_content(event)
                yield event
        except ClientError as error:
            if event is not None:
                event = self._recovered(event, error)
                yield event
            elif self._request.message.task_id is None or error.code not in _TASK_IS_GONE:
                raise
            elif not self._request.decides:
                # The waiting task has ended and the agent did not act: the user's message becomes a new request.
                rest = self._completed() or self._send(replace(self._request.message, task_id=None))
                for event in rest:
                    yield event
        if isinstance(event, model.Task):
            yield from self._poll(event)

    def _completed(self) -> tuple[model.Task, ...]:
        """Return the task that waited for a sign-in, if it went on after that and has completed (A2A 1.0.1 §7.6)."""
        task_id, current = self._request.message.task_id, self._request.call.task
        before = current.before.status.state if current and current.before else None
        if task_id is None or before is not model.TaskState.AUTH_REQUIRED:
            return ()
        task = self._task(task_id)
        return (task,) if task is not None and task.status.state is model.TaskState.COMPLETED else ()

    def _follow(self, task_id: str) -> Iterator[model.Event]:
        """Yield the events of the agent's task, from now on, or poll the task where it cannot be subscribed to."""
        event: model.Event | None = None
        try:
            if self._client.endpoint.streaming:
                for event in self._task_client.subscribe(task_id):
                    yield event
                return
        except ClientError as error:
            # Before the first event, the task may just have ended, or the agent may not support the operation. Long silence of
            # a command proves nothing.
            if event is not None and error.fault not in _TRANSIENT:
                raise
        task = self._get(task_id)
        yield task
        yield from self._poll(task)

    def _send(self, message: model.Message) -> Iterator[model.Event]:
        configuration = model.SendMessageConfiguration(accepted_output_modes=_OUTPUT_MODES)
        request = model.SendMessageRequest(message=message, configuration=configuration)
        events = self._sent(request) if self._streaming else self._client.send(request, streaming=False)
        return events if message.task_id is None else _without_snapshot(events, message.task_id)

    def _sent(self, request: model.SendMessageRequest) -> Iterator[model.Event]:
        """Yield the events of the agent's stream, or its answer at once if it refuses to stream (A2A 1.0.1 §3.1.2).

        Agents with the official SDK for JavaScript (1.3) refuse so the answer to their question, which they take at once. As they
        may have begun to work on it, a decision on a tool call is not sent twice.
        """
        is_begun = False
        try:
            for event in self._client.send(request, streaming=True):
                is_begun = True
                yield event
        except ClientError as error:
            if is_begun or self._request.decides or error.code != UNSUPPORTED_OPERATION.code:
                raise
            yield from replace(self._client, budget=self._budget).send(request, streaming=False)

    def _with_content(self, event: model.TaskStatusUpdateEvent) -> model.Event:
        """Return the whole task for the last update of a stream without content: FastA2A's streams may have states alone."""
        state = event.status.state
        if not (state is model.TaskState.COMPLETED or state.interrupted):
            return event
        try:
            task = self._task_client.get_task(event.task_id)
        except ClientError:
            return event
        return task if task.status.state is state else event

    def _task(self, task_id: str) -> model.Task | None:
        """Return the agent's task as it is now; None if the agent no longer knows it."""
        try:
            return self._get(task_id)
        except ClientError as error:
            if error.code in _TASK_IS_GONE or error.fault is ClientFault.NOT_FOUND:
                return None
            raise

    def _recovered(self, last: model.Event, error: ClientError) -> model.Task:
        """Return the task whose stream broke off. Raises `error` if there is none, or it cannot be fetched."""
        if isinstance(last, model.Message) or error.fault not in _LOST:
            raise error
        try:
            return self._get(last.id if isinstance(last, model.Task) else last.task_id)
        except ClientError:
            raise error from None

    def _get(self, task_id: str) -> model.Task:
        """Fetch the task as it is now, with retries while the agent cannot be reached for a moment."""
        until = self._clock() + self._transient_seconds
        pause = _FIRST_POLL_SECONDS
        while True:
            try:
                return self._task_client.get_task(task_id)
            except ClientError as error:
                pause = max(pause, error.retry_after_seconds or 0.0)
                if error.fault not in _TRANSIENT or self._clock() + pause > until:
                    raise
            pause = self._pause(pause)

    def _poll(self, task: model.Task) -> Iterator[model.Task]:
        """Poll the task until it ends or waits: some agents answer at once and continue to work."""
        pause = _FIRST_POLL_SECONDS
        while not task.status.state.settled:
            pause = self._pause(pause)
            found = self._task(task.id)
            if found is None:
                raise ClientError(ClientFault.CUT, "the agent no longer knows its task")
            task = found
            yield task

    def _pause(self, seconds: float) -> float:
        """Wait, and return the next pause in seconds. Raises ClientError if no time is left, or the caller has left."""
        remaining = self._task_client.budget.deadline - self._clock()
        if remaining <= 0:
            raise ClientError(ClientFault.TIMEOUT, "its task did not end in time")
        if self._caller_left is None:
            self._caller_left = threading.Event()
            self._request.call.cancellation.on_cancel(self._caller_left.set)
        if self._caller_left.wait(min(seconds, remaining)):
            raise ClientError(ClientFault.CANCELLED, "the caller left")
        return min(seconds * 1.5, _SLOWEST_POLL_SECONDS)


def _is_silent(event: model.Event) -> bool:
    if isinstance(event, model.Task):
        return event.status.message is None and not event.artifacts
    return isinstance(event, model.TaskStatusUpdateEvent) and event.status.message is None


def _without_snapshot(events: Iterator[model.Event], waiting_task_id: str) -> Iterator[model.Event]:
    """Drop the replayed snapshot of the interrupted task with which a stream may begin (A2A 1.0.1 §3.1.2).

    If nothing follows, the snapshot is the answer: the agent asks again.
    """
    first = next(events, None)
    if first is None:
        return
    if not (isinstance(first, model.Task) and first.id == waiting_task_id and first.status.state.interrupted):
        yield first
    else:
        try:
            yield next(events, first)
        except ClientError:
            yield first
            raise
    yield from events
