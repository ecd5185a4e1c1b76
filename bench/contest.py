"""Contestants under the same load, in turn, round by round: what disturbs the machine hits all of them alike."""

import statistics
from collections.abc import Callable, Sequence

from bench.load import Load
from bench.report import median_and_range
from bench.servers import Server
from bench.settings import Settings


def contest(servers: Sequence[Server], settings: Settings, *, connections: int) -> dict[str, list[Load]]:
    """Each server's loads, one for each round, after one that does not count. The order turns round with every round."""
    loads: dict[str, list[Load]] = {server.name: [] for server in servers}
    for server in servers:
        settings.generator.run(server.port, server.question, connections=connections, seconds=1.0)
    for number in range(settings.rounds):
        for server in servers if number % 2 else reversed(servers):
            load = settings.generator.run(
                server.port, server.question, connections=connections, seconds=settings.seconds
            )
            loads[server.name].append(load)
    return loads


def rows(loads: dict[str, list[Load]], reference: str) -> list[list[str]]:
    """A line for each contestant: medians, and the ratio of its throughput to the reference's."""
    return [
        [
            name,
            median_and_range([load.requests_per_second for load in mine], 0),
            f"{statistics.median(load.p50_ms for load in mine):.2f}",
            f"{statistics.median(load.p99_ms for load in mine):.2f}",
            f"{paired(mine, loads[reference], lambda a, b: a.requests_per_second / b.requests_per_second):.2f}",
            f"{statistics.median(load.generator_busy for load in mine):.0%}",
        ]
        for name, mine in loads.items()
    ]


HEAD = ("", "req/s", "p50 ms", "p99 ms", "ratio", "generator busy")


def paired(mine: Sequence[Load], others: Sequence[Load], compare: Callable[[Load, Load], float]) -> float:
    """The median of a comparison that is made within each round."""
    return statistics.median(compare(a, b) for a, b in zip(mine, others, strict=True))
