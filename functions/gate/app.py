"""Wires the gate: identify and admit the caller, then forward to the hub with the principal in one signed header."""

import time

from a2a_hub.a2a import card_endpoint, errors
from a2a_hub.a2a.errors import A2AError
from a2a_hub.diagnosis import report
from a2a_hub.diagnosis.gcloud import Service
from a2a_hub.http.client import HttpClient
from a2a_hub.http.dispatch import ANY, GET_ONLY, Dispatcher, Identified, Public
from a2a_hub.http.messages import Handler, Request, Response
from a2a_hub.identity import signed_principal
from a2a_hub.identity.authentication import Caller
from a2a_hub.identity.default_credentials import DefaultCredentials
from a2a_hub.identity.principal import is_operator
from a2a_hub.runtime.function import serve, status_pages, stdout_log
from a2a_hub.tasks.webhook_keys import JWKS_PATH
from a2a_hub.telemetry.log import Log, Record
from functions.gate.admission import Admission, RateLimit
from functions.gate.config import Config
from functions.gate.doctor import Doctor
from functions.gate.header_allowlist import (
    METHODS,
    REQUEST_HEADERS,
    allowed_headers,
    allowed_query,
    check_headers,
    check_target,
)
from functions.gate.upstream import AnsweredByPlatform, Upstream


def build(config: Config, *, log: Log | None = None) -> Handler:
    """Return the gate's handler."""
    log = log or stdout_log("gate", project=config.google_cloud_project)
    http = HttpClient()
    tokens = DefaultCredentials() if config.uses_google_credentials else None
    admission = Admission(
        config.identity.authenticator(http, trusts_gate=False, token_header=config.token_header),
        RateLimit(config.rate_limit_per_minute, clock=time.monotonic),
        max_body_bytes=config.max_body_bytes,
    )
    hub = Upstream(config.hub_url, http=http, tokens=tokens)
    service = Service(name=config.service) if config.service else None
    forwarding = _Forwarding(config, hub, admission, Doctor(hub, hub_url=config.hub_url, service=service))
    # An API gateway in front of the gate serves the card itself.
    cards = _PublicUpstream(Upstream(config.agent_card_url, http=http, tokens=None))
    dispatcher = Dispatcher(
        (
            *status_pages("A2A hub"),
            *(Public(path, cards.send, ANY, exact=True) for path in (*card_endpoint.PATHS, JWKS_PATH)),
            Public("/openapi.yaml", _PublicUpstream(hub).send, ANY, exact=True),
            Identified(report.PATH, forwarding.doctor, GET_ONLY, exact=True),
            Identified(report.PATH, forwarding.send, ANY, exact=True),
            Identified("/", forwarding.send, ANY),
        ),
        identify=admission.caller,
        fallback=forwarding.send,
    )

    def checked(request: Request, record: Record) -> Response:
        check_target(request.target, request.path)
        check_headers(request.headers)
        if request.method not in METHODS:
            raise A2AError(errors.METHOD_NOT_ALLOWED, headers={"allow": ", ".join(sorted(METHODS))})
        try:
            return dispatcher.handle(request, record)
        except AnsweredByPlatform as error:
            record["upstreamStatus"] = error.status
            raise

    return serve(checked, log=log)


class _PublicUpstream:
    """A function behind the gate whose pages are for everybody."""

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream

    def send(self, request: Request) -> Response:
        headers = allowed_headers(request.headers, REQUEST_HEADERS)
        target = request.path + allowed_query(request.query)
        return self._upstream.send(request.method, target, headers=headers, body=b"")


class _Forwarding:
    """Sends requests on to the hub, with the caller's principal in a signed header."""

    def __init__(self, config: Config, hub: Upstream, admission: Admission, doctor: Doctor) -> None:
        self._config = config
        self._hub = hub
        self._admission = admission
        self._doctor = doctor
        self._signer = config.identity.signer()

    def send(self, request: Request, caller: Caller, _: Record) -> Response:
        headers = allowed_headers(request.headers, REQUEST_HEADERS)
        # Signed when the body is there: the signature is good for a minute, and a body may take two.
        body = self._admission.body(request, caller)
        headers |= self._principal_headers(caller, request.method, request.path)
        target = request.path + allowed_query(request.query)
        return self._hub.send(request.method, target, headers=headers, body=body)

    def doctor(self, request: Request, caller: Caller, _: Record) -> Response:
        headers = allowed_headers(request.headers, REQUEST_HEADERS)
        headers |= self._principal_headers(caller, "GET", report.PATH)
        return self._doctor.report(headers, is_operator=is_operator(caller.principal, self._config.operators))

    def _principal_headers(self, caller: Caller, method: str, path: str) -> dict[str, str]:
        if caller.principal is None or self._signer is None:
            return {}
        authorization = caller.authorization if self._config.forwards_caller_token else None
        signed = self._signer.sign(caller.principal, method=method, path=path, authorization=authorization)
        headers = {signed_principal.HEADER: signed}
        if authorization is not None:
            headers[signed_principal.TOKEN_HEADER] = authorization
        return headers
