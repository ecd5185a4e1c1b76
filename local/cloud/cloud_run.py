"""Cloud Run's IAM check in front of a function, its quota and its proxy."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from a2a_hub.http.client import Budget, Fault, HttpClient, HttpFailure
from a2a_hub.http.messages import Request, Response
from local.cloud.accounts import Accounts, InvalidToken
from local.cloud.policies import EVERYBODY, member
from local.cloud.program import LATENCY, Faults, json_body, json_response

SERVICE = "/__service"
REVOKED, AUDIENCE, QUOTA = "revoke-invoker", "wrong-audience", "quota"
# By what an administrator changes.
_ENDS = {"add_invoker": REVOKED, "add_audience": AUDIENCE, "max_instances": QUOTA, "min_instances": LATENCY}
_OTHER_AUDIENCE = "https://another-audience.example"
_SECONDS = 3600.0
_MAX_BYTES = 1 << 30
_LONGEST_BODY = 32 << 20
_OF_ONE_CONNECTION = frozenset(
    {"connection", "content-length", "date", "host", "keep-alive", "server", "transfer-encoding", "upgrade"}
)
_SERVERLESS, _AUTHORIZATION = "x-serverless-authorization", "authorization"
_REMOVED = "SIGNATURE_REMOVED_BY_GOOGLE"
_CHALLENGE = 'Bearer error="invalid_token" error_description="The access token could not be verified"'


class CloudRun:
    """The front of the service at `url`: requests of the `invoker`, who is among `accounts`, go on to `upstream`. Thread-safe."""

    def __init__(self, *, service: str, url: str, upstream: str, accounts: Accounts, invoker: str) -> None:
        self._http = HttpClient()
        self._name = service
        self._accounts = accounts
        self._upstream = upstream
        self._invokers: tuple[str, ...] = (invoker if invoker == EVERYBODY else member(invoker),)
        self._audiences: tuple[str, ...] = (url,)
        self._instances: dict[str, int] = {}
        self._faults = Faults("cloud-run")

    def handle(self, request: Request) -> Response:
        """Return the service's answer, or the front's own refusal."""
        if (response := self._control(request)) is not None:
            return response
        self._faults.wait()
        if QUOTA in self._faults:
            return _page(429, "Rate exceeded.")
        invokers, audiences = self._accepted()
        if EVERYBODY in invokers:
            return self._forwarded(request)
        header = _SERVERLESS if _SERVERLESS in request.headers else _AUTHORIZATION
        scheme, _, token = request.headers.get(header, "").partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or not token:
            return _page(403, "Your client does not have permission to get this URL.")
        try:
            claims = self._accounts.claims(token, audiences=audiences)
        except InvalidToken:
            return _page(401, "Your client is not authorized for this URL.", {"www-authenticate": _CHALLENGE})
        if claims.get("email_verified") is not True or member(claims["email"]) not in invokers:
            return _page(403, "Your client does not have permission to get this URL.")
        headers = {**request.headers, header: f"Bearer {token.rpartition('.')[0]}.{_REMOVED}"}
        return self._forwarded(replace(request, headers=headers))

    def _accepted(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the invokers and the audiences, as the faults leave them."""
        invokers = () if REVOKED in self._faults else self._invokers
        return invokers, (_OTHER_AUDIENCE,) if AUDIENCE in self._faults else self._audiences

    def _forwarded(self, request: Request) -> Response:
        """Return the program's answer; 503 where there is none."""
        body = request.read_body(_LONGEST_BODY)
        if body is None:
            return Response(status=413)
        budget = Budget.within(_SECONDS, now=self._http.clock(), max_bytes=_MAX_BYTES)
        headers = {name: value for name, value in request.headers.items() if name not in _OF_ONE_CONNECTION}
        try:
            answer = self._http.request(
                request.method,
                self._upstream + (request.target or request.path),
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

    def _control(self, request: Request) -> Response | None:
        """Return the answer to a request about the service or its faults; None for a call of the service."""
        if request.path != SERVICE:
            return self._faults.handle(request)
        if request.method == "POST":
            for key, value in json_body(request).items():
                if key not in _ENDS:
                    return json_response({"error": f"nothing is called {key!r}"}, status=400)
                self._change(key, value)
        invokers, audiences = self._accepted()
        return json_response({"name": self._name, "invokers": invokers, "audiences": audiences, **self._instances})

    def _change(self, key: str, value: Any) -> None:
        """Change the service, which ends a fault; what that took away is not given back."""
        invokers, audiences = self._accepted()
        if key == "add_invoker":
            self._invokers = (*invokers, value)
        elif key == "add_audience":
            self._audiences = (*audiences, value)
        else:
            self._instances[key] = int(value)
        self._faults.switch_off(_ENDS[key])


def _page(status: int, text: str, headers: Mapping[str, str] | None = None) -> Response:
    body = f"<html><head><title>{status}</title></head><body>{text}</body></html>\n"
    all_headers = {"content-type": "text/html; charset=UTF-8", "server": "Google Frontend", **(headers or {})}
    return Response(status=status, headers=all_headers, body=body.encode())
