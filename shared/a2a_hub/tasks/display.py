"""A task as a user interface may show it: text that hides nothing and leads nowhere else, however it is cut into parts."""

from typing import Protocol

from msgspec import Struct

from a2a_hub.a2a.model import Part

# More than what decides on the text that follows it.
_LONGEST_END = 50


class Display(Protocol):
    """The filter of parts for user interfaces."""

    def __call__(self, parts: tuple[Part, ...], *, is_question: bool = False, after: str = "") -> tuple[Part, ...]:
        """Return the parts of one text, or of a question, as they may be shown where the text `after` is shown before them."""


def unfiltered(parts: tuple[Part, ...], *, is_question: bool = False, after: str = "") -> tuple[Part, ...]:  # noqa: ARG001 - the protocol's
    """Return the parts as they are: a `Display` of texts of one's own."""
    return parts


class ShownArtifacts(Struct):
    """The artifacts of one task, which may come in chunks, as `display` shows them."""

    display: Display
    _ends: dict[str, str] = {}

    def show(self, artifact_id: str, parts: tuple[Part, ...], *, append: bool = False) -> tuple[Part, ...]:
        """Return the parts of an artifact, or of a chunk to `append`, as they may be shown."""
        before = self._ends.get(artifact_id, "") if append else ""
        shown = self.display(parts, after=before)
        self._ends[artifact_id] = (before + "".join(part.text or "" for part in shown))[-_LONGEST_END:]
        return shown
