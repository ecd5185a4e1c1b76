"""The seam between those who ask a language model, and the models."""

import math
from collections.abc import Iterator
from typing import Protocol

from a2a_hub.gemini.failure import Failure
from a2a_hub.gemini.prompt import Ended, FunctionCall, Prompt, Waiting
from a2a_hub.http.messages import Cancellation


class LanguageModel(Protocol):
    """A model, whose answers are streamed. Thread-safe, across a fork too."""

    @property
    def name(self) -> str:
        """The name of the model, for operators."""

    def stream(
        self, prompt: Prompt, *, cancellation: Cancellation, timeout_seconds: float = math.inf
    ) -> Iterator[str | FunctionCall | Waiting | Ended]:
        """Yield the pieces of the answer as they come, `Ended` last. Raises ModelFailed.

        `timeout_seconds` and the deadline of `cancellation` shorten the limit of the model's settings.
        """

    def hint(self, step: str, failure: Failure) -> dict[str, str]:
        """Return the report of a failed step, for operators only."""
