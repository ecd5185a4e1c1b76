"""Wires the gate: identify and admit the caller, then forward to the hub with the principal in one signed header."""

import time

from msgspec import Struct
from msgspec.structs import replace

from a2a_hub.a2a import card_endpoint, errors
from a2a_hub.a2a.error_response import read_body
from a2a_hub.a2a.errors import A2AError
from a2a_hub.a2a.refusal import answer_unread, unreachable
from a2a_hub.diagnosis import report
from a2a_hub.diagnosis.gcloud import Service
from a2a_hub.http.admission import AdmissionControl
from a2a_hub.http.client import HttpClient
from a2a_hub.http.dispatch import ANY, GET_ONLY, Dispatcher, Identified, Public
from a2a_hub.http.forwarded_body import StreamCut
from a2a_hub.http.messages import Handler, Request, Response, body_of
from a2a_hub.identity.authentication import CALLER_AUTHORIZATION_HEADER, PRINCIPAL_HEADER, Caller
from a2a_hub.identity.default_credentials import DefaultCredentials
from a2a_hub.identity.principal import is_operator
from a2a_hub.identity.public_keys import JWKS_PATH
from a2a_hub.quota.quotas import Counters, Quotas
from a2a_hub.runtime.function import serve, status_pages, stdout_log
from a2a_hub.runtime.ids import new_id
from a2a_hub.runtime.upstream import REQUEST_HEADERS, AnsweredByPlatform, Upstream, allowed_headers
from a2a_hub.task_store.factory import open_store
from a2a_hub.telemetry import audit
from a2a_hub.telemetry.log import Log, Record
from functions.gate.config import Config
from functions.gate.doctor import Doctor
from functions.gate.header_allowlist import (
    METHODS,
    allowed_query,
    check_headers,
    check_target,
)


def build(config: Config, *, log: Log | None = None, admission: AdmissionControl | None = None) -> Handler:
    """Return the gate's handler."""
    log = log or stdout_log("gate", project=config.google_cloud_project, is_entrance=True)
    http = HttpClient()
    tokens = DefaultCredentials() if config.uses_google_credentials else None
    store = None
    if config.store:
        store = open_store(config.store, now=time.time, new_id=new_id, report=log.line)
    quotas = Quotas(config.quotas, Counters(store, log=log))
    authenticator = config.identity.authenticator(http, token_header=config.token_header)
    hub = Upstream(
        config.hub_url,
        http=http,
        tokens=tokens,
        late_seconds=config.hub_silence_seconds,
        capacity=admission.capacity if admission else None,
    )
    if admission:
        admission.shutdown.on_stop(hub.drain)
    service = Service(name=config.service) if config.service else None
    forwarding = _Forwarding(config, hub, Doctor(hub, hub_url=config.hub_url, service=service))
    # An API gateway in front of the gate serves the card itself.
    cards = _PublicUpstream(Upstream(config.agent_card_url, http=http, tokens=None))
    dispatcher = Dispatcher(
        (
            *status_pages("A2A hub"),
            *(Public(path, cards.send, ANY, exact=True) for path in (*card_endpoint.PATHS, JWKS_PATH)),
            # Public, and yet it calls the hub: such requests share the quota of anonymous callers.
            Public("/openapi.yaml", _PublicUpstream(hub, quotas).send, ANY, exact=True),
            Identified(report.PATH, forwarding.doctor, GET_ONLY, exact=True),
            Identified(report.PATH, forwarding.send, ANY, exact=True),
            Identified("/", forwarding.send, ANY),
        ),
        identify=quotas.with_request_quota(authenticator.identify),
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


class _PublicUpstream(Struct, frozen=True):
    """Public pages of a function behind the gate, within the quota of anonymous callers if there are `quotas`."""

    upstream: Upstream
    quotas: Quotas | None = None

    def send(self, request: Request) -> Response:
        if self.quotas is not None:
            self.quotas.count_request(None)
        headers = allowed_headers(request.headers, REQUEST_HEADERS)
        target = request.path + allowed_query(request.query)
        return self.upstream.send(request.method, target, headers=headers, body=b"")


class _Forwarding:
    """Forwarding of requests to the hub with the caller's principal in a signed header."""

    def __init__(self, config: Config, hub: Upstream, doctor: Doctor) -> None:
        self._config = config
        self._hub = hub
        self._doctor = doctor
        self._signer = config.identity.signer(audience="hub")

    def send(self, request: Request, caller: Caller, record: Record) -> Response:
        headers = allowed_headers(request.headers, REQUEST_HEADERS)
        # Signed after the body has arrived: a signature is valid for one minute, and reading a body may take two.
        body = read_body(request, self._config.limits.body_bytes)
        target = request.path + allowed_query(request.query)
        headers |= self._principal_headers(caller, request.method, target, body)
        subject = caller.principal.subject if caller.principal else ""

        def is_program() -> bool:
            return _text_answer(A2AError(errors.UNAVAILABLE), request, body, caller, record) is None

        def note_cut(cause: StreamCut) -> None:
            record["cause"] = cause

        try:
            response = self._hub.send(
                request.method,
                target,
                headers=headers,
                body=body,
                caller=subject,
                waits_longer=is_program,
                on_cut=note_cut,
            )
        except A2AError as error:
            answer = _text_answer(error, request, body, caller, record)
            if answer is None:
                raise
            record |= {"severity": "ERROR", "outcome": "failed"}
            if isinstance(error, AnsweredByPlatform):
                record["upstreamStatus"] = error.status
            return answer
        if response.status == errors.UNAVAILABLE.http_status and isinstance(response.body, bytes):
            # An overloaded hub refuses requests before it authenticates the caller.
            answer = _text_answer(A2AError(errors.UNAVAILABLE), request, body, caller, record)
            if answer is not None:
                record |= {"outcome": "refused", "upstreamStatus": response.status}
                return answer
        return response

    def doctor(self, request: Request, caller: Caller, record: Record) -> Response:
        sees_findings = is_operator(caller.principal, self._config.operators)
        if sees_findings:
            audit.record("read", caller.principal, page=request.path, request=record["requestId"])
        headers = allowed_headers(request.headers, REQUEST_HEADERS)
        headers |= self._principal_headers(caller, "GET", report.PATH, b"")
        return self._doctor.report(headers, is_operator=sees_findings)

    def _principal_headers(self, caller: Caller, method: str, target: str, body: bytes) -> dict[str, str]:
        if caller.principal is None or self._signer is None:
            return {}
        authorization = caller.authorization if self._config.forwards_caller_token else None
        signed = self._signer.sign(caller.principal, method=method, path=target, body=body, authorization=authorization)
        headers = {PRINCIPAL_HEADER: signed}
        if authorization is not None:
            headers[CALLER_AUTHORIZATION_HEADER] = authorization
        return headers


def _text_answer(error: A2AError, request: Request, body: bytes, caller: Caller, record: Record) -> Response | None:
    """Return the error as a text answer for a person, since user interfaces show an HTTP error as a failure of their own; None
    for a program.
    """
    whole = replace(request, read_body=body_of(body))
    return answer_unread(unreachable(error.kind), whole, record, caller.principal, max_body_bytes=len(body))
