"""The adapter to Functions Framework, which serves a Flask application. Other modules know only `a2a_hub.http.messages`.

A request goes from the WSGI environment (PEP 3333) to the handler and its answer back to the server: Flask's dispatch,
which knows one view, would take as long as everything that a hub does (docs/decisions/speed.md).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from functools import cache, lru_cache
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import flask
from gunicorn.config import GracefulTimeout
from msgspec import structs

from a2a_hub.http import messages
from a2a_hub.http.admission import AdmissionControl, Overloaded, Refusal
from a2a_hub.http.request_body import WAIT_LIMITS, RequestBody, WaitLimits

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

__all__ = ["entry_point"]

# For requests at SIGTERM, in the place of gunicorn's 30 s: Cloud Run ends the process after 10 s.
_SECONDS_TO_END = 5
_BODILESS = frozenset({204, 304})


def entry_point(
    handle: messages.Handler, admission: AdmissionControl | None = None, *, wait_limits: WaitLimits = WAIT_LIMITS
) -> Callable[[flask.Request], WSGIApplication]:
    """Return the function for Functions Framework, which answers every path and method with `handle`.

    The framework loads a function inside its application's context; requests then reach `handle` without Flask in between.
    """
    application = _application(handle if admission is None else _with_admission_control(handle, admission), wait_limits)
    if flask.has_app_context():
        # The framework, which then starts gunicorn, passes on no setting of its own for this.
        GracefulTimeout.default = _SECONDS_TO_END
        flask.current_app.wsgi_app = application  # type: ignore[assignment, method-assign]
    # Flask takes a WSGI application for an answer.
    return lambda _: application


def _with_admission_control(handle: messages.Handler, admission: AdmissionControl) -> messages.Handler:
    """Return a handler that refuses requests beyond the capacity for concurrent requests and for bytes of bodies. A streamed
    answer counts until its end.
    """
    requests, held_bytes = admission.capacity.requests, admission.capacity.held_bytes

    def handle_one(request: messages.Request) -> messages.Response:
        if (page := admission.page(request)) is not None:
            return page
        if not requests.acquire():
            return admission.refuse(request, Refusal.OVERLOADED)
        held = 0

        def read_body(limit_bytes: int) -> bytes | None:
            nonlocal held
            is_chunked = "transfer-encoding" in request.headers
            size = limit_bytes if is_chunked else messages.stated_length(request.headers.get("content-length", ""))
            if admission.capacity.limits.small_body_bytes < size <= limit_bytes:
                if not held_bytes.acquire(size):
                    raise Overloaded
                held += size
            return request.read_body(limit_bytes)

        def end() -> None:
            requests.release()
            held_bytes.release(held)

        try:
            response = handle(structs.replace(request, read_body=read_body))
        except Overloaded:
            end()
            return admission.refuse(request, Refusal.OVERLOADED)
        except BaseException:
            end()
            raise
        if not isinstance(response.body, bytes | Generator):
            return structs.replace(response, body=messages.ObservedBody(response.body, end))
        end()
        return response

    return handle_one


def _application(handle: messages.Handler, wait_limits: WaitLimits) -> WSGIApplication:
    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        body = RequestBody(environ, wait_limits=wait_limits)
        method = environ["REQUEST_METHOD"]
        query = environ.get("QUERY_STRING")
        try:
            request = messages.Request(
                method=method,
                path=_as_utf8(environ.get("PATH_INFO")) or "/",
                target=environ.get("RAW_URI"),
                headers={name: value for variable, value in environ.items() if (name := _header(variable))},
                query=parse_qs(_as_utf8(query), keep_blank_values=True) if query else {},
                read_body=body.read,
                client_is_there=body.client_is_there,
            )
            version = environ["SERVER_PROTOCOL"].removeprefix("HTTP/")
            is_valid = messages.has_valid_host(request.headers, version=version)
            answer = messages.blocking(handle(request)) if is_valid else messages.BAD_HOST
        except Exception:
            # The log has it (`Log.requests`); the server would show its text to the caller.
            answer = messages.INTERNAL_ERROR
        body.discard()
        content = answer.body
        headers = list(messages.sent_headers(answer).items())
        bodiless = answer.status in _BODILESS
        if isinstance(content, bytes) and not bodiless and (content or method != "HEAD"):
            headers.append(("content-length", str(len(content))))
        if bodiless or method == "HEAD":
            if not isinstance(content, bytes):
                content.close()
            content = b""
        start_response(_status_line(answer.status), headers)
        assert isinstance(content, bytes | Generator), "a polled body has become a generator"
        return [content] if isinstance(content, bytes) else content

    return application


def _as_utf8(text: str | None) -> str:
    """Return text of the environment, which is Latin-1 for want of bytes (PEP 3333), as the UTF-8 that it is."""
    return text.encode("latin-1").decode("utf-8", "replace") if text and not text.isascii() else text or ""


@cache
def _status_line(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        # The gate may pass on an unregistered status.
        return f"{status} Unknown"


@lru_cache(maxsize=1024)
def _header(variable: str) -> str | None:
    """Return the lower-case name of the header that a variable of the environment holds, None for another variable."""
    if not variable.startswith("HTTP_") and variable not in ("CONTENT_TYPE", "CONTENT_LENGTH"):
        return None
    return variable.removeprefix("HTTP_").lower().replace("_", "-")
