"""The hub with an agent in its own process, beside a bare function, the official SDKs' servers, and itself with telemetry."""

import statistics
from collections.abc import Iterator
from dataclasses import replace

from bench.load import SEND_0_3, SEND_1_0
from bench.report import Measurements, Target, at_least, at_most, beside_older, contest, throughput_ratio
from bench.servers import (
    SUBJECTS,
    Contestant,
    Server,
    Settings,
    function,
    javascript,
    javascript_version,
    older_hub,
    sdk,
    sdk_version,
    serving,
    stores,
)
from local.functions import ROOT

_CONSTANT_HUB = "bench/subjects/constant_hub.py"
BARE = "bare function"
HUB = "hub, message/send (0.3)"
HUB_1_0 = "hub, SendMessage (1.0)"
SDK = f"a2a-sdk {sdk_version()}, message/send (0.3)"
SDK_1_0 = f"a2a-sdk {sdk_version()}, SendMessage (1.0)"
SDK_UNTRACED = f"{SDK}, without tracing"
SDK_UNTRACED_1_0 = f"{SDK_1_0}, without tracing"
JS = f"a2a-js {javascript_version()}, message/send (0.3)"
JS_1_0 = f"a2a-js {javascript_version()}, SendMessage (1.0)"
_OF_BARE, _OF_SDK, _OF_SDK_UNTRACED, _OF_JS = 1.05, 5.0, 4.0, 1.1
_MAX_P99_MS = 10.0
_OFF, _ONE_PERCENT, _ALL = "hub without telemetry", "hub, 1 % of the traces", "hub, all traces"
_OF_OFF = 0.95


def run(settings: Settings) -> list[Target]:
    """Print the tables; return the targets of the design's section on speed."""
    hub = ROOT / _CONSTANT_HUB
    servers = [
        function(BARE, SUBJECTS / "bare.py", target="bare"),
        function(HUB, hub, target="hub"),
        sdk(SDK, question=SEND_0_3),
        sdk(SDK_UNTRACED, question=SEND_0_3, OTEL_INSTRUMENTATION_A2A_SDK_ENABLED="false"),
        *filter(None, [javascript(JS, question=SEND_0_3)]),
        *older_hub(settings, _CONSTANT_HUB),
    ]
    # Beside the others, without a target.
    for store, environment in stores(settings.folder).items():
        servers.append(function(f"{HUB}, with {store}", hub, target="hub", **environment))
    with serving(servers, settings) as running:
        contestants = [Contestant(variant, one.process) for one in running for variant in _variants(one.server)]
        for connections in (1, 16):
            title = "One question, a constant answer"
            measured = contest(title, contestants, settings, reference=BARE, connections=connections)
    return [
        *_ratio_targets(measured),
        at_most(
            f"hub's p99 ≤ {_MAX_P99_MS:g} ms, 16 connections",
            statistics.median(one.load.p99_ms for one in measured[HUB]),
            _MAX_P99_MS,
            shown="{:.1f} ms",
        ),
        *beside_older(measured, hub=HUB),
    ]


def run_telemetry(settings: Settings) -> list[Target]:
    """Print the table; return the target for what telemetry costs. The bare function takes the place of a collector."""
    hub = ROOT / _CONSTANT_HUB
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
    return [at_least(f"{_ONE_PERCENT} ≥ {_OF_OFF:g} x {_OFF}, 16 connections", ratio, _OF_OFF, shown="{:.2f} x")]


def _ratio_targets(measured: Measurements) -> Iterator[Target]:
    for mine, theirs, least in (
        (HUB, BARE, _OF_BARE),
        (HUB, SDK, _OF_SDK),
        (HUB_1_0, SDK_1_0, _OF_SDK),
        (HUB, SDK_UNTRACED, _OF_SDK_UNTRACED),
        (HUB_1_0, SDK_UNTRACED_1_0, _OF_SDK_UNTRACED),
        (HUB, JS, _OF_JS),
        (HUB_1_0, JS_1_0, _OF_JS),
    ):
        if theirs in measured:
            ratio = throughput_ratio(measured[mine], measured[theirs])
            yield at_least(f"hub ≥ {least:g} x {theirs}, 16 connections", ratio, least, shown="{:.2f} x")


def _variants(server: Server) -> tuple[Server, ...]:
    """Return the server, and where the version makes a difference, the same server with a question in the other version."""
    other = {HUB: HUB_1_0, SDK: SDK_1_0, SDK_UNTRACED: SDK_UNTRACED_1_0, JS: JS_1_0}.get(server.name)
    return (server, replace(server, name=other, question=SEND_1_0)) if other else (server,)
