"""The hub with an agent in its own process, beside a bare function and beside the same work on the official SDK's server."""

from dataclasses import replace

from bench.contest import (
    HEAD,
    OLDER_HUB,
    Contestant,
    Measured,
    Settings,
    beside_older,
    contest,
    rows,
    throughput_ratio,
)
from bench.question import SEND_0_3, SEND_1_0
from bench.report import Target, table
from bench.servers import SUBJECTS, Server, function, python_path, sdk, sdk_version, serving
from local.ports import free_ports

BARE = "bare function"
HUB = "hub, message/send (0.3)"
HUB_1_0 = "hub, SendMessage (1.0)"
SDK = f"a2a-sdk {sdk_version()}, message/send (0.3)"
SDK_1_0 = f"a2a-sdk {sdk_version()}, SendMessage (1.0)"


def run(settings: Settings) -> list[Target]:
    """Print the tables; return the targets of the design's section on speed."""
    ports = free_ports(4)
    bare = function(BARE, SUBJECTS / "bare.py", target="bare", port=ports[0])
    hub = function(HUB, SUBJECTS / "constant_hub.py", target="hub", port=ports[1])
    official = sdk(SDK, port=ports[2], question=SEND_0_3)
    servers = [bare, hub, official]
    if settings.against:
        older = settings.against / "bench" / "subjects" / "constant_hub.py"
        servers.append(
            function(OLDER_HUB, older, target="hub", port=ports[3], PYTHONPATH=python_path(settings.against))
        )
    with serving(servers, parent_watch=settings.parent_watch, folder=settings.folder) as processes:
        contestants = [
            Contestant(variant, process)
            for server, process in zip(servers, processes, strict=True)
            for variant in _variants(server)
        ]
        for connections in (1, 16):
            measured = contest(contestants, settings, connections=connections)
            noun = "connection" if connections == 1 else "connections"
            table(f"One question, a constant answer, {connections} {noun}", HEAD, rows(measured, BARE))
    of_bare = throughput_ratio(measured[HUB], measured[BARE])
    return [
        Target(
            wanted="hub ≥ 85 % of a bare function, 16 connections",
            measured=f"{of_bare:.0%}",
            met=of_bare >= 0.85,
        ),
        *beside_older(measured, hub=HUB),
        *(
            _beside_sdk(wanted, measured[mine], measured[theirs])
            for wanted, mine, theirs in (
                ("hub ≥ 5 x a2a-sdk, message/send (0.3), 16 connections", HUB, SDK),
                ("hub ≥ 5 x a2a-sdk, SendMessage (1.0), 16 connections", HUB_1_0, SDK_1_0),
            )
        ),
    ]


def _variants(server: Server) -> tuple[Server, ...]:
    """Return the server, and where the version makes a difference, the same server with a question in the other version."""
    other = {HUB: HUB_1_0, SDK: SDK_1_0}.get(server.name)
    return (server, replace(server, name=other, question=SEND_1_0)) if other else (server,)


def _beside_sdk(wanted: str, mine: list[Measured], theirs: list[Measured]) -> Target:
    times = throughput_ratio(mine, theirs)
    return Target(wanted=wanted, measured=f"{times:.1f} x", met=times >= 5)
