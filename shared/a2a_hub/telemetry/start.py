"""Telemetry at the start of a process: off without an endpoint, and then OpenTelemetry is not imported."""

import os
from collections.abc import Mapping

from msgspec import Struct

from a2a_hub.runtime.ids import new_id
from a2a_hub.settings.reader import Settings, SettingsError
from a2a_hub.telemetry import audit, tracing
from a2a_hub.telemetry.audit import AuditLog

_STDOUT = 1
_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"


class TelemetrySettings(Struct, frozen=True, kw_only=True):
    """The base address of OTLP over HTTP, None for no telemetry; the share of traces that is kept; the project for Google's.

    `audit_log` is `stdout`, or a file; None for no audit log.
    """

    endpoint: str | None
    ratio: float
    project: str | None
    audit_log: str | None


def read(environ: Mapping[str, str]) -> TelemetrySettings:
    """Return the settings in `environ`. The exporter reads more of OpenTelemetry's own. Raises SettingsError."""
    settings = Settings(environ)
    found = TelemetrySettings(
        endpoint=settings.url(_ENDPOINT, None) if settings.optional(_ENDPOINT) else None,
        ratio=settings.number("OTEL_TRACES_SAMPLER_ARG", 1, minimum=0, maximum=1),
        project=settings.optional("GOOGLE_CLOUD_PROJECT"),
        audit_log=settings.optional("AUDIT_LOG"),
    )
    settings.check()
    return found


def start_telemetry(function: str, environ: Mapping[str, str]) -> None:
    """Record spans and metrics of this process if an endpoint is set, and its audit log. Raises SettingsError."""
    settings = read(environ)
    if settings.audit_log:
        start_audit_log(function, settings.audit_log)
    if settings.endpoint:
        from a2a_hub.telemetry.otlp import OtlpRecorder

        tracing.install(OtlpRecorder(function, settings.endpoint, ratio=settings.ratio, project=settings.project))


def start_audit_log(function: str, place: str) -> None:
    """Append what `function` records to `place`: `stdout`, or a file. Raises SettingsError."""
    audit.install(AuditLog(_opened(place), function=function, new_id=new_id))


def _opened(place: str) -> int:
    """Return the descriptor of the audit log. Raises SettingsError."""
    if place == "stdout":
        return _STDOUT
    try:
        return os.open(place, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    except OSError as problem:
        raise SettingsError(
            f"AUDIT_LOG: {place} cannot be written ({problem.strerror}): name another file, or stdout"
        ) from None
