"""The throughput of the hub with traces and metrics, beside the same hub without."""

from bench.report import Target, at_least, contest, throughput_ratio
from bench.servers import SUBJECTS, Contestant, Settings, function, serving
from local.functions import ROOT

_OFF, _ONE_PERCENT, _ALL = "hub without telemetry", "hub, 1 % of the traces", "hub, all traces"
_LEAST = 0.95


def run(settings: Settings) -> list[Target]:
    """Print the table; return the target for what telemetry costs. The bare function takes the place of a collector."""
    hub = ROOT / "bench/subjects/constant_hub.py"
    collector = function("collector", SUBJECTS / "bare.py", target="bare")
    shares = {_OFF: {}, _ONE_PERCENT: {"OTEL_TRACES_SAMPLER_ARG": "0.01"}, _ALL: {"OTEL_TRACES_SAMPLER_ARG": "1"}}
    servers = [
        function(name, hub, target="hub", **({"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url} if share else {}), **share)
        for name, share in shares.items()
    ]
    with serving([collector, *servers], settings) as running:
        contestants = [Contestant(one.server, one.process) for one in running if one.server.name in shares]
        measured = contest("The hub with telemetry", contestants, settings, reference=_OFF, connections=16)
    ratio = throughput_ratio(measured[_ONE_PERCENT], measured[_OFF])
    return [at_least(f"{_ONE_PERCENT} ≥ {_LEAST:g} x {_OFF}, 16 connections", ratio, _LEAST, shown="{:.2f} x")]
