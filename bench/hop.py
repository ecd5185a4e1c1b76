"""What the hub adds to an A2A agent over HTTP: the agent through the real hub, beside the same agent called directly."""

from bench.contest import HEAD, Contestant, contest, paired, rows
from bench.report import Target, table
from bench.servers import SUBJECTS, function, serving
from bench.settings import Settings
from local.functions import ROOT
from local.ports import LOOPBACK, free_ports

DIRECT = "agent called directly"
HUB = "agent through the hub"
_MOST_ADDED_MS = 1.0


def run(settings: Settings) -> list[Target]:
    """Prints the table; the target for the added latency."""
    ports = free_ports(2)
    direct = function(DIRECT, SUBJECTS / "constant_agent.py", target="agent", port=ports[0])
    urls = {f"{name}_URL": f"http://{LOOPBACK}:{ports[0]}" for name in ("DOCQA", "EXPENSE", "GENERAL", "PM")}
    hub = function(HUB, ROOT / "functions" / "hub" / "main.py", target="hub", port=ports[1], **urls)
    with serving((direct, hub), parent_watch=settings.parent_watch, folder=settings.folder) as processes:
        contestants = [Contestant(*pair) for pair in zip((direct, hub), processes, strict=True)]
        measured = contest(contestants, settings, connections=1)
    table("An agent over HTTP, 1 connection", HEAD, rows(measured, DIRECT))
    added = paired(measured[HUB], measured[DIRECT], lambda mine, other: mine.p50_ms - other.p50_ms)
    return [
        Target(
            wanted=f"hub adds ≤ {_MOST_ADDED_MS:.1f} ms to the agent's p50, 1 connection",
            measured=f"{added:.2f} ms",
            met=added <= _MOST_ADDED_MS,
        )
    ]
