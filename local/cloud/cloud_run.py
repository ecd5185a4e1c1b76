"""`python -m local.cloud.cloud_run`: Cloud Run's front of one service, which lets only its invokers through.

What it answers: no token, 403 (as in the log lines that people quote: "The request was not authenticated", status 403); a token
that is not a Google ID token for this service, 401 with `error="invalid_token"` (a wrong audience is a 401); the
token of somebody who is no invoker, 403. The service gets the request with the token's signature taken off. Where there is an
`X-Serverless-Authorization`, that is what is checked, and `Authorization` passes untouched (Cloud Run, "Service-to-service").
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence

from a2a_hub.http.client import HttpClient
from a2a_hub.http.messages import Handler, Request, Response
from local.cloud.faults import Faults
from local.cloud.program import LATENCY, recorded, serve, wait
from local.cloud.proxy import Proxy
from local.cloud.run_service import QUOTA, RunService
from local.cloud.verification import Certificates, InvalidToken

_SERVERLESS, _AUTHORIZATION = "x-serverless-authorization", "authorization"
_REMOVED = "SIGNATURE_REMOVED_BY_GOOGLE"
_CHALLENGE = 'Bearer error="invalid_token" error_description="The access token could not be verified"'


class CloudRun:
    """The front of `service`: what passes it goes on to `upstream`."""

    def __init__(self, service: RunService, *, certificates: Certificates, upstream: Handler) -> None:
        self._service = service
        self._certificates = certificates
        self._upstream = upstream

    def handle(self, request: Request) -> Response:
        """The service's answer, or the front's own refusal."""
        if (response := self._service.control(request)) is not None:
            return response
        faults = self._service.faults
        wait(faults.parameters(LATENCY), sleep=time.sleep)
        if QUOTA in faults:
            return _page(429, "Rate exceeded.")
        if self._service.is_public:
            return self._upstream(request)
        header = _SERVERLESS if _SERVERLESS in request.headers else _AUTHORIZATION
        token = _bearer(request.headers.get(header, ""))
        if token is None:
            return _page(403, "Your client does not have permission to get this URL.")
        try:
            claims = self._certificates.claims(token, audiences=self._service.audiences)
        except InvalidToken:
            return _page(401, "Your client is not authorized for this URL.", {"www-authenticate": _CHALLENGE})
        if not self._service.may_invoke(claims):
            return _page(403, "Your client does not have permission to get this URL.")
        passed = {**request.headers, header: f"Bearer {token.rpartition('.')[0]}.{_REMOVED}"}
        return self._upstream(
            Request(
                method=request.method,
                path=request.path,
                target=request.target,
                headers=passed,
                query=request.query,
                read_body=request.read_body,
            )
        )


def front(*, service: str, url: str, upstream: str, certs: Sequence[str], invokers: Sequence[str]) -> Handler:
    """The whole front, with its control paths. `certs` are where the keys are that it trusts."""
    http = HttpClient()
    run = RunService(service, url=url, invokers=invokers, faults=Faults)
    return recorded(
        CloudRun(
            run, certificates=Certificates(certs, http=http), upstream=Proxy(upstream, http=http).handle
        ).handle
    )


def _bearer(header: str) -> str | None:
    scheme, _, token = header.partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token.strip() else None


def _page(status: int, text: str, headers: Mapping[str, str] | None = None) -> Response:
    body = f"<html><head><title>{status}</title></head><body>{text}</body></html>\n"
    told = {"content-type": "text/html; charset=UTF-8", "server": "Google Frontend", **(headers or {})}
    return Response(status=status, headers=told, body=body.encode())


def main() -> None:
    """Serves until it is told to end."""
    parser = argparse.ArgumentParser(prog="python -m local.cloud.cloud_run")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--service", required=True)
    parser.add_argument("--url", required=True, help="the service's address, which is the audience it takes")
    parser.add_argument("--upstream", required=True, help="where the function itself listens")
    parser.add_argument("--certs", action="append", required=True, help="where a signer's certificates are")
    parser.add_argument("--invoker", action="append", default=[], help="the email of a service account")
    given = parser.parse_args()
    handle = front(
        service=given.service,
        url=given.url,
        upstream=given.upstream,
        certs=given.certs,
        invokers=given.invoker,
    )
    serve(handle, name=given.service, port=given.port)


if __name__ == "__main__":
    main()
