"""An agent that a secret guards, the owner of its tokens, Secret Manager, and what the hub's doctor sees there."""

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from a2a_hub.boundaries.boundary import Boundary
from a2a_hub.boundaries.kinds import OAuthClientCredentials
from a2a_hub.boundaries.secret_store import SecretStore
from a2a_hub.boundaries.sources import (
    CredentialSources,
    OAuthClient,
    SecretReference,
)
from a2a_hub.boundaries.token_endpoint import TokenEndpoints
from a2a_hub.diagnosis.report import Step
from a2a_hub.http.client import HttpClient
from a2a_hub.identity.service_tokens import TokenUnavailable
from functions.hub.doctor import Doctor
from local.cloud.authorization_server import AuthorizationServer
from local.cloud.program import Server, recorded
from tests.fakes.agent_server import AgentServer
from tests.fakes.agent_wire import message, text
from tests.fakes.http_server import Exchange, HttpServer, Received
from tests.fakes.local_cloud import call

KEY, SECRET = "key-of-the-travel-agent", "secret of/the+hub"
SETTINGS = {"TRAVEL_KEY": KEY, "TRAVEL_SECRET": SECRET}
FROM_ENVIRONMENT = SecretReference("env:TRAVEL_KEY")
RESOURCE = SecretReference("projects/my-project/secrets/travel-key/versions/latest")


class GuardedAgent(AgentServer):
    """Serves its card to everybody, and answers those alone whose request `admits` lets in."""

    def __init__(self, admits: Callable[[Received], bool], **options: Any) -> None:
        super().__init__(lambda _: [message(text("Bon voyage"))], **options)
        self.admits = admits
        self.cards: list[str] = []

    def _behave(self, exchange: Exchange) -> None:
        received = exchange.received
        exchange.received = replace(received, path=received.path.partition("?")[0])
        if received.path.startswith("/.well-known/"):
            self.cards.append(received.path)
            self.serve_card(exchange)
        elif not self.admits(received):
            # A refusal that repeats everything that was sent.
            exchange.answer(401, json.dumps([received.path, dict(received.headers)]).encode())
        elif received.path.startswith("/doctor"):
            exchange.answer(404)
        elif self._is_get_task(exchange.received):
            exchange.json({"jsonrpc": "2.0", "id": 1, "error": {"code": -32001, "message": "none"}})
        else:
            super()._behave(exchange)


@dataclass
class Clock:
    """The time of this test."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


def with_key(received: Received) -> bool:
    return received.headers.get("x-travel-key") == KEY


@contextmanager
def owner(**options: Any) -> Iterator[tuple[AuthorizationServer, str]]:
    """An authorization server that knows the hub, and its address."""
    server = AuthorizationServer({"the:hub": SECRET}, scopes=frozenset({"book", "read"}), **options)
    with Server(recorded(server.handle)) as served:
        yield server, served.url


def client_of(url: str, **changes: Any) -> OAuthClient:
    values: dict[str, Any] = {
        "token_url": f"{url}/token",
        "client_id": "the:hub",
        "secret": SecretReference("env:TRAVEL_SECRET"),
        "scopes": ("book",),
    }
    return OAuthClient(**values | changes)


def oauth_of(url: str, **changes: Any) -> Boundary:
    return OAuthClientCredentials(client=client_of(url, **changes))


def bearer_of(server: AuthorizationServer) -> Callable[[Received], bool]:
    return lambda received: server.is_active(received.headers.get("authorization", "").removeprefix("Bearer "))


def requests_for_tokens(url: str) -> list[dict[str, Any]]:
    return [each for each in call(f"{url}/__received") if each["target"] == "/token"]


class _Tokens:
    def id_token(self, _: str) -> str:
        raise TokenUnavailable

    def access_token(self) -> str:
        return "the-hubs-own"


class SecretManager(HttpServer):
    """Holds one secret, and counts who reads it."""

    def __init__(self, secret: str = KEY, *, status: int = 200, error: str = "") -> None:
        super().__init__(self._answer)
        self.secret, self.status, self.error = secret, status, error

    def _answer(self, exchange: Exchange) -> None:
        assert exchange.received.headers["authorization"] == "Bearer the-hubs-own"
        assert exchange.received.path == f"/v1/{RESOURCE.text}:access"
        data = base64.b64encode(f"{self.secret}\n".encode()).decode()
        body = {"payload": {"data": data}} if self.status == 200 else {"error": {"message": self.error}}
        exchange.json(body, status=self.status)


def store_of(manager: SecretManager, clock: Callable[[], float] | None = None) -> SecretStore:
    http = HttpClient(clock=clock) if clock else HttpClient()
    return SecretStore({}, http=http, tokens=_Tokens(), endpoint=manager.url)


def examined(agent: Any, sources: CredentialSources) -> dict[str, Step]:
    """The doctor's steps to one agent, by check."""
    doctor = Doctor(lambda: (agent,), sources=sources, http=HttpClient(), service=None, operators=frozenset())
    return {step.check: step for step in doctor.report().examined[0].steps}


def sources_of(variables: dict[str, str] = SETTINGS) -> CredentialSources:
    http = HttpClient()
    secrets = SecretStore(variables, http=http, tokens=None)
    return CredentialSources(secrets=secrets, access_tokens=TokenEndpoints(http, secrets))
