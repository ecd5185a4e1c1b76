"""The hub with an agent in its own process, beside a bare function and beside the same work on the official SDK's server."""

from bench.contest import HEAD, contest, paired, rows
from bench.load import Load
from bench.question import SEND_0_3, SEND_1_0
from bench.report import Target, table
from bench.servers import SUBJECTS, Server, function, sdk, serving
from bench.settings import Settings
from local.ports import free_ports

BARE = "bare function"
HUB = "hub, message/send (0.3)"
HUB_1_0 = "hub, SendMessage (1.0)"
SDK = "a2a-sdk, message/send (0.3)"
SDK_1_0 = "a2a-sdk, SendMessage (1.0)"


def run(settings: Settings) -> list[Target]:
    """Prints the tables; the targets of the design's section on speed."""
    ports = free_ports(3)
    bare = function(BARE, SUBJECTS / "bare.py", target="bare", port=ports[0])
    hub = function(HUB, SUBJECTS / "constant_hub.py", target="hub", port=ports[1])
    official = sdk(SDK, port=ports[2], question=SEND_0_3)
    with serving((bare, hub, official), lifeline=settings.lifeline, folder=settings.folder):
        contestants = (
            bare,
            hub,
            _again(hub, HUB_1_0),
            official,
            _again(official, SDK_1_0),
        )
        for connections in (1, 16):
            loads = contest(contestants, settings, connections=connections)
            noun = "connection" if connections == 1 else "connections"
            table(f"One question, a constant answer, {connections} {noun}", HEAD, rows(loads, BARE))
    of_bare = paired(loads[HUB], loads[BARE], _throughput)
    return [
        Target(
            wanted="hub ≥ 85 % of a bare function, 16 connections",
            measured=f"{of_bare:.0%}",
            met=of_bare >= 0.85,
        ),
        *(
            _beside_sdk(wanted, loads[mine], loads[theirs])
            for wanted, mine, theirs in (
                ("hub ≥ 5 x a2a-sdk, message/send (0.3), 16 connections", HUB, SDK),
                ("hub ≥ 5 x a2a-sdk, SendMessage (1.0), 16 connections", HUB_1_0, SDK_1_0),
            )
        ),
    ]


def _again(server: Server, name: str) -> Server:
    return Server(
        name=name,
        port=server.port,
        command=server.command,
        environment=server.environment,
        question=SEND_1_0,
    )


def _beside_sdk(wanted: str, mine: list[Load], theirs: list[Load]) -> Target:
    times = paired(mine, theirs, _throughput)
    return Target(wanted=wanted, measured=f"{times:.1f} x", met=times >= 5)


def _throughput(mine: Load, other: Load) -> float:
    return mine.requests_per_second / other.requests_per_second
