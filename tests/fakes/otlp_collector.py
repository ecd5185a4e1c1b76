"""A stand-in of an OTLP collector: reads protobuf over HTTP, as the exporter sends it."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.fakes.http_server import Exchange, HttpServer


def _attributes(holder: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in holder.attributes}


@dataclass(frozen=True)
class Span:
    """A span that arrived."""

    service: str
    name: str
    trace_id: str
    span_id: str
    parent_id: str
    failed: bool
    attributes: dict[str, Any]
    links: list[str] = field(default_factory=list)


@dataclass
class Collector:
    """The exports that have arrived."""

    url: str
    spans: list[Span] = field(default_factory=list)
    points: list[tuple[str, dict[str, Any], dict[str, Any]]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    def span(self, name: str, service: str | None = None) -> Span:
        """The one span of this name."""
        (found,) = (each for each in self.spans if each.name == name and service in (None, each.service))
        return found

    def metric(self, name: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """The labels and points of a metric."""
        return [(labels, point) for metric, labels, point in self.points if metric == name]

    def receive(self, exchange: Exchange) -> None:
        """Read one export."""
        received = exchange.received
        body = gzip.decompress(received.body) if received.headers.get("content-encoding") == "gzip" else received.body
        self.paths.append(received.path)
        assert received.headers["content-type"] == "application/x-protobuf"
        if received.path == "/v1/traces":
            for group in ExportTraceServiceRequest.FromString(body).resource_spans:
                service = _attributes(group.resource)["service.name"]
                for span in (span for scope in group.scope_spans for span in scope.spans):
                    self.spans.append(
                        Span(
                            service=service,
                            name=span.name,
                            trace_id=span.trace_id.hex(),
                            span_id=span.span_id.hex(),
                            parent_id=span.parent_span_id.hex(),
                            failed=span.status.code == 2,
                            attributes=_attributes(span),
                            links=[link.trace_id.hex() for link in span.links],
                        )
                    )
        else:
            for group in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                for metric in (metric for scope in group.scope_metrics for metric in scope.metrics):
                    data = getattr(metric, metric.WhichOneof("data"))
                    self.points += [
                        (metric.name, _attributes(point), MessageToDict(point)) for point in data.data_points
                    ]
        exchange.answer(200, content_type="application/x-protobuf")


@contextmanager
def collector() -> Iterator[Collector]:
    """A collector that listens."""
    with HttpServer(lambda exchange: found.receive(exchange)) as server:
        found = Collector(server.url)
        yield found
