"""The size of the content of an agent's events."""

from msgspec import UNSET

from a2a_hub.a2a import protojson
from a2a_hub.a2a.model import Event, Message, Part, Task, TaskArtifactUpdateEvent, TaskStatus, TaskStatusUpdateEvent


class ContentSize:
    """The size of the texts, data and files that the events of one answer have, without ids, metadata and envelopes."""

    def __init__(self) -> None:
        self.total_bytes = 0

    def add(self, event: Event) -> None:
        """Count an event. A whole task repeats earlier content, so only what exceeds the size so far is added."""
        match event:
            case Message():
                self.total_bytes += _bytes_of(event.parts)
            case TaskStatusUpdateEvent():
                self.total_bytes += _bytes_of_status(event.status)
            case TaskArtifactUpdateEvent():
                self.total_bytes += _bytes_of(event.artifact.parts)
            case Task():
                artifacts = sum(_bytes_of(artifact.parts) for artifact in event.artifacts)
                messages = sum(_bytes_of(message.parts) for message in event.history)
                self.total_bytes = max(self.total_bytes, artifacts + messages + _bytes_of_status(event.status))


def _bytes_of_status(status: TaskStatus) -> int:
    return _bytes_of(status.message.parts) if status.message else 0


def _bytes_of(parts: tuple[Part, ...]) -> int:
    return sum(map(_bytes_of_part, parts))


def _bytes_of_part(part: Part) -> int:
    if part.data is not UNSET:
        return len(protojson.encode(part.data))
    text = part.text or part.raw or part.url or ""
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))
