"""Spans and metrics over OTLP (HTTP, protobuf), by OpenTelemetry's SDK. Its import takes a tenth of a second: see `start`."""

import random
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
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

_KINDS = {"internal": SpanKind.INTERNAL, "server": SpanKind.SERVER, "client": SpanKind.CLIENT}
_NO_CONTEXT = Context()
_GOOGLE = ".googleapis.com"
_SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)
# OpenTelemetry's own are for milliseconds.
_BOUNDARIES_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)
_UP_AND_DOWN = frozenset({"a2a_hub.streams"})


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
        reader = PeriodicExportingMetricReader(OTLPMetricExporter(f"{url}/v1/metrics", session=session))
        metrics = MeterProvider(resource=resource, metric_readers=[reader])
        self._tracer = traces.get_tracer("a2a_hub", VERSION)
        self._meter = metrics.get_meter("a2a_hub", VERSION)
        self._providers = (traces, metrics)
        self._instruments: dict[str, Any] = {}

    def span(self, name: str, parent: str | None, kind: Kind, attributes: Attributes) -> Span:
        """See `tracing.Recorder`."""
        # The rule of OpenTelemetry's TraceIdRatioBased; most requests need no more than this.
        low = int(parent[19:35], 16) if parent else random.getrandbits(64)
        if low >= self._bound:
            return Span(f"{parent[:53]}00" if parent else f"00-{random.getrandbits(64):016x}{low:016x}-{low:016x}-00")
        context = _context(f"{parent[:53]}01") if parent else None
        return _OtlpSpan(self._tracer.start_span(name, context, _KINDS[kind], dict(attributes)))

    def add(self, name: str, value: int, attributes: Attributes) -> None:
        """See `tracing.Recorder`."""
        make = self._meter.create_up_down_counter if name in _UP_AND_DOWN else self._meter.create_counter
        self._instrument(name, make).add(value, attributes)

    def measure(self, name: str, seconds: float, attributes: Attributes, traceparent: str | None) -> None:
        """See `tracing.Recorder`."""
        # Only a trace that is kept is an example.
        context = _context(traceparent) if traceparent and traceparent.endswith("1") else _NO_CONTEXT
        self._instrument(name, self._histogram).record(seconds, attributes, context)

    def flush(self) -> None:
        """See `tracing.Recorder`."""
        for provider in self._providers:
            provider.force_flush()

    def _histogram(self, name: str) -> Any:
        return self._meter.create_histogram(name, "s", explicit_bucket_boundaries_advisory=_BOUNDARIES_SECONDS)

    def _instrument(self, name: str, make: Any) -> Any:
        found = self._instruments.get(name)
        if found is None:
            found = self._instruments.setdefault(name, make(name))
        return found


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


def _context(traceparent: str) -> Any:
    return set_span_in_context(NonRecordingSpan(_span_context(traceparent)))


def _session(endpoint: str) -> Any:
    """Return a session with Application Default Credentials for Google's own endpoint; None for a collector."""
    if not (urlsplit(endpoint).hostname or "").endswith(_GOOGLE):
        return None
    import google.auth
    from google.auth.transport.requests import AuthorizedSession

    credentials, _ = google.auth.default(scopes=_SCOPES)
    return AuthorizedSession(credentials)  # type: ignore[no-untyped-call]
