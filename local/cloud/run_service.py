"""A Cloud Run service as its administrators see it: who may invoke it, which audiences it takes, how many instances it has.

`GET /__service` shows it. `POST /__service` changes it as gcloud does, and so mends what a fault did; its keys are
`add_invoker` and `remove_invoker` ("serviceAccount:…"), `add_audience`, `max_instances` and `min_instances`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from a2a_hub.http.messages import Request, Response
from local.cloud.faults import Faults
from local.cloud.program import LATENCY, json_body, json_response

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
        """Whether anybody may invoke it, without a token."""
        return EVERYBODY in self._invokers

    def may_invoke(self, claims: Mapping[str, Any]) -> bool:
        """Whether the account that a valid token is about has roles/run.invoker."""
        return (
            claims.get("email_verified") is True and f"serviceAccount:{claims.get('email')}" in self._invokers
        )

    def control(self, request: Request) -> Response | None:
        """The answer to a request on the service itself or its faults; None for a call of the service."""
        if request.path != SERVICE:
            return self.faults.handle(request)
        if request.method == "POST":
            for key, value in json_body(request).items():
                if not self._change(key, value):
                    return json_response({"error": f"nothing is called {key!r}"}, status=400)
        with self._lock:
            told = {"name": self._name, "invokers": self._invokers, "audiences": self._audiences}
            return json_response({**told, **self._instances})

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
        """The fault is over, without what it took away being given back."""
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
