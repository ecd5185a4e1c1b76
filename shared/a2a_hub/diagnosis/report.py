"""The report of a function's self-examination (`GET /doctor`): steps, the same on the wire and on the operator's terminal.

Every caller that IAM lets through may read it. The tests use the function's own credentials, which nobody else has.
"""

import threading
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Annotated
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, Struct

from a2a_hub.diagnosis.gcloud import Service, is_command
from a2a_hub.http.messages import JSON, Handler, Request, Response
from a2a_hub.identity.service_tokens import IdTokenClaims

PATH = "/doctor"
SLOW_SECONDS = 2.0


class Outcome(StrEnum):
    """ok. error: it does not work. warning: it works less well than meant. skipped: it could not be, or need not be, tested."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"
    SKIPPED = "skipped"


class Step(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One test: its result and, for a problem, the fix in words and as an exact command."""

    check: str
    outcome: Outcome
    message: str
    fix: str | None = None
    command: str | None = None


class Examined(Struct, frozen=True, kw_only=True):
    """The steps on one part: a route, or the way to the hub."""

    subject: str
    steps: tuple[Step, ...]


class Report(Struct, frozen=True, kw_only=True):
    """The outcome of each step. `hubctl doctor` shows it."""

    account: Annotated[str | None, Meta(description="The service account of the function, if that is known.")] = None
    examined: tuple[Examined, ...] = ()


_REPORT = msgspec.json.Decoder(Report)


def ok(check: str, message: str) -> Step:
    """Return the step of a part that works."""
    return Step(check=check, outcome=Outcome.OK, message=message)


def skipped(check: str, message: str) -> Step:
    """Return the step of a part that was not tested."""
    return Step(check=check, outcome=Outcome.SKIPPED, message=message)


def error(check: str, message: str, *, fix: str, command: str | None = None) -> Step:
    """Return the step of a part that does not work."""
    return Step(check=check, outcome=Outcome.ERROR, message=message, fix=fix, command=command)


def failed(check: str, message: str, *, remedy: str) -> Step:
    """Return the step of a part that does not work; `remedy` is a command or a sentence."""
    if is_command(remedy):
        return error(check, message, fix="run the command", command=remedy)
    return error(check, message, fix=remedy)


def warning(check: str, message: str, *, fix: str, command: str | None = None) -> Step:
    """Return the step of a part that works less well than it should."""
    return Step(check=check, outcome=Outcome.WARNING, message=message, fix=fix, command=command)


def in_time(check: str, message: str, *, seconds: float, fix: str) -> Step:
    """Return the step of a part that works; a warning if it took longer than SLOW_SECONDS."""
    if seconds <= SLOW_SECONDS:
        return ok(check, message)
    return warning(check, f"{message}; it took {seconds:.1f} s", fix=fix)


def id_token_step(claims: IdTokenClaims, now: float, *, holder: str, service: Service | None) -> Step:
    """Return the step on the ID token of `holder` ("hub"), whose Cloud Run service is `service`, if it has one."""
    left = claims.seconds_left(now)
    if left > 0:
        return ok("credential", f"ID token of {claims.email} for {claims.audience}, {left / 60:.0f} min left")
    return error(
        "credential",
        f"the ID token of {claims.email} expired {-left:.0f} s ago: its issuer's clock or this machine's is wrong",
        fix=f"start new instances of the {holder}, which take new tokens",
        command=service.restart() if service else None,
    )


def report_response(report: Report) -> Response:
    """Return the report as an answer."""
    return Response(headers={"content-type": JSON}, body=msgspec.json.encode(report))


def read_report(body: bytes) -> Report | None:
    """Decode a report; None if the bytes are none."""
    try:
        return _REPORT.decode(body)
    except (ValueError, RecursionError):
        # Anything may answer at that path; msgspec reports invalid UTF-8 by Python's own error.
        return None


def is_doctor_request(request: Request) -> bool:
    """Return True for a request for a function's report on itself."""
    return request.path == PATH and request.method == "GET"


def with_doctor(handle: Handler, examine: Callable[[], Sequence[Step]]) -> Handler:
    """Add `GET /doctor` to `handle`; one examination at a time, since each uses quota."""
    one_at_a_time = threading.Lock()

    def answer(request: Request) -> Response:
        if not is_doctor_request(request):
            return handle(request)
        with one_at_a_time:
            steps = tuple(examine())
        return report_response(Report(examined=(Examined(subject="agent", steps=steps),)))

    return answer


def certificate_command(url: str) -> str:
    """Return the command that shows the certificate of the host in `url`, and how far its TLS gets."""
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"openssl s_client -connect {host}:{parts.port or 443} </dev/null"
