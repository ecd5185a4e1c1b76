"""The body of a streaming operation: the events of one source as server-sent events (WHATWG HTML §9.2), with keep-alives."""

import time
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from a2a_hub.a2a.bindings import sse
from a2a_hub.a2a.errors import INVALID_AGENT_RESPONSE, A2AError
from a2a_hub.a2a.fold import TaskAccumulator
from a2a_hub.a2a.model import Event, Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent
from a2a_hub.a2a.relay import EventSource
from a2a_hub.http.messages import Response, Wake

# The official SDK for Python waits five seconds for a byte (the default of httpx), and then gives up the stream.
KEEP_ALIVE_SECONDS = 3.0


class EventStream(Struct):
    """The body of a text/event-stream (`PolledBody`): events, comments during pauses, and an error as the last event.

    `encode` returns an event's data, `encode_failure` the data for an exception that ends it. Before the first chunk a failure
    is an ordinary response: that of `respond`. `on_close` is called by `close`, perhaps more than once.
    """

    source: EventSource
    keep_alive_seconds: float
    encode: Callable[[Event], bytes]
    encode_failure: Callable[[Exception], bytes]
    respond: Callable[[Exception], Response]
    on_close: Callable[[], None] = lambda: None
    clock: Callable[[], float] = time.monotonic
    failure: Response | None = None
    _silent_until: float = 0.0
    _begun: bool = False
    _ended: bool = False
    _woken: bool = False

    def __post_init__(self) -> None:
        self._silent_until = self.clock() + self.keep_alive_seconds

    @property
    def idle_seconds(self) -> float:
        return max(0.0, self._silent_until - self.clock())

    def poll(self) -> bytes | None:
        if self._ended:
            raise StopIteration
        self._woken = False
        chunk = self._chunk()
        if chunk is None and self.clock() >= self._silent_until:
            chunk = sse.KEEP_ALIVE
        if chunk is not None:
            self._begun = True
            self._silent_until = self.clock() + self.keep_alive_seconds
        return chunk

    def on_ready(self, wake: Callable[[], None]) -> None:
        """See `PolledBody.on_ready`. Of a burst of events, only the first wakes a reader that has not polled since."""

        def wake_once() -> None:
            if not self._woken:
                self._woken = True
                wake()

        self.source.on_ready(wake_once)

    def close(self) -> None:
        self._ended = True
        self.source.close()
        self.on_close()

    def _chunk(self) -> bytes | None:
        try:
            event = self.source.poll()
            return None if event is None else sse.write(self.encode(event))
        except StopIteration:
            self._ended = True
            if self._begun:
                raise
            failure: Exception = A2AError(INVALID_AGENT_RESPONSE, "The agent sent no result")
        except Exception as error:
            self._ended = True
            if self._begun:
                return sse.write(self.encode_failure(error))
            failure = error
        self.failure = self.respond(failure)
        raise StopIteration


def is_from_adk(message: Message) -> bool:
    """Return True if a part has the mark that ADK gives the texts of a user."""
    return any((part.metadata or {}).get("is_user_input") for part in message.parts)


class WholeArtifacts:
    """A turn's events for programs made with ADK, an `EventSource`: the last chunk of an artifact is the whole artifact. One
    without a last chunk gets it before the status that settles the turn.

    ADK's own agents end an artifact with a chunk that replaces it whole (A2A 1.0.1 §4.2.2), and its `RemoteA2aAgent` (2.13.0)
    takes all others for previews, which are in no session.
    """

    def __init__(self, events: EventSource) -> None:
        self._events = events
        self._growing: TaskAccumulator | None = None
        self._open: dict[str, TaskArtifactUpdateEvent] = {}
        self._next: list[Event] = []

    def poll(self) -> Event | None:
        event = self._next.pop(0) if self._next else self._events.poll()
        match event:
            case Task():
                self._growing = TaskAccumulator(event)
            case TaskArtifactUpdateEvent(artifact=artifact) if self._growing is not None:
                self._growing.add(event)
                if not event.last_chunk:
                    self._open[artifact.artifact_id] = event
                elif self._open.pop(artifact.artifact_id, None) is not None or event.append:
                    whole = self._growing.artifact(artifact.artifact_id) or artifact
                    return replace(event, artifact=whole, append=False)
            case TaskStatusUpdateEvent(status=status) if self._open and status.state.settled:
                last = [replace(each, append=True, last_chunk=True) for each in self._open.values()]
                empty = [replace(each, artifact=replace(each.artifact, parts=())) for each in last]
                self._next = [*empty, event]
                return self.poll()
        return event

    def on_ready(self, wake: Wake) -> None:
        self._events.on_ready(wake)

    def close(self) -> None:
        self._events.close()
