"""The client of A2A agents, in their own version and binding. Every failure is a ClientError with one fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import Any
from urllib.parse import quote

from a2a_hub.a2a import operations, protojson
from a2a_hub.a2a.bindings import sse
from a2a_hub.a2a.client_errors import ClientError, ClientFault
from a2a_hub.a2a.client_response import Endpoint, check, decoded, event_of, json_of, result_of
from a2a_hub.a2a.errors import A2AError
from a2a_hub.a2a.extensions.gemini_cli import in_passing
from a2a_hub.a2a.model import Binding, Event, Message, SendMessageRequest, Task, TaskStatusUpdateEvent
from a2a_hub.a2a.operations import Operation
from a2a_hub.a2a.version_table import CODECS
from a2a_hub.http.client import Answer, Budget, Fault, Http, HttpFailure
from a2a_hub.http.messages import EVENT_STREAM, JSON, Cancellation

_LINGER_SECONDS = 0.5


class A2AClient:
    """A client of agents. Thread-safe."""

    def __init__(self, http: Http, *, new_id: Callable[[], str]) -> None:
        self._http = http
        self._new_id = new_id

    def send(
        self,
        endpoint: Endpoint,
        request: SendMessageRequest,
        *,
        streaming: bool,
        headers: Mapping[str, str],
        budget: Budget,
        cancellation: Cancellation | None = None,
    ) -> Iterator[Event]:
        """Yield the agent's events: the one result, or its stream as it arrives. Raises ClientError.

        A stream ends with a Message or a terminal or interrupted state; one that ends before is a CUT.
        """
        operation = operations.SEND_STREAMING_MESSAGE if streaming else operations.SEND_MESSAGE
        with as_client_error():
            answer = self._request(
                endpoint,
                operation,
                CODECS[endpoint.version].write_send(request, endpoint.binding, endpoint.tenant),
                headers=headers,
                budget=budget,
                cancellation=cancellation,
            )
            with closing(answer):
                if streaming and answer.media_type == EVENT_STREAM:
                    yield from self._stream(endpoint, answer, budget, continues=request.message.task_id)
                else:
                    answer.complete_within(budget.idle_seconds)
                    yield event_of(endpoint, json_of(answer))

    def get_task(
        self,
        endpoint: Endpoint,
        task_id: str,
        *,
        headers: Mapping[str, str],
        budget: Budget,
        cancellation: Cancellation | None = None,
    ) -> Task:
        """Return the current task. Raises ClientError."""
        return self._task_result(
            endpoint, operations.GET_TASK, task_id, headers=headers, budget=budget, cancellation=cancellation
        )

    def cancel_task(
        self, endpoint: Endpoint, task_id: str, *, headers: Mapping[str, str], budget: Budget
    ) -> Task:
        """Return the task after its cancellation. Raises ClientError."""
        return self._task_result(endpoint, operations.CANCEL_TASK, task_id, headers=headers, budget=budget)

    def subscribe(
        self,
        endpoint: Endpoint,
        task_id: str,
        *,
        headers: Mapping[str, str],
        budget: Budget,
        cancellation: Cancellation | None = None,
    ) -> Iterator[Event]:
        """Yield the task's events from now on; some agents begin with a snapshot. Raises ClientError, also for an ended task."""
        with as_client_error():
            answer = self._request(
                endpoint,
                operations.SUBSCRIBE_TO_TASK,
                task_id=task_id,
                headers=headers,
                budget=budget,
                cancellation=cancellation,
            )
            with closing(answer):
                if answer.media_type != EVENT_STREAM:
                    yield event_of(endpoint, json_of(answer))
                    return
                for event in self._stream(endpoint, answer, budget, continues=None):
                    yield event
                    if isinstance(event, Task | TaskStatusUpdateEvent) and event.status.state.interrupted:
                        # 1.0 keeps the stream of a waiting task open (§3.1.6): nobody would end it.
                        return

    def result(
        self,
        endpoint: Endpoint,
        operation: Operation,
        params: Any,
        *,
        headers: Mapping[str, str],
        budget: Budget,
    ) -> Any:
        """Return the JSON result of an extension's operation over JSON-RPC. Raises ClientError."""
        with as_client_error():
            answer = self._request(endpoint, operation, params, headers=headers, budget=budget)
            return result_of(endpoint, json_of(answer))

    def _task_result(
        self,
        endpoint: Endpoint,
        operation: Operation,
        task_id: str,
        *,
        headers: Mapping[str, str],
        budget: Budget,
        cancellation: Cancellation | None = None,
    ) -> Task:
        with as_client_error():
            answer = self._request(
                endpoint,
                operation,
                task_id=task_id,
                headers=headers,
                budget=budget,
                cancellation=cancellation,
            )
            return CODECS[endpoint.version].read_task(result_of(endpoint, json_of(answer)))

    def _request(
        self,
        endpoint: Endpoint,
        operation: Operation,
        params: Any = None,
        *,
        task_id: str = "",
        headers: Mapping[str, str],
        budget: Budget,
        cancellation: Cancellation | None = None,
    ) -> Answer:
        """Send a request with `params`, or about a task, and return its successful answer. Raises ClientError."""
        codec = CODECS[endpoint.version]
        method, url = "POST", endpoint.url
        headers = codec.request_headers(headers) | {"accept": EVENT_STREAM if operation.streaming else JSON}
        if endpoint.binding is Binding.HTTP_JSON:
            method = operation.rest[0].method
            url = codec.url(url, operation, endpoint.tenant).replace("{id}", quote(task_id, safe=""))
            body = params or {}
        else:
            if task_id:
                params = {"id": task_id} | ({"tenant": endpoint.tenant} if endpoint.tenant else {})
            name = codec.method(operation)
            body = {"jsonrpc": "2.0", "id": self._new_id(), "method": name, "params": params}
        sends = method == "POST"
        answer = self._http.request(
            method,
            url,
            headers=headers | {"content-type": JSON} if sends else headers,
            body=protojson.encode(body) if sends else None,
            budget=budget,
            cancellation=cancellation,
        )
        check(endpoint, answer)
        return answer

    def _stream(
        self, endpoint: Endpoint, answer: Answer, budget: Budget, *, continues: str | None
    ) -> Iterator[Event]:
        complete = task_began = False
        for data in _stream_data(answer, budget):
            event = in_passing(event_of(endpoint, decoded(data)))
            complete = _may_be_last(event)
            # A message is the whole answer (A2A 1.0.1 §3.1.2), but Agno streams the text of a task that began as messages.
            more_may_follow = task_began and isinstance(event, Message)
            task_began = task_began or not isinstance(event, Message)
            yield event
            if complete and not more_may_follow and not _may_be_as_it_was(event, continues):
                # Some agents cancel what they do when the connection closes: let them close it.
                answer.finish(within_seconds=_LINGER_SECONDS)
                return
        if not complete:
            raise ClientError(ClientFault.CUT, "the stream ended before the task did")


class as_client_error:  # noqa: N801 - reads as a statement
    """A context that turns errors of the layers below into ClientError."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, _type: object, error: BaseException | None, _traceback: object) -> None:
        match error:
            case HttpFailure(fault=Fault() as fault, detail=detail):
                raise ClientError(ClientFault(fault.value), detail) from None
            case A2AError():
                raise ClientError(ClientFault.NOT_A2A, f"the answer is no A2A: {error.message}") from None


def _stream_data(answer: Answer, budget: Budget) -> Iterator[bytes]:
    try:
        yield from sse.read(answer.chunks(), limit_bytes=budget.max_bytes)
    except ValueError:
        raise ClientError(ClientFault.TOO_LARGE, "an event of the stream is too large") from None


def _may_be_last(event: Event) -> bool:
    match event:
        case Message():
            return True
        case TaskStatusUpdateEvent(status=status) | Task(status=status):
            return status.state.settled
        case _:
            return False


def _may_be_as_it_was(event: Event, continues: str | None) -> bool:
    """Return True for the old snapshot of the continued task, with which a follow-up's stream may start."""
    return isinstance(event, Task) and event.id == continues and event.status.state.interrupted
