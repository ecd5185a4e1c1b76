"""`GET /doctor`: examines every agent step by step, with the credential that the agent really gets."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct, field

from a2a_hub.a2a.errors import PERMISSION_DENIED, A2AError
from a2a_hub.boundaries.boundary import CredentialRequest
from a2a_hub.boundaries.sources import CredentialSources, NoCredential
from a2a_hub.diagnosis.gcloud import Service
from a2a_hub.diagnosis.report import (
    Examined,
    Report,
    Step,
    error,
    failed,
    is_doctor_request,
    ok,
    report_response,
    skipped,
    warning,
)
from a2a_hub.http.client import HttpClient
from a2a_hub.http.messages import Request, Response
from a2a_hub.identity.authentication import Caller
from a2a_hub.identity.principal import is_operator
from a2a_hub.routing.routes import Kind, Route
from a2a_hub.settings.hub import missing_variable
from a2a_hub.task_store.settings import StoreSettings
from a2a_hub.task_store.store import Store
from a2a_hub.telemetry import audit
from a2a_hub.telemetry.log import Record
from functions.hub.agent_examination import AgentExamination
from functions.hub.credentials import AuthorizedHttp
from functions.hub.downstream.interface import Downstream
from functions.hub.failure import failure_of, without_armor
from functions.hub.store_examination import examine_quotas, examine_store

if TYPE_CHECKING:
    from a2a_hub.language_models.model import LanguageModel
    from functions.hub.downstream.model_armor import ModelArmor

_AT_ONCE = 8


def require_operator(caller: Caller, operators: Collection[str]) -> None:
    """Raise PERMISSION_DENIED for a caller who is no operator."""
    if not is_operator(caller.principal, operators):
        reason = "Only operators may see this: clients of the hub's own, and the addresses in OPERATORS"
        raise A2AError(PERMISSION_DENIED, reason)


class Doctor(Struct, frozen=True):
    """The examination of `routes`. `service` is the hub itself on Cloud Run, None elsewhere; `operators` are emails;
    `downstreams` are the agents by route id; `store` is the task store, with its settings; up to `max_instances` hubs may run;
    `model` is that for the tools of MCP servers, `armor` screens the routes with `safety`.
    """

    routes: Callable[[], Sequence[Route]]
    sources: CredentialSources
    http: HttpClient
    service: Service | None
    operators: frozenset[str]
    downstreams: Callable[[], Mapping[str, Downstream]] = dict
    store: tuple[Store, StoreSettings] | None = None
    max_instances: int = 1
    model: LanguageModel | None = None
    armor: ModelArmor | None = None
    now: Callable[[], float] = time.time
    # Each examination calls real services, and uses their quota.
    _one_at_a_time: threading.Lock = field(default_factory=threading.Lock)

    def handle(self, request: Request, caller: Caller, record: Record) -> Response | None:
        """Return the report; None for any other request. Raises PERMISSION_DENIED."""
        if not is_doctor_request(request):
            return None
        require_operator(caller, self.operators)
        audit.record("read", caller.principal, page=request.path, request=record["requestId"])
        limit = caller.principal.routes if caller.principal else None
        with self._one_at_a_time:
            return report_response(self.report(caller.authorization, only=limit))

    def report(self, authorization: str | None = None, *, only: Container[str] | None = None) -> Report:
        """Examine every route and the task store, or `only` these routes. `authorization` is the caller's."""
        routes = [route for route in self.routes() if only is None or route.id in only]
        with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="doctor") as threads:
            found = [*threads.map(lambda route: (route.id, [*self._steps(route, authorization)]), routes)]
        account = self._account()
        if only is None:
            found += [(subject, steps) for subject, each in self._steps_of_hub(routes, account) if (steps := [*each])]
        examined = tuple(Examined(subject=subject, steps=tuple(steps)) for subject, steps in found)
        return Report(account=account, examined=examined)

    def _steps_of_hub(self, routes: Sequence[Route], account: str | None) -> Iterator[tuple[str, Iterable[Step]]]:
        if self.model is not None:
            from a2a_hub.language_models.model import examine_model

            yield "model", examine_model(self.model, without="")
        if screened := [route for route in routes if route.safety]:
            missing = without_armor(screened[0])
            unset = failed("template", missing.cause, remedy=missing.remedy or "")
            yield "safety", [self.armor.examine() if self.armor else unset]
        yield "tasks", self._store_steps(account)
        if self.store is not None:
            yield "quotas", examine_quotas(self.store[0])

    def _store_steps(self, account: str | None) -> Iterator[Step]:
        if self.store is not None:
            store, settings = self.store
            yield from examine_store(store, settings, account=account)
        elif self.max_instances > 1:
            seen = f"up to {self.max_instances} instances without a store: each forgets the conversations of the others"
            yield warning("store", seen, fix='set TASK_STORE = "firestore" in deploy.toml, or max_instances = 1')

    def _account(self) -> str | None:
        for route in self.routes():
            request = CredentialRequest(agent=route, sources=self.sources)
            with suppress(NoCredential):
                if account := route.boundary.account(route.boundary.credential(request)):
                    return account
        return None

    def _steps(self, route: Route, authorization: str | None) -> Iterator[Step]:
        if route.role:
            yield ok("workers", f"nobody is called: the workers of {route.role} fetch its tasks")
            return
        if (downstream := self.downstreams().get(route.id)) and (failure := downstream.open_circuit):
            yield failed("circuit", failure.cause, remedy=failure.remedy or "see the steps below, and the agent's log")
        if route.kind is Kind.MCP and not route.tool and self.model is None:
            missing_tool = failure_of("no_tool", route)
            yield failed("tool", missing_tool.cause, remedy=missing_tool.remedy or "")
        variable = missing_variable(route)
        if variable is not None:
            hub = self.service or Service(name="hub")
            # All services of deploy.sh have one prefix.
            agent = Service(name=hub.name.removesuffix("hub") + route.id.replace("_", "-"))
            yield error(
                "address",
                f"the hub does not know the agent's address: {variable} is not set",
                fix=f"set {variable} to the address of the agent",
                command=hub.set_variable(variable, f"$({agent.describe()})"),
            )
            return
        try:
            request = CredentialRequest(agent=route, sources=self.sources, authorization=authorization)
            http = AuthorizedHttp(self.http, route.boundary, request)
        except NoCredential as missing:
            yield route.boundary.missing_step(missing, self.service)
            return
        if route.signs_caller_for and self.sources.signer(route.signs_caller_for) is None:
            yield skipped("caller", "the agent is not told who asks: the hub has no SIGNING_KEY")
        yield from AgentExamination(route, http, hub=self.service, now=self.now()).steps()
