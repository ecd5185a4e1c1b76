"""Spans and metrics over OTLP (HTTP, protobuf), by OpenTelemetry's SDK. Its import takes a tenth of a second: see `start`."""

import random
import threading
import time
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.metrics import CallbackOptions, Observation
from opentelemetry.sdk.metrics import Exemplar, MeterProvider
from opentelemetry.sdk.metrics import Histogram as HistogramInstrument
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Histogram,
    HistogramDataPoint,
    Metric,
    MetricExportResult,
    MetricsData,
    PeriodicExportingMetricReader,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

from a2a_hub.runtime.ids import new_id
from a2a_hub.runtime.version import VERSION
from a2a_hub.telemetry.tracing import Attributes, Kind, Span

_GOOGLE = ".googleapis.com"
_SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)
# OpenTelemetry's own are for milliseconds.
_BOUNDARIES_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)
_STREAMS = "a2a_hub.streams"
# The limit of the attribute sets of a metric, and the name of the set beyond, by OpenTelemetry's metrics SDK specification
# ("Cardinality limits").
_MAX_SERIES = 2_000
_OVERFLOW = {"otel.metric.overflow": True}


class OtlpRecorder:
    """See `tracing.Recorder`. It begins to send at once, and sends the rest at the end of the process.

    Whether a trace is kept depends on its id alone, so that functions with one ratio agree, whatever a proxy in between, or a
    caller, writes into the flags.
    """

    def __init__(self, function: str, endpoint: str, *, ratio: float, project: str | None) -> None:
        of_google = {"gcp.project_id": project} if project else {}
        about = {"service.name": function, "service.version": VERSION, "service.instance.id": new_id(), **of_google}
        resource, url, session = Resource.create(about), endpoint.rstrip("/"), _session(endpoint)
        self._bound = round(ratio * (1 << 64))
        traces = TracerProvider(resource=resource, id_generator=_KeptIds(self._bound), sampler=ALWAYS_ON)
        traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{url}/v1/traces", session=session)))
        self._durations = _Durations(f"{url}/v1/metrics", session=session)
        metrics = MeterProvider(resource=resource, metric_readers=[PeriodicExportingMetricReader(self._durations)])
        self._tracer = traces.get_tracer("a2a_hub", VERSION)
        self._meter = metrics.get_meter("a2a_hub", VERSION)
        self._providers = (traces, metrics)
        self._counters: dict[str, Any] = {}
        self._streams, self._lock = 0, threading.Lock()
        # It always has a value, and what has none is not exported, nor are the durations beside it.
        self._meter.create_observable_up_down_counter(_STREAMS, [self._open_streams])

    def span(self, name: str, parent: str | None, kind: Kind, attributes: Attributes) -> Span:
        """See `tracing.Recorder`."""
        # The rule of OpenTelemetry's TraceIdRatioBased; most requests need no more than this.
        low = int(parent[19:35], 16) if parent else random.getrandbits(64)
        if low >= self._bound:
            return Span(f"{parent[:53]}00" if parent else f"00-{random.getrandbits(64):016x}{low:016x}-{low:016x}-00")
        context = set_span_in_context(NonRecordingSpan(_span_context(f"{parent[:53]}01"))) if parent else None
        return _OtlpSpan(self._tracer.start_span(name, context, SpanKind[kind.upper()], dict(attributes)))

    def add(self, name: str, value: int, attributes: Attributes) -> None:
        """See `tracing.Recorder`."""
        if name == _STREAMS:
            with self._lock:
                self._streams += value
            return
        if (counter := self._counters.get(name)) is None:
            counter = self._counters.setdefault(name, self._meter.create_counter(name))
        counter.add(value, attributes)

    def measure(self, name: str, seconds: float, attributes: Attributes, traceparent: str | None) -> None:
        """See `tracing.Recorder`."""
        self._durations.measure(name, seconds, attributes, traceparent)

    def flush(self) -> None:
        """See `tracing.Recorder`."""
        for provider in self._providers:
            provider.force_flush()

    def _open_streams(self, _: CallbackOptions) -> Iterable[Observation]:
        return [Observation(self._streams)]


@dataclass
class _Series:
    """The measurements with one set of attributes."""

    attributes: Attributes
    least: float
    most: float
    total: float = 0.0
    counts: list[int] = field(default_factory=lambda: [0] * (len(_BOUNDARIES_SECONDS) + 1))
    example: tuple[Exemplar, ...] = ()


class _Durations(OTLPMetricExporter):
    """An exporter that adds the histograms: the SDK takes some 25 µs for a measurement of every request, this a tenth of it."""

    def __init__(self, url: str, *, session: Any) -> None:
        super().__init__(url, session=session)
        self._series: dict[tuple[str, frozenset[tuple[str, object]]], _Series] = {}
        self._since_ns, self._lock = time.time_ns(), threading.Lock()

    def measure(self, name: str, seconds: float, attributes: Attributes, traceparent: str | None) -> None:
        """Count it; a trace that is kept becomes the example."""
        key = name, frozenset(attributes.items())
        with self._lock:
            if (series := self._series.get(key)) is None:
                if len(self._series) >= _MAX_SERIES:
                    attributes = _OVERFLOW
                    key = name, frozenset(_OVERFLOW.items())
                series = self._series.setdefault(key, _Series(attributes, seconds, seconds))
            series.counts[bisect_left(_BOUNDARIES_SECONDS, seconds)] += 1
            series.total += seconds
            series.least, series.most = min(series.least, seconds), max(series.most, seconds)
            if traceparent and traceparent.endswith("1"):
                span = _span_context(traceparent)
                series.example = (Exemplar({}, seconds, time.time_ns(), span.span_id, span.trace_id),)

    def export(
        self, metrics_data: MetricsData, timeout_millis: float | None = 10000, **more: Any
    ) -> MetricExportResult:
        """Send the metrics of the SDK, and the durations."""
        (group,) = metrics_data.resource_metrics
        (scope,) = group.scope_metrics
        metrics = [*scope.metrics, *self._histograms()]
        whole = MetricsData([replace(group, scope_metrics=[replace(scope, metrics=metrics)])])
        return super().export(whole, timeout_millis, **more)

    def _histograms(self) -> Iterator[Metric]:
        assert self._preferred_temporality is not None
        temporality, now_ns = self._preferred_temporality[HistogramInstrument], time.time_ns()
        points: dict[str, list[HistogramDataPoint]] = {}
        with self._lock:
            for (name, _), series in self._series.items():
                point = HistogramDataPoint(
                    attributes=series.attributes,
                    start_time_unix_nano=self._since_ns,
                    time_unix_nano=now_ns,
                    count=sum(series.counts),
                    sum=series.total,
                    bucket_counts=tuple(series.counts),
                    explicit_bounds=_BOUNDARIES_SECONDS,
                    min=series.least,
                    max=series.most,
                    exemplars=series.example,
                )
                points.setdefault(name, []).append(point)
                series.example = ()
            if temporality is AggregationTemporality.DELTA:
                self._series, self._since_ns = {}, now_ns
        for name, found in points.items():
            yield Metric(name, "", "s", Histogram(found, temporality))


class _KeptIds(RandomIdGenerator):
    """Ids of new traces that every function keeps."""

    def __init__(self, bound: int) -> None:
        self._bound = bound

    def generate_trace_id(self) -> int:
        high, low = random.getrandbits(64), random.randrange(self._bound)  # noqa: S311
        return (high << 64 | low) or self.generate_trace_id()


class _OtlpSpan(Span):
    is_recorded = True

    def __init__(self, span: Any) -> None:
        self._span = span
        context = span.get_span_context()
        super().__init__(f"00-{context.trace_id:032x}-{context.span_id:016x}-01")

    def set(self, attributes: Attributes) -> None:
        self._span.set_attributes(attributes)

    def link(self, traceparent: str) -> None:
        self._span.add_link(_span_context(traceparent))

    def end(self, name: str, *, failed: bool) -> None:
        self._span.update_name(name)
        if failed:
            self._span.set_status(Status(StatusCode.ERROR))
        self._span.end()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, stack: TracebackType | None
    ) -> None:
        if isinstance(error, Exception):
            failure = getattr(error, "failure", None)
            fault = getattr(failure, "fault", None) or getattr(failure, "cause", None) or type(error).__qualname__
            self._span.set_attribute("error.type", str(fault))
            self._span.set_status(Status(StatusCode.ERROR))
        self._span.end()


def _span_context(traceparent: str) -> SpanContext:
    _, trace_id, span_id, flags = traceparent.split("-")
    return SpanContext(int(trace_id, 16), int(span_id, 16), is_remote=True, trace_flags=TraceFlags(int(flags, 16)))


def _session(endpoint: str) -> Any:
    """Return a session with Application Default Credentials for Google's own endpoint; None for a collector."""
    if not (urlsplit(endpoint).hostname or "").endswith(_GOOGLE):
        return None
    import google.auth
    from google.auth.transport.requests import AuthorizedSession

    credentials, _ = google.auth.default(scopes=_SCOPES)
    return AuthorizedSession(credentials)  # type: ignore[no-untyped-call]
