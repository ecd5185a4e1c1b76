"""The span and the metrics of one request, from the fields of its log line."""

from collections.abc import Mapping
from typing import Any

from a2a_hub.http.messages import Request
from a2a_hub.telemetry import tracing
from a2a_hub.telemetry.outcome import Outcome

# Neither callers nor texts are in a trace; ids are in no metric.
_ATTRIBUTES = {
    "operation": "a2a.method.name",
    "version": "a2a.protocol.version",
    "binding": "a2a.binding",
    "outcome": "a2a.response.outcome",
    "taskId": "a2a.task.id",
    "conversation": "gen_ai.conversation.id",
    "result": "a2a_hub.lease.result",
    "fault": "error.type",
    "requestId": "a2a_hub.request.id",
    "route": "a2a_hub.route",
    "quota": "a2a_hub.quota",
}
_LABELS = ("operation", "version", "outcome", "fault", "route", "result")


def end_request(span: tracing.Span, request: Request, fields: Mapping[str, Any], status: int, seconds: float) -> None:
    """End the span, and count the request."""
    if span.is_recorded:
        about = {name: str(fields[key]) for key, name in _ATTRIBUTES.items() if key in fields}
        span.set({**about, "http.request.method": request.method, "url.path": request.path})
        span.set({"http.response.status_code": status})
        if caller := fields.get("callerTrace"):
            span.link(caller)
        span.end(fields.get("operation") or request.method, failed=fields.get("outcome") == Outcome.FAILED)
    labels = {_ATTRIBUTES[key]: str(fields[key]) for key in _LABELS if key in fields}
    tracing.measure("a2a_hub.request.duration", seconds, labels, span.traceparent)
    if quota := fields.get("quota") or (fields.get("fault") == "quota" and "route"):
        tracing.add("a2a_hub.quota.refusals", 1, quota=str(quota))
