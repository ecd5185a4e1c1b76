"""The state of the fake cloud, and which request goes to which API."""

import contextlib
import json
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from tests.fakes.http_server import Exchange, HttpServer

JsonObject = dict[str, Any]
DOMAIN = "googleapis.test"
TOKEN = "ya29.of-the-operator"
APIS = (
    *("apigateway", "artifactregistry", "cloudbuild", "cloudfunctions", "cloudkms", "cloudresourcemanager"),
    *("firestore", "pubsub", "cloudtasks", "cloudscheduler"),
    *("iam", "run", "secretmanager", "serviceusage", "storage"),
    *("orgpolicy", "cloudbilling", "cloudquotas", "monitoring"),
)


class Refused(Exception):
    """An error answer of an API."""

    def __init__(self, code: int, status: str, message: str) -> None:
        super().__init__(message)
        self.body = {"error": {"code": code, "status": status, "message": message}}
        self.code = code


class Call(NamedTuple):
    """One request: the names in its path, its query, its body."""

    names: Mapping[str, str]
    query: Mapping[str, str]
    body: Any
    headers: Mapping[str, str]


Handler = Callable[[Call], JsonObject]


class Route(NamedTuple):
    """A request of one kind. In `path`, {x} is one segment. A reading one changes nothing."""

    method: str
    api: str
    path: str
    handler: Handler
    reads: bool = False


@dataclass
class Cloud:
    """Projects, what is in them, and what was asked for."""

    projects: dict[str, str]
    """Their numbers, by id."""
    routes: list[Route] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)
    """Every request that changed something: `api method path`."""
    bodies: list[Any] = field(default_factory=list)
    """What those requests carried."""
    failures: dict[str, Refused] = field(default_factory=dict)
    """What a request that matches this pattern is refused with."""
    passing: dict[str, list[Refused]] = field(default_factory=dict)
    """The same, each once."""
    policies: dict[str, JsonObject] = field(default_factory=dict)
    """By the resource's name."""
    accounts: set[str] = field(default_factory=set)
    """The e-mail addresses of service accounts."""
    unknown_for_a_while: dict[str, int] = field(default_factory=dict)
    """How many policies may not name an account yet, though it exists."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, exchange: Exchange) -> None:
        """Answers one request, which came as to a proxy: with the whole URL."""
        received = exchange.received
        parts = urlsplit(received.path)
        api = (parts.hostname or "").removesuffix(f".{DOMAIN}").rpartition("-")[2]
        with self.lock:
            try:
                exchange.json(self._handle(received.method, api, unquote(parts.path), parts.query, exchange))
            except Refused as refused:
                exchange.json(refused.body, refused.code)

    def _handle(self, method: str, api: str, path: str, query: str, exchange: Exchange) -> JsonObject:
        received = exchange.received
        # A signed address is its own credential.
        if api != "upload" and received.headers.get("authorization") != f"Bearer {TOKEN}":
            raise Refused(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.")
        for route in self.routes:
            found = re.fullmatch(_expression(route.path), path)
            if not found or (route.method, route.api) != (method, api):
                continue
            is_json = "json" in received.headers.get("content-type", "") and received.body
            body = json.loads(received.body) if is_json else received.body
            values = {name: values[-1] for name, values in parse_qs(query).items()}
            name = f"{api} {method} {path}"
            for pattern, refused in self.failures.items():
                if re.search(pattern, name):
                    raise refused
            for pattern, refusals in self.passing.items():
                if refusals and re.search(pattern, name):
                    raise refusals.pop()
            answer = route.handler(Call(found.groupdict(), values, body, received.headers))
            if not route.reads:
                self.changes.append(name)
                self.bodies.append(body)
            return answer
        # No 5xx: gcloud would try again and again.
        raise Refused(400, "INVALID_ARGUMENT", f"the fake has no {method} {api} {path}")

    def members(self, resource: str, role: str) -> list[str]:
        """Return who has a role on a resource."""
        bindings = self.policies.get(resource, {}).get("bindings", [])
        return [member for binding in bindings if binding["role"] == role for member in binding["members"]]

    def policy_routes(self, api: str, path: str, *, resource: str, exists: Callable[[str], bool]) -> list[Route]:
        """getIamPolicy and setIamPolicy of one kind of resource; `resource` is its name, made of the names in `path`."""

        def name_of(call: Call) -> str:
            name = resource.format(**call.names)
            if not exists(name):
                raise Refused(404, "NOT_FOUND", f"Resource {name} was not found.")
            return name

        def read(call: Call) -> JsonObject:
            return self.policies.get(name_of(call), {"etag": "AAAA"})

        def write(call: Call) -> JsonObject:
            name = name_of(call)
            policy: JsonObject = call.body.get("policy", call.body)
            old = {m for binding in self.policies.get(name, {}).get("bindings", []) for m in binding["members"]}
            for binding in policy.get("bindings", []):
                for member in set(binding["members"]) - old:
                    self._check_member(member)
            self.policies[name] = policy
            return policy

        return [
            *(Route(method, api, f"{path}:getIamPolicy", read, reads=True) for method in ("GET", "POST")),
            Route("POST", api, f"{path}:setIamPolicy", write),
        ]

    def _check_member(self, member: str) -> None:
        account = member.removeprefix("serviceAccount:")
        known = account in self.accounts or not account.endswith(".iam.gserviceaccount.com") or "gcp-sa-" in account
        waits = self.unknown_for_a_while.get(account, 0)
        if waits:
            self.unknown_for_a_while[account] = waits - 1
        if waits or not known:
            raise Refused(400, "INVALID_ARGUMENT", f"Service account {account} does not exist.")


@contextlib.contextmanager
def serving(cloud: Cloud, *, folder: Path) -> Iterator[dict[str, str]]:
    """The environment in which the real gcloud and curl have this cloud and no other."""
    token = folder / "token"
    token.write_text(TOKEN)
    with HttpServer(cloud.answer) as server:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "CLOUDSDK_CONFIG": str(folder / "gcloud"),
            "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE": str(token),
            "CLOUDSDK_CORE_DISABLE_FILE_LOGGING": "true",
            "CLOUDSDK_CORE_DISABLE_PROMPTS": "1",
            "CLOUDSDK_CORE_DISABLE_USAGE_REPORTING": "true",
            "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK": "true",
            "CLOUDSDK_PROXY_TYPE": "http",
            "CLOUDSDK_PROXY_ADDRESS": "127.0.0.1",
            "CLOUDSDK_PROXY_PORT": str(server.port),
            "http_proxy": server.url,
        }
        for api in APIS:
            environment[f"CLOUDSDK_API_ENDPOINT_OVERRIDES_{api.upper()}"] = f"http://{api}.{DOMAIN}/"
        yield environment


def _expression(path: str) -> str:
    return re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/:]+)", re.escape(path))
