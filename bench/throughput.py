"""The hub with an agent in its own process, beside a bare function and beside the same work on the official SDK's server."""

from dataclasses import replace

from bench.contest import HEAD, OLDER_HUB, beside_older, contest, rows, throughput_ratio
from bench.question import SEND_0_3, SEND_1_0
from bench.report import Target, at_least, table
from bench.servers import SUBJECTS, Contestant, Server, Settings, function, python_path, sdk, sdk_version, serving
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
        path = python_path(settings.against)
        servers.append(function(OLDER_HUB, older, target="hub", port=ports[3], PYTHONPATH=path))
    with serving(servers, settings) as running:
        contestants = [Contestant(variant, one.process) for one in running for variant in _variants(one.server)]
        for connections in (1, 16):
            measured = contest(contestants, settings, connections=connections)
            noun = "connection" if connections == 1 else "connections"
            table(f"One question, a constant answer, {connections} {noun}", HEAD, rows(measured, BARE))
    of_bare = throughput_ratio(measured[HUB], measured[BARE])
    of_sdk, of_sdk_1_0 = (
        throughput_ratio(measured[mine], measured[theirs]) for mine, theirs in ((HUB, SDK), (HUB_1_0, SDK_1_0))
    )
    return [
        at_least("hub ≥ 85 % of a bare function, 16 connections", of_bare, 0.85, shown="{:.0%}"),
        *beside_older(measured, hub=HUB),
        at_least("hub ≥ 5 x a2a-sdk, message/send (0.3), 16 connections", of_sdk, 5, shown="{:.1f} x"),
        at_least("hub ≥ 5 x a2a-sdk, SendMessage (1.0), 16 connections", of_sdk_1_0, 5, shown="{:.1f} x"),
    ]


def _variants(server: Server) -> tuple[Server, ...]:
    """Return the server, and where the version makes a difference, the same server with a question in the other version."""
    other = {HUB: HUB_1_0, SDK: SDK_1_0}.get(server.name)
    return (server, replace(server, name=other, question=SEND_1_0)) if other else (server,)
