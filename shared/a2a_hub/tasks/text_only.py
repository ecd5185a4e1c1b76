"""What is shown of a task to a client that shows text only, whoever wrote it: text, and files by their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from a2a_hub.a2a.model import (
    Event,
    Message,
    Part,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from a2a_hub.a2a.text import data_as_text, named


class TextOnly:
    """One turn for one client. `with_data`: it takes data beside the text. `nothing` is the text of an answer without any.

    What the task had `before` the turn is not shown again.
    """

    def __init__(self, *, with_data: bool, nothing: Callable[[], str], before: Task | None = None) -> None:
        self._earlier = frozenset(each.artifact_id for each in before.artifacts) if before else frozenset()
        self._with_data = with_data
        self._nothing = nothing
        self._left_out: list[Any] = []
        self._said = False
        self._begun: set[str] = set()

    @property
    def unsaid(self) -> str:
        """What is left to say at the end, where there has been no text: the data as JSON, or that there was nothing."""
        return "" if self._said else data_as_text(self._left_out) or self._nothing()

    def message(self, said: Message) -> Message:
        """The whole result: one text, and the data for a client that takes it."""
        if len(said.parts) == 1 and _speaks(said.parts[0]):
            return said
        parts = self._answer(said.parts)
        text = self.unsaid or "\n\n".join(part.text for part in parts if part.text)
        return replace(said, parts=(Part(text=text), *(part for part in parts if part.text is None)))

    def event(self, event: Event) -> Event | None:
        """The event of a stream; None for one that holds nothing to show."""
        match event:
            case Message():
                return self.message(event)
            case Task():
                return replace(
                    event,
                    status=self._status(event.status),
                    artifacts=tuple(
                        replace(each, parts=parts)
                        for each in event.artifacts
                        if each.artifact_id not in self._earlier
                        if (parts := self._answer(each.parts))
                    ),
                    history=tuple(
                        message for each in event.history if (message := self._beside(each)) is not None
                    ),
                )
            case TaskStatusUpdateEvent():
                return replace(event, status=self._status(event.status))
            case TaskArtifactUpdateEvent():
                return self._artifact(event)

    def _artifact(self, event: TaskArtifactUpdateEvent) -> TaskArtifactUpdateEvent | None:
        # A file is a paragraph of what has been said.
        parts = self._answer(event.artifact.parts, before_file="\n\n" if self._said else "")
        if not parts:
            return None
        id_ = event.artifact.artifact_id
        # What it began with may have been left out.
        append = event.append and id_ in self._begun
        self._begun.add(id_)
        return replace(event, artifact=replace(event.artifact, parts=parts), append=append)

    def _status(self, status: TaskStatus) -> TaskStatus:
        return replace(status, message=self._beside(status.message)) if status.message else status

    def _beside(self, said: Message) -> Message | None:
        """A message that is no part of the answer."""
        parts = self._shown(said.parts)
        return replace(said, parts=parts) if parts else None

    def _answer(self, parts: tuple[Part, ...], *, before_file: str = "") -> tuple[Part, ...]:
        shown = self._shown(parts, before_file)
        self._said = self._said or any(map(_speaks, shown))
        self._left_out += [part.data for part in parts if part.data is not UNSET]
        return shown

    def _shown(self, parts: tuple[Part, ...], before_file: str = "") -> tuple[Part, ...]:
        return tuple(
            part
            if part.text is not None or part.data is not UNSET
            else Part(text=f"{before_file}{named(part)}")
            for part in parts
            if part.data is UNSET or self._with_data
        )


def _speaks(part: Part) -> bool:
    return part.text is not None and part.text.strip() != ""
