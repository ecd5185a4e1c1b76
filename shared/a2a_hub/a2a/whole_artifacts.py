"""The events of a turn for programs made with ADK, which keep of an artifact in chunks only the last one.

ADK's own agents end such an artifact with a chunk that replaces it whole (A2A 1.0.1 §4.2.2), and its `RemoteA2aAgent` (2.13.0)
takes all others for previews, which are in no session.
"""

from msgspec.structs import replace

from a2a_hub.a2a.fold import TaskAccumulator
from a2a_hub.a2a.model import Event, Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent
from a2a_hub.a2a.relay import EventSource, Wake


def is_from_adk(message: Message) -> bool:
    """Return True if a part has the mark that ADK gives the texts of a user."""
    return any((part.metadata or {}).get("is_user_input") for part in message.parts)


class WholeArtifacts:
    """A turn's events, an `EventSource`: the last chunk of an artifact is the whole artifact. One without a last chunk gets it
    before the status that settles the turn.
    """

    def __init__(self, events: EventSource) -> None:
        self._events = events
        self._growing: TaskAccumulator | None = None
        self._open: dict[str, TaskArtifactUpdateEvent] = {}
        self._next: list[Event] = []

    def poll(self) -> Event | None:
        """See `EventSource.poll`."""
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
        """See `EventSource.on_ready`."""
        self._events.on_ready(wake)

    def close(self) -> None:
        """See `EventSource.close`."""
        self._events.close()
