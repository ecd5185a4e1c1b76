"""Contestants under the same load, in turn, round by round, so that disturbances of the machine hit all alike."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.load import Load
from bench.report import Target, at_least, median_and_range
from bench.servers import Contestant, Settings, processor_seconds_of

OLDER_HUB = "hub of the older checkout"
_LEAST_OF_OLDER = 0.97
HEAD = ("", "req/s", "p50 ms", "p99 ms", "CPU µs/req", "req/s ratio", "generator busy")


@dataclass(frozen=True, slots=True)
class Measured:
    """One contestant in one round. `processor_us` is what the server itself used for one request; None where nobody counts it."""

    load: Load
    processor_us: float | None


Measurements = dict[str, list[Measured]]


def contest(contestants: Sequence[Contestant], settings: Settings, *, connections: int) -> Measurements:
    """Measure each contestant once a round, after one measurement that does not count. The order is reversed with every round."""
    measurements: Measurements = {one.server.name: [] for one in contestants}
    for one in contestants:
        _measured(one, settings, connections=connections, seconds=1.0)
    for number in range(settings.rounds):
        for one in contestants if number % 2 else reversed(contestants):
            measured = _measured(one, settings, connections=connections, seconds=settings.seconds)
            measurements[one.server.name].append(measured)
    return measurements


def rows(measurements: Measurements, reference: str) -> list[list[str]]:
    """Return a line for each contestant: medians, and the ratio of its throughput to the reference's."""
    return [
        [
            name,
            median_and_range([one.load.requests_per_second for one in mine], 0),
            f"{statistics.median(one.load.p50_ms for one in mine):.2f}",
            f"{statistics.median(one.load.p99_ms for one in mine):.2f}",
            _processor_us(mine),
            f"{throughput_ratio(mine, measurements[reference]):.2f}",
            f"{statistics.median(one.load.generator_busy for one in mine):.0%}",
        ]
        for name, mine in measurements.items()
    ]


def beside_older(measurements: Measurements, *, hub: str) -> list[Target]:
    """Return the ratios of the hub to that of the older checkout, where it took part."""
    older = measurements.get(OLDER_HUB)
    if older is None:
        return []
    ratios = {
        "throughput": throughput_ratio(measurements[hub], older),
        "1/p50": paired(measurements[hub], older, lambda mine, other: other.p50_ms / mine.p50_ms),
    }
    wanted = f"hub ≥ {_LEAST_OF_OLDER:.2f} x that of the older checkout"
    return [at_least(f"{wanted}, {what}", ratio, _LEAST_OF_OLDER, shown="{:.2f} x") for what, ratio in ratios.items()]


def throughput_ratio(mine: Sequence[Measured], others: Sequence[Measured]) -> float:
    """Return the median of the rounds' ratios."""
    return paired(mine, others, lambda a, b: a.requests_per_second / b.requests_per_second)


def paired(mine: Sequence[Measured], others: Sequence[Measured], compare: Callable[[Load, Load], float]) -> float:
    """Return the median of a comparison that is made within each round."""
    return statistics.median(compare(a.load, b.load) for a, b in zip(mine, others, strict=True))


def _measured(contestant: Contestant, settings: Settings, *, connections: int, seconds: float) -> Measured:
    server, session = contestant.server, contestant.process.popen.pid
    before = processor_seconds_of(session)
    load = settings.generator.run(server.port, server.question, connections=connections, seconds=seconds)
    after = processor_seconds_of(session)
    used = None if before is None or after is None else (after - before) * 1e6 / load.requests
    return Measured(load, used)


def _processor_us(measurements: Sequence[Measured]) -> str:
    known = [one.processor_us for one in measurements if one.processor_us is not None]
    return f"{statistics.median(known):.0f}" if known else "not known"
