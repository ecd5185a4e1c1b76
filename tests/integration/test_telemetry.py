"""Spans and metrics reach a collector over OTLP, one trace through all functions; without an endpoint nothing is imported."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from google.auth.transport.requests import AuthorizedSession

from a2a_hub.gemini.failure import Cause, Failure, ModelFailed, Tokens
from a2a_hub.gemini.prompt import Ended
from a2a_hub.language_models.model import traced
from a2a_hub.telemetry import otlp, tracing
from a2a_hub.telemetry.otlp import OtlpRecorder
from tests.fakes.agent_server import AgentServer
from tests.fakes.agent_wire import message, text
from tests.fakes.hub import Hub, route
from tests.fakes.otlp_collector import Collector, collector
from tests.fakes.signatures import GATE_SETTINGS, HUB_SETTINGS
from tests.integration.gates import TOKEN, function

ROOT = Path(__file__).parents[2]
AWAY = "http://127.0.0.1:9"
TRACE = "0af7651916cd43dd8448eb211c80319c"
TRACEPARENT = f"00-{TRACE}-b7ad6b7169203331-01"
EVERY_FUNCTION = ("gate", "hub", "tasks", "docqa", "general", "expense", "pm", "devtool", "agent_card", "console")


@pytest.fixture(scope="module")
def listening() -> Iterator[Collector]:
    with collector() as found:
        yield found


@pytest.fixture
def sent(listening: Collector) -> Iterator[Collector]:
    """A collector, while this process records as `hub`, with everything kept; `flush` sends it."""
    listening.spans.clear()
    listening.points.clear()
    tracing.install(OtlpRecorder("hub", listening.url, ratio=1.0, project="my-project"))
    yield listening
    _end()


def _flush() -> None:
    recorder = tracing._recorder
    assert isinstance(recorder, OtlpRecorder)
    recorder.flush()


def _end() -> None:
    recorder = tracing._recorder
    assert isinstance(recorder, OtlpRecorder)
    tracing.install(None)
    for provider in recorder._providers:
        provider.shutdown()


@pytest.mark.parametrize("name", EVERY_FUNCTION)
def test_without_an_endpoint_nothing_of_it_is_imported(name: str, tmp_path: Path) -> None:
    code = f"""
import sys
import functions.{name}.main
print([each for each in sys.modules if each.split(".")[0] == "opentelemetry" or each == "a2a_hub.telemetry.otlp"])
"""
    settings = {
        "HUB_DEV_TOKEN": "token",
        "HUB_PUBLIC_URL": "http://hub.example",
        "HUB_URL": AWAY,
        "AGENT_CARD_URL": AWAY,
        "PUBLIC_URL": "https://agent.example",
        "SESSION_KEY": "k" * 32,
        "TOKEN_SIGN_IN": "true",
        "IAM_CREDENTIALS": "none",
        "TASK_STORE": f"sqlite:{tmp_path}/tasks.db",
        "PATH": str(Path(sys.executable).parent),
        "PYTHONPATH": str(ROOT),
        "DEVTOOL_WORKSPACE": str(tmp_path),
        "ALLOW_ANONYMOUS": "true",
        "ANONYMOUS_SUBJECT": "anybody",
    }
    if name == "gate":
        settings |= GATE_SETTINGS
    if name in ("hub", "tasks"):
        settings |= HUB_SETTINGS
    ran = subprocess.run([sys.executable, "-c", code], env=settings, capture_output=True, text=True, timeout=60)
    assert ran.stdout.splitlines()[-1:] == ["[]"], ran.stderr


def test_a_turn_is_a_trace_from_the_caller_to_the_agent(sent: Collector, tmp_path: Path) -> None:
    with AgentServer(lambda _: [message(text("42"))]) as agent:
        hub = Hub(route("alpha", agent.url), settings={"TASK_STORE": f"sqlite:{tmp_path}/tasks.db"})
        hub.stream("alpha", version="1.0", headers={"traceparent": TRACEPARENT})
        _flush()
        (received,) = agent.said
    server = sent.span("SendStreamingMessage")
    assert (server.service, server.trace_id, server.parent_id) == ("hub", TRACE, TRACEPARENT[36:52])
    assert server.attributes["a2a.response.outcome"] == "answered"
    assert server.attributes["a2a_hub.route"] == "alpha"
    assert server.attributes["gen_ai.conversation.id"] == hub.log[-1]["conversation"]
    agent_span = sent.span("invoke_agent Agent alpha")
    assert agent_span.attributes["gen_ai.operation.name"] == "invoke_agent"
    parents = {sent.span("route").parent_id, agent_span.parent_id}
    assert parents == {server.span_id}
    assert sent.span("credential public").parent_id == agent_span.span_id
    stored = [each for each in sent.spans if each.name.startswith("store ")]
    assert {each.trace_id for each in stored} == {TRACE}
    assert {"db.system.name": "sqlite", "db.operation.name": "create"}.items() <= sent.span(
        "store create"
    ).attributes.items()
    assert received.headers["traceparent"] == f"00-{TRACE}-{agent_span.span_id}-01"
    assert agent.received[-1].json["params"]["metadata"]["traceparent"] == received.headers["traceparent"]
    line = hub.log[-1]
    assert (line["logging.googleapis.com/trace"], line["logging.googleapis.com/spanId"]) == (TRACE, server.span_id)


def test_a_trace_that_only_the_metadata_names_is_linked(sent: Collector) -> None:
    with AgentServer(lambda _: [message(text("42"))]) as agent:
        hub = Hub(route("alpha", agent.url))
        params = {
            "message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "alpha"}]},
            "metadata": {"traceparent": TRACEPARENT},
        }
        hub.post("/", {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params})
    _flush()
    server = sent.span("SendMessage")
    assert (server.links, server.trace_id != TRACE) == ([TRACE], True)


def test_a_failure_is_in_the_trace_and_in_the_metrics(sent: Collector) -> None:
    hub = Hub(route("alpha", AWAY))
    for _ in range(6):
        hub.send("alpha")
    hub.request("POST", "/", b"{}", token="wrong")
    _flush()
    failed = [each for each in sent.spans if each.name == "invoke_agent Agent alpha"]
    assert all(each.failed for each in failed)
    assert {each.attributes["error.type"] for each in failed} == {"unreachable", "circuit_open"}
    durations = sent.metric("a2a_hub.request.duration")
    counted = {
        (labels.get("error.type"), labels["a2a.response.outcome"]): point["count"] for labels, point in durations
    }
    assert counted[("UNAUTHENTICATED", "refused")] == "1"
    assert int(counted[("unreachable", "failed")]) + int(counted[("circuit_open", "failed")]) == 6
    assert all("a2a_hub.request.id" not in labels for labels, _ in durations)
    assert any(point.get("exemplars") for _, point in durations)
    # In seconds: most turns take less than five.
    assert all(point["explicitBounds"][:2] == [0.005, 0.01] for _, point in durations)
    ((labels, point),) = sent.metric("a2a_hub.circuit.opened")
    assert (labels, point["asInt"]) == ({"a2a_hub.route": "alpha"}, "1")
    assert sum(int(point["asInt"]) for _, point in sent.metric("a2a_hub.retries")) > 0


def test_open_streams_and_refused_quotas_are_counted(sent: Collector) -> None:
    with AgentServer(lambda _: [message(text("42"))]) as agent:
        hub = Hub(route("alpha", agent.url, turns_per_minute=1))
        stream = hub.open("alpha")
        _flush()
        ((_, during),) = sent.metric("a2a_hub.streams")
        list(stream.chunks)
        sent.points.clear()
        hub.send("alpha")
        _flush()
    ((_, after),) = sent.metric("a2a_hub.streams")
    assert (during["asInt"], after["asInt"]) == ("1", "0")
    ((labels, _),) = sent.metric("a2a_hub.quota.refusals")
    assert labels == {"quota": "route"}


def test_the_order_of_labels_makes_no_other_series_and_their_number_is_limited(sent: Collector) -> None:
    about = {"gen_ai.agent.name": "alpha", "gen_ai.operation.name": "invoke_agent"}
    for each in (about, dict(reversed(about.items()))):
        tracing.measure("gen_ai.invoke_agent.duration", 0.1, each)
    for number in range(3000):
        tracing.measure("gen_ai.invoke_agent.duration", 0.1, {"gen_ai.agent.name": str(number)})
    _flush()
    points = sent.metric("gen_ai.invoke_agent.duration")
    (alpha,) = (point for labels, point in points if labels == about)
    (rest,) = (point for labels, point in points if labels == {"otel.metric.overflow": True})
    assert (alpha["count"], int(rest["count"]), len(points)) == ("2", 3000 - 1999, 2001)


def test_durations_are_in_buckets_and_each_export_has_them_all(sent: Collector) -> None:
    for seconds in (0.005, 0.006, 1000.0):
        tracing.measure("gen_ai.invoke_agent.duration", seconds, {"gen_ai.agent.name": "alpha"})
    _flush()
    sent.points.clear()
    tracing.measure("gen_ai.invoke_agent.duration", 0.02, {"gen_ai.agent.name": "beta"})
    _flush()
    points = {labels["gen_ai.agent.name"]: point for labels, point in sent.metric("gen_ai.invoke_agent.duration")}
    alpha = points["alpha"]
    assert (alpha["explicitBounds"][0], alpha["bucketCounts"]) == (0.005, ["1", "1", *["0"] * 14, "1"])
    assert (alpha["count"], alpha["sum"], alpha["min"], alpha["max"]) == ("3", 1000.011, 0.005, 1000.0)
    assert points["beta"]["count"] == "1"
    assert points["beta"]["startTimeUnixNano"] == alpha["startTimeUnixNano"] < alpha["timeUnixNano"]


def test_a_backend_that_prefers_deltas_gets_each_duration_once(
    listening: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "DELTA")
    listening.points.clear()
    tracing.install(OtlpRecorder("hub", listening.url, ratio=0.0, project=None))
    try:
        for _ in range(2):
            tracing.measure("gen_ai.invoke_agent.duration", 1.0, {})
            _flush()
        _flush()
    finally:
        _end()
    (_, one), (_, two) = listening.metric("gen_ai.invoke_agent.duration")
    assert (one["count"], two["count"]) == ("1", "1")
    assert two["startTimeUnixNano"] == one["timeUnixNano"]


def test_a_model_is_a_span_under_that_of_its_request(sent: Collector) -> None:
    answered = ("42", Ended(finish="STOP", tokens=Tokens(prompt=7, answer=3, total=10), is_cut_short=False))

    def broken() -> Iterator[str]:
        yield "4"
        raise ModelFailed(Failure(cause=Cause.QUOTA, detail="HTTP 429"))

    with tracing.within(TRACEPARENT):
        assert tuple(traced("m-1", "openai", answered)) == answered
        with pytest.raises(ModelFailed):
            list(traced("m-2", "openai", broken()))
    list(traced("m-3", "openai", answered))
    _flush()
    one, two = sent.span("chat m-1"), sent.span("chat m-2")
    assert (one.trace_id, one.failed, one.attributes["gen_ai.usage.input_tokens"]) == (TRACE, False, 7)
    assert (two.failed, two.attributes["error.type"]) == (True, Cause.QUOTA.value)
    assert [each.name for each in sent.spans] == ["chat m-1", "chat m-2"]
    tokens = {
        (labels["gen_ai.request.model"], labels["gen_ai.token.type"]): point["asInt"]
        for labels, point in sent.metric("a2a_hub.tokens")
    }
    assert (tokens["m-1", "input"], tokens["m-3", "output"]) == ("7", "3")


@pytest.mark.parametrize("flags", ["00", "01"])
def test_a_trace_that_is_not_kept_sends_no_span_and_says_so_to_the_agent(flags: str, listening: Collector) -> None:
    listening.spans.clear()
    tracing.install(OtlpRecorder("hub", listening.url, ratio=0.0, project=None))
    try:
        with AgentServer(lambda _: [message(text("42"))]) as agent:
            hub = Hub(route("alpha", agent.url))
            hub.request(
                "POST", "/tools/query", b'{"query": "alpha"}', headers={"traceparent": TRACEPARENT[:-2] + flags}
            )
        _flush()
    finally:
        _end()
    assert agent.said[0].headers["traceparent"].startswith(f"00-{TRACE}-")
    assert agent.said[0].headers["traceparent"].endswith("-00")
    assert hub.log[-1]["logging.googleapis.com/trace_sampled"] is False
    assert listening.spans == []


def test_googles_endpoint_gets_the_tokens_of_the_functions_account_and_a_collector_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    account = {"type": "service_account", "client_email": "hub@example.com", "private_key": key.decode()}
    file = tmp_path / "account.json"
    file.write_text(json.dumps(account | {"token_uri": "https://oauth2.example.com/token"}))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
    session = otlp._session("https://telemetry.googleapis.com")
    assert isinstance(session, AuthorizedSession)
    assert session.credentials.service_account_email == "hub@example.com"
    assert otlp._session("http://localhost:4318") is None
    assert otlp._session("https://telemetry.googleapis.com.example.com") is None


def test_a_collector_that_is_away_costs_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    tracing.install(OtlpRecorder("hub", AWAY, ratio=1.0, project=None))
    try:
        with AgentServer(lambda _: [message(text("42"))]) as agent:
            assert Hub(route("alpha", agent.url)).query("alpha")["answer"] == "42"
    finally:
        _end()


def test_one_trace_goes_through_gate_hub_and_agent_in_processes_of_their_own(tmp_path: Path) -> None:
    with collector() as found:
        told = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": found.url,
            "OTEL_BSP_SCHEDULE_DELAY": "100",
            "IAM_CREDENTIALS": "none",
            "HUB_DEV_TOKEN": TOKEN,
        }
        with function("general", tmp_path, **told) as general:
            routes = tmp_path / "routes.toml"
            routes.write_text(_ROUTES.format(url=f"http://127.0.0.1:{general.port}"))
            with function("hub", tmp_path, ROUTES_FILE=str(routes), **HUB_SETTINGS, **told) as hub:
                hub_url = f"http://127.0.0.1:{hub.port}"
                gate_settings = {**GATE_SETTINGS, "HUB_URL": hub_url, "AGENT_CARD_URL": hub_url}
                with function("gate", tmp_path, **gate_settings, **told) as gate:
                    gate.ask(path="/tools/query", body=b'{"query": "How high is Mount Fuji?"}')
                    _wait_for(found, ("gate", "/tools/query"), ("hub", "/tools/query"), ("general", "/"))
    (at_gate,) = (
        each for each in found.spans if each.service == "gate" and each.attributes["url.path"] == "/tools/query"
    )
    trace = {each.span_id: each for each in found.spans if each.trace_id == at_gate.trace_id}
    agent = next(each for each in trace.values() if each.service == "general" and each.name.startswith("Send"))
    path = [agent]
    while path[-1].parent_id:
        path.append(trace[path[-1].parent_id])
    assert [each.service for each in path] == ["general", "hub", "hub", "gate"]
    ids = {each.attributes["a2a_hub.request.id"] for each in trace.values() if "a2a_hub.request.id" in each.attributes}
    assert len(ids) == 1


@pytest.mark.parametrize("server", ["asgi", "flask"])
def test_what_was_recorded_is_sent_when_the_process_is_told_to_end(server: str, tmp_path: Path) -> None:
    with collector() as found:
        told = {"OTEL_EXPORTER_OTLP_ENDPOINT": found.url, "OTEL_BSP_SCHEDULE_DELAY": "60000", "HTTP_SERVER": server}
        with function("hub", tmp_path, IAM_CREDENTIALS="none", HUB_DEV_TOKEN=TOKEN, **told) as hub:
            hub.ask(method="GET", path="/routes", body=None)
            assert found.spans == []
            os.kill(hub.pid, signal.SIGTERM)
            _wait_for(found, ("hub", "/routes"))


_ROUTES = """
[[routes]]
id = "only"
name = "Only"
description = "The only agent."
url = "{url}"
boundary = "public"
default = true
"""


def _wait_for(found: Collector, *requests: tuple[str, str]) -> None:
    deadline = time.monotonic() + 20
    while not {*requests} <= {(each.service, each.attributes.get("url.path")) for each in found.spans}:
        assert time.monotonic() < deadline, found.spans
        time.sleep(0.05)
