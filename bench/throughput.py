"""The hub with an agent in its own process, beside a bare function and beside the same work on the official SDKs' servers."""

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
_MOST_P99_MS = 10.0


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
            f"hub's p99 ≤ {_MOST_P99_MS:g} ms, 16 connections",
            statistics.median(one.load.p99_ms for one in measured[HUB]),
            _MOST_P99_MS,
            shown="{:.1f} ms",
        ),
        *beside_older(measured, hub=HUB),
    ]


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
