"""Parts of an agent's answer that are dropped, since the caller may not see them or they are unusable."""

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum

from a2a_hub.a2a.model import Event, Message, Task


class LeftOut(StrEnum):
    """A kind of what is left out, by its name in the log."""

    EVENT_OF_ANOTHER_TASK = "event_of_another_task"
    UNREADABLE_PART = "unreadable_part"


NoteLeftOut = Callable[[LeftOut], None]


def unnoted(_: LeftOut) -> None:
    """Do nothing."""


def of_one_task(events: Iterable[Event], note: NoteLeftOut = unnoted, *, task_id: str = "") -> Iterator[Event]:
    """Yield the events of the stream's task: `task_id`, else the first that is named (A2A 1.0.1 §3.1.2).

    What an agent says of another task may be meant for another person.
    """
    for event in events:
        named = _task_of(event)
        if named and task_id and named != task_id:
            note(LeftOut.EVENT_OF_ANOTHER_TASK)
        else:
            task_id = task_id or named
            yield event


def _task_of(event: Event) -> str:
    if isinstance(event, Task):
        return event.id
    return (event.task_id or "") if isinstance(event, Message) else event.task_id
