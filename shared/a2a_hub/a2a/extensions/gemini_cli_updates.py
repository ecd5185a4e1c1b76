"""The updates of Gemini CLI's own server, which differs from the extension that its project has specified.

They have the metadata key `coderAgent`, and kinds in kebab-case. Some say `input-required` while the agent works on.
"""

from __future__ import annotations

from msgspec.structs import replace

from a2a_hub.a2a.model import Event, Task, TaskState, TaskStatusUpdateEvent

KEY = "coderAgent"
_OWN_STATE = "__persistedState"


def in_passing(event: Event) -> Event:
    """The event; WORKING instead of INPUT_REQUIRED where the agent works on, which it tells with 0.3's `final` alone."""
    if not isinstance(event, TaskStatusUpdateEvent) or event.status.state is not TaskState.INPUT_REQUIRED:
        return event
    told = (event.metadata or {}).get(KEY)
    if not isinstance(told, dict) or told.get("kind") == "state-change":
        return event
    return replace(event, status=replace(event.status, state=TaskState.WORKING))


def is_task(task: Task) -> bool:
    """The task is one of its own: it keeps its state in the metadata."""
    return _OWN_STATE in (task.metadata or {})


def is_output(artifact_id: str) -> bool:
    """The artifact is what a tool prints while it runs."""
    return artifact_id.startswith("tool-") and artifact_id.endswith("-output")
