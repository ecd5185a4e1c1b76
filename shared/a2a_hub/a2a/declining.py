"""Declining: one of our agents states before any text that it has no answer, and the hub calls a fallback of the route.

The structured form of its answer comes first and names the reason under `declines`. Its text follows: it is what the caller sees
if nobody else answers. Any other answer counts as one, and a failure is a failure.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from a2a_hub.a2a.model import Event, Message, Part, Task, TaskArtifactUpdateEvent, TaskState, TaskStatusUpdateEvent
from a2a_hub.a2a.reply import Data

_KEY = "declines"
_UNDER_WAY = frozenset({TaskState.SUBMITTED, TaskState.WORKING})


class Reason(StrEnum):
    """The reason for declining; of several, the text of the first with the earlier reason here is shown."""

    REPEATED = "repeated"
    """The agent has only the answer before again, for a follow-up."""
    NOT_ASSERTED = "not_asserted"
    """The agent shows passages near the question that do not settle it."""
    FAILED = "failed"
    """The agent cannot read its sources now: an answer, and a reason to ask others only where no rule chose the agent."""
    NOTHING_KNOWN = "nothing_known"
    """The agent knows nothing of the subject."""


_REASONS = {reason.value: reason for reason in Reason}


def declining(reason: Reason, data: Mapping[str, Any]) -> Data:
    """Return the structured answer of an agent that declines, which it gives before its text."""
    return Data({**data, _KEY: reason.value})


def declines(data: Mapping[str, Any]) -> bool:
    """Return True for the structured answer of an agent that declines."""
    return _KEY in data


def reason_of(event: Event) -> Reason | None:
    """Return the reason in an agent's event; None if it does not decline."""
    for part in _parts(event):
        value = part.data.get(_KEY) if isinstance(part.data, dict) else None
        if isinstance(value, str) and value in _REASONS:
            return _REASONS[value]
    return None


def is_undecided(event: Event) -> bool:
    """Return True if the event only reports that the agent is working."""
    if not isinstance(event, Task | TaskStatusUpdateEvent) or event.status.state not in _UNDER_WAY:
        return False
    return not (isinstance(event, Task) and event.artifacts)


def _parts(event: Event) -> Iterable[Part]:
    match event:
        case Message():
            return event.parts
        case TaskArtifactUpdateEvent():
            return event.artifact.parts
        case Task():
            return (part for artifact in event.artifacts for part in artifact.parts)
        case TaskStatusUpdateEvent():
            return ()
