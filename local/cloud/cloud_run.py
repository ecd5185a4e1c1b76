"""`python -m local.cloud.cloud_run`: Cloud Run's IAM check in front of a function, its quota and its proxy."""

import argparse
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from a2a_hub.http.client import Budget, Fault, HttpClient, HttpFailure
from a2a_hub.http.messages import Handler, Request, Response
from local.cloud.faults import Faults
from local.cloud.program import LATENCY, json_body, json_response, recorded, serve, wait
from local.cloud.signing import Certificates, InvalidToken

SERVICE = "/__service"
EVERYBODY = "allUsers"
REVOKED, AUDIENCE, QUOTA = "revoke-invoker", "wrong-audience", "quota"
FAULTS = {
    REVOKED: "nobody has roles/run.invoker any more",
    AUDIENCE: "the service takes tokens for another audience than its own address",
    QUOTA: "no instance is left: every request is answered with 429",
    LATENCY: "a cold start: every answer comes `seconds` (5) late",
}
_OTHER_AUDIENCE = "https://another-audience.example"
_SECONDS = 3600.0
_MOST_BYTES = 1 << 30
_LONGEST_BODY = 32 << 20
_OF_ONE_CONNECTION = frozenset(
    {"connection", "content-length", "date", "host", "keep-alive", "server", "transfer-encoding", "upgrade"}
)
_SERVERLESS, _AUTHORIZATION = "x-serverless-authorization", "authorization"
_REMOVED = "SIGNATURE_REMOVED_BY_GOOGLE"
_CHALLENGE = 'Bearer error="invalid_token" error_description="The access token could not be verified"'


class RunService:
    """One service. Thread-safe."""

    def __init__(
        self,
        name: str,
        *,
        url: str,
        invokers: Sequence[str],
        faults: Callable[..., Faults],
    ) -> None:
        self._name = name
        self._granted = tuple(dict.fromkeys(_member(each) for each in invokers))
        self._own_audiences: tuple[str, ...] = (url,)
        self._invokers = self._granted
        self._audiences: tuple[str, ...] = self._own_audiences
        self._instances: dict[str, int] = {}
        self._lock = threading.RLock()
        self.faults = faults(FAULTS, changed=self._changed)

    @property
    def audiences(self) -> tuple[str, ...]:
        """The audiences that a token may be for."""
        return self._audiences

    @property
    def is_public(self) -> bool:
        """True if anybody may invoke it, without a token."""
        return EVERYBODY in self._invokers

    def may_invoke(self, claims: Mapping[str, Any]) -> bool:
        """Return True if the account that a valid token is about has roles/run.invoker."""
        return claims.get("email_verified") is True and f"serviceAccount:{claims.get('email')}" in self._invokers

    def control(self, request: Request) -> Response | None:
        """Return the answer to a request on the service itself or its faults; None for a call of the service."""
        if request.path != SERVICE:
            return self.faults.handle(request)
        if request.method == "POST":
            for key, value in json_body(request).items():
                if not self._change(key, value):
                    return json_response({"error": f"nothing is called {key!r}"}, status=400)
        with self._lock:
            state = {"name": self._name, "invokers": self._invokers, "audiences": self._audiences}
            return json_response({**state, **self._instances})

    def _change(self, key: str, value: Any) -> bool:
        match key:
            case "add_invoker":
                self._invokers = (*self._invokers, value)
                self._settle(REVOKED)
            case "remove_invoker":
                self._invokers = tuple(each for each in self._invokers if each != value)
            case "add_audience":
                self._audiences = (*self._audiences, value)
            case "max_instances" | "min_instances":
                self._instances[key] = int(value)
                self._settle(QUOTA if key == "max_instances" else LATENCY)
            case _:
                return False
        return True

    def _settle(self, fault: str) -> None:
        """End the fault without giving back the grants that it took away."""
        invokers = self._invokers
        self.faults.switch_off(fault)
        self._invokers = invokers

    def _changed(self, name: str, parameters: Mapping[str, Any] | None) -> None:
        with self._lock:
            match name:
                case "revoke-invoker":
                    self._invokers = self._granted if parameters is None else ()
                case "wrong-audience":
                    self._audiences = self._own_audiences if parameters is None else (_OTHER_AUDIENCE,)
                case _:
                    pass


def _member(name: str) -> str:
    return name if ":" in name or name == EVERYBODY else f"serviceAccount:{name}"


class Proxy:
    """In front of the program at `url`."""

    def __init__(self, url: str, *, http: HttpClient) -> None:
        self._url = url
        self._http = http

    def handle(self, request: Request) -> Response:
        """Return the program's answer; 503 where there is none."""
        body = request.read_body(_LONGEST_BODY)
        if body is None:
            return Response(status=413)
        budget = Budget(
            deadline=self._http.clock() + _SECONDS,
            connect_seconds=5.0,
            idle_seconds=_SECONDS,
            max_bytes=_MOST_BYTES,
            retries=1,
        )
        headers = {name: value for name, value in request.headers.items() if name not in _OF_ONE_CONNECTION}
        try:
            answer = self._http.request(
                request.method,
                self._url + (request.target or request.path),
                headers=headers,
                body=body or None,
                budget=budget,
            )
            passed = {name: value for name, value in answer.headers.items() if name.lower() not in _OF_ONE_CONNECTION}
            # An answer with a length is read whole, which keeps the connection; one without is a stream.
            whole = answer.headers.get("content-length") is not None
            return Response(status=answer.status, headers=passed, body=answer.read() if whole else answer.chunks())
        except HttpFailure as failure:
            return Response(status=504 if failure.fault is Fault.TIMEOUT else 503)


class CloudRun:
    """The front of `service`: what passes it goes on to `upstream`."""

    def __init__(self, service: RunService, *, certificates: Certificates, upstream: Handler) -> None:
        self._service = service
        self._certificates = certificates
        self._upstream = upstream

    def handle(self, request: Request) -> Response:
        """Return the service's answer, or the front's own refusal."""
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
    """Return the whole front, with its control paths. `certs` are the places of the trusted keys."""
    http = HttpClient()
    run = RunService(service, url=url, invokers=invokers, faults=Faults)
    return recorded(
        CloudRun(run, certificates=Certificates(certs, http=http), upstream=Proxy(upstream, http=http).handle).handle
    )


def _bearer(header: str) -> str | None:
    scheme, _, token = header.partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token.strip() else None


def _page(status: int, text: str, headers: Mapping[str, str] | None = None) -> Response:
    body = f"<html><head><title>{status}</title></head><body>{text}</body></html>\n"
    all_headers = {"content-type": "text/html; charset=UTF-8", "server": "Google Frontend", **(headers or {})}
    return Response(status=status, headers=all_headers, body=body.encode())


def main() -> None:
    """Serve until stopped by a signal."""
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
