"""Wires the gate: who is it, may they, then on to the hub with the principal in one signed header."""

from __future__ import annotations

import time

from a2a_hub.a2a import card_endpoint, errors
from a2a_hub.a2a.error_response import refusal
from a2a_hub.a2a.errors import A2AError
from a2a_hub.diagnosis import report
from a2a_hub.diagnosis.gcloud import Service
from a2a_hub.http.client import HttpClient
from a2a_hub.http.messages import Handler, Request, Response
from a2a_hub.identity import signed_principal
from a2a_hub.identity.authentication import Caller
from a2a_hub.identity.principal import is_operator
from a2a_hub.identity.service_tokens import DefaultCredentials
from a2a_hub.runtime.function import health, stdout_log
from a2a_hub.tasks.webhook_keys import JWKS_PATH
from a2a_hub.telemetry.log import Log, Record
from functions.gate.admission import Admission
from functions.gate.config import Config
from functions.gate.doctor import Doctor
from functions.gate.header_allowlist import (
    METHODS,
    REQUEST_HEADERS,
    check_headers,
    check_target,
    passed_headers,
    passed_query,
)
from functions.gate.rate_limit import RateLimit
from functions.gate.upstream import AnsweredByPlatform, Upstream

_CARD_FUNCTIONS_PATHS = card_endpoint.PATHS | {JWKS_PATH}
_OPEN_PATHS = frozenset({"/openapi.yaml"})


def build(config: Config, *, log: Log | None = None) -> Handler:
    """The gate's handler."""
    log = log or stdout_log("gate", project=config.google_cloud_project)
    http = HttpClient()
    tokens = DefaultCredentials() if config.uses_google_credentials else None
    hub = Upstream(config.hub_url, http=http, tokens=tokens)
    # Behind a gateway, the card is not asked for here.
    agent_card = Upstream(config.agent_card_url, http=http, tokens=None)
    admission = Admission(
        config.identity.authenticator(lambda: http, trusts_gate=False, token_header=config.token_header),
        RateLimit(config.rate_limit_per_minute, clock=time.monotonic),
        max_body_bytes=config.max_body_bytes,
    )
    signer = config.identity.signer()
    service = Service(name=config.service) if config.service else None
    doctor = Doctor(hub, hub_url=config.hub_url, service=service)

    def handle(request: Request, record: Record) -> Response:
        try:
            return pass_on(request, record)
        except A2AError as error:
            record["outcome"] = error.kind.reason
            if isinstance(error, AnsweredByPlatform):
                record["upstreamStatus"] = error.status
            return refusal(request, error, record)

    def pass_on(request: Request, record: Record) -> Response:
        check_target(request.target, request.path)
        check_headers(request.headers)
        if request.method not in METHODS:
            raise A2AError(errors.METHOD_NOT_ALLOWED, headers={"allow": ", ".join(sorted(METHODS))})
        headers = passed_headers(request.headers, REQUEST_HEADERS)
        if request.path in _CARD_FUNCTIONS_PATHS:
            return agent_card.send(
                request.method, request.path + passed_query(request.query), headers=headers, body=b""
            )
        answer = health(request, "A2A hub")
        if answer is not None:
            return answer
        caller = None if request.path in _OPEN_PATHS else admission.caller(request, record)
        if report.asks(request):
            shows_way = caller is not None and is_operator(caller.principal, config.operators)
            return doctor.report(headers | word_for(caller, "GET", report.PATH), shows_way=shows_way)
        # Signed when the body is there: the signature is good for a minute, and a body may take two.
        body = b"" if caller is None else admission.body(request, caller)
        headers |= word_for(caller, request.method, request.path)
        return hub.send(
            request.method, request.path + passed_query(request.query), headers=headers, body=body
        )

    def word_for(caller: Caller | None, method: str, path: str) -> dict[str, str]:
        if caller is None or caller.principal is None or signer is None:
            return {}
        authorization = caller.authorization if config.passes_caller_token else None
        signed = signer.sign(caller.principal, method=method, path=path, authorization=authorization)
        headers = {signed_principal.HEADER: signed}
        if authorization is not None:
            headers[signed_principal.TOKEN_HEADER] = authorization
        return headers

    return log.requests(handle)
