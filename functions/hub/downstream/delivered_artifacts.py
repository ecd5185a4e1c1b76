"""The artifacts of an agent's task that earlier turns told of: an agent that answers with its whole task names them again."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256


class Told:
    """`hashes` are those of the artifacts' texts, by id. `again` are the texts that were named once more, as they were."""

    def __init__(self, hashes: Mapping[str, str]) -> None:
        self._hashes = hashes
        self.again: list[str] = []

    def holds(self, artifact_id: str, text: str) -> bool:
        """Whether the user has this text of this artifact."""
        held = text != "" and self._hashes.get(artifact_id) == _hash(text)
        if held:
            self.again.append(text)
        return held

    def merged_with(self, texts: Mapping[str, str]) -> Mapping[str, str]:
        """The hashes after a turn that told these texts."""
        return {**self._hashes, **{artifact_id: _hash(text) for artifact_id, text in texts.items()}}


def _hash(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]
