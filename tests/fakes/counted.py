"""A recorder of telemetry that counts."""

import contextlib
from collections import Counter
from collections.abc import Iterator

from a2a_hub.telemetry import tracing
from a2a_hub.telemetry.tracing import Attributes, Kind, Span


class Counting:
    """The sums of all counters, by name and values of their labels."""

    def __init__(self) -> None:
        self.sums: Counter[tuple[str, ...]] = Counter()

    def add(self, name: str, value: int, attributes: Attributes) -> None:
        self.sums[name, *map(str, attributes.values())] += value

    def span(self, name: str, parent: str | None, kind: Kind, attributes: Attributes) -> Span:  # noqa: ARG002
        return Span(parent)

    def measure(self, name: str, seconds: float, attributes: Attributes, traceparent: str | None) -> None: ...

    def flush(self) -> None: ...


@contextlib.contextmanager
def counted() -> Iterator[Counter[tuple[str, ...]]]:
    """What this process counts inside."""
    recorder = Counting()
    tracing.install(recorder)
    try:
        yield recorder.sums
    finally:
        tracing.install(None)
