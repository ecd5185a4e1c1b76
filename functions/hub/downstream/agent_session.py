"""One turn with one agent: the message, its task to the end of the turn, found again when the connection breaks."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Mapping

import msgspec

from a2a_hub.a2a.client import A2AClient, Endpoint
from a2a_hub.a2a.client_errors import ClientError, ClientFault
from a2a_hub.a2a.errors import TASK_NOT_FOUND, UNSUPPORTED_OPERATION
from a2a_hub.a2a.model import (
    Event,
    Message,
    SendMessageConfiguration,
    SendMessageRequest,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatusUpdateEvent,
)
from functions.hub.downstream.history_replay import caught_up
from functions.hub.downstream.interface import AgentRequest, TransportCall

_OUTPUT_MODES = ("text/plain", "application/json")
_FIRST_POLL_SECONDS = 0.1
_SLOWEST_POLL_SECONDS = 2.0
_TASK_IS_GONE = frozenset({TASK_NOT_FOUND.code, UNSUPPORTED_OPERATION.code})
# The connection was lost; the agent may go on.
_LOST = frozenset({ClientFault.CUT, ClientFault.UNREACHABLE})
# Faults that pass by themselves: the agent is restarted, or has too much to do.
_PASSING = _LOST | {ClientFault.TIMEOUT, ClientFault.SERVER_ERROR, ClientFault.RATE_LIMITED}
_PASSING_SECONDS = 20.0


class AgentSession:
    """One turn. `headers` go with each request; `call` has the limits of answers, streams and tasks that go on."""

    def __init__(
        self,
        client: A2AClient,
        endpoint: Endpoint,
        agent_request: AgentRequest,
        *,
        headers: Mapping[str, str],
        call: TransportCall,
    ) -> None:
        self._client = client
        self._endpoint = endpoint
        self._request = agent_request
        self._streaming = agent_request.streaming and endpoint.streaming
        self._headers = headers
        self._budget = call.stream_budget if self._streaming else call.budget
        self._task_budget = call.stream_budget if agent_request.may_outlive_request else self._budget
        self._clock = call.http.clock
        self._passing_seconds = _PASSING_SECONDS if agent_request.may_outlive_request else 0.0
        self._gone: threading.Event | None = None

    def events(self) -> Generator[Event]:
        """The agent's events of this turn. Raises ClientError."""
        agent_request = self._request
        if not (agent_request.executes or agent_request.development_tool):
            return self._answered()
        if not agent_request.executes:
            return caught_up(self._answered(), since=agent_request.message.message_id)
        assert agent_request.running_task_id is not None, "the agent was asked to execute a command before"
        return caught_up(self._followed(agent_request.running_task_id))

    def _answered(self) -> Generator[Event]:
        running = self._request.running_task_id
        task = self._task(running) if running is not None else None
        if task is not None:
            yield task
            yield from self._polled(task)
            return
        event: Event | None = None
        try:
            for event in self._sent(self._request.message):
                yield event
        except ClientError as error:
            if event is not None:
                event = self._found_again(event, error)
                yield event
            elif self._request.message.task_id is None or error.code not in _TASK_IS_GONE:
                raise
            elif not self._request.decides:
                # The task that waited has ended, and the agent did nothing: what the user wrote is a new request.
                for event in self._sent(msgspec.structs.replace(self._request.message, task_id=None)):
                    yield event
        if isinstance(event, Task):
            yield from self._polled(event)

    def _followed(self, task_id: str) -> Iterator[Event]:
        """The events of a task of the agent's, from now on; where they cannot be subscribed to, the task as it comes to be."""
        event: Event | None = None
        try:
            if self._endpoint.streaming:
                for event in self._subscribed(task_id):
                    yield event
                return
        except ClientError as error:
            # Before there was an event, the task may just have ended, and an agent may know no such operation. That a command
            # is silent for long says nothing.
            if event is not None and error.fault not in _PASSING:
                raise
        task = self._get(task_id)
        yield task
        yield from self._polled(task)

    def _subscribed(self, task_id: str) -> Iterator[Event]:
        return self._client.subscribe(
            self._endpoint,
            task_id,
            headers=self._headers,
            budget=self._task_budget,
            cancellation=self._request.cancellation,
        )

    def _sent(self, message: Message) -> Iterator[Event]:
        configuration = SendMessageConfiguration(accepted_output_modes=_OUTPUT_MODES)
        events = self._client.send(
            self._endpoint,
            SendMessageRequest(message=message, configuration=configuration),
            streaming=self._streaming,
            headers=self._headers,
            budget=self._budget,
            cancellation=self._request.cancellation,
        )
        return events if message.task_id is None else _from_now_on(events, message.task_id)

    def _task(self, task_id: str) -> Task | None:
        """The agent's task as it is by now; None when the agent does not know it any more."""
        try:
            return self._get(task_id)
        except ClientError as error:
            if error.code in _TASK_IS_GONE or error.fault is ClientFault.NOT_FOUND:
                return None
            raise

    def _found_again(self, last: Event, error: ClientError) -> Task:
        """The task whose stream broke off. Raises `error` where there is none, or none that can be asked for."""
        match last:
            case Task(id=task_id):
                pass
            case TaskStatusUpdateEvent(task_id=task_id) | TaskArtifactUpdateEvent(task_id=task_id):
                pass
            case _:
                raise error
        if error.fault not in _LOST:
            raise error
        try:
            return self._get(task_id)
        except ClientError:
            raise error from None

    def _get(self, task_id: str) -> Task:
        """The task as it is now; an agent that is away for a moment is asked again."""
        until = self._clock() + self._passing_seconds
        pause = _FIRST_POLL_SECONDS
        while True:
            try:
                return self._client.get_task(
                    self._endpoint,
                    task_id,
                    headers=self._headers,
                    budget=self._task_budget,
                    cancellation=self._request.cancellation,
                )
            except ClientError as error:
                if error.fault not in _PASSING or self._clock() + pause > until:
                    raise
            pause = self._pause(pause)

    def _polled(self, task: Task) -> Iterator[Task]:
        """The task again and again, until it ends or waits: some agents answer at once and work on."""
        pause = _FIRST_POLL_SECONDS
        while not task.status.state.settled:
            pause = self._pause(pause)
            task = self._get(task.id)
            yield task

    def _pause(self, seconds: float) -> float:
        """Waits so long. Returns how long to wait the next time. Raises ClientError: no time is left, or the caller has gone."""
        remaining = self._task_budget.deadline - self._clock()
        if remaining <= 0:
            raise ClientError(ClientFault.TIMEOUT, "its task did not end in time")
        if self._gone is None:
            self._gone = threading.Event()
            self._request.cancellation.on_cancel(self._gone.set)
        if self._gone.wait(min(seconds, remaining)):
            raise ClientError(ClientFault.CANCELLED, "the caller left")
        return min(seconds * 1.5, _SLOWEST_POLL_SECONDS)


def _from_now_on(events: Iterator[Event], waiting_task_id: str) -> Iterator[Event]:
    """Without the task as it was when the message came, with which a stream may begin (A2A 1.0.1 §3.1.2): it still asks.

    Where nothing follows, that is the answer: the agent asks again.
    """
    first = next(events, None)
    if first is None:
        return
    if not (isinstance(first, Task) and first.id == waiting_task_id and first.status.state.interrupted):
        yield first
    else:
        try:
            yield next(events, first)
        except ClientError:
            yield first
            raise
    yield from events
