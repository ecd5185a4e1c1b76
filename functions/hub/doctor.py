"""`GET /doctor`: examines every agent step by step, with the credential that the agent really gets."""

import threading
import time
from collections.abc import Callable, Container, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from a2a_hub.a2a.error_response import refusal
from a2a_hub.a2a.errors import PERMISSION_DENIED, A2AError
from a2a_hub.boundaries.boundary import CredentialRequest
from a2a_hub.boundaries.sources import CredentialSources, NoCredential
from a2a_hub.diagnosis.gcloud import Service
from a2a_hub.diagnosis.report import Examined, Report, Step, error, is_doctor_request, ok, report_response
from a2a_hub.http.client import HttpClient
from a2a_hub.http.messages import Request, Response
from a2a_hub.identity.authentication import Caller
from a2a_hub.identity.principal import is_operator
from a2a_hub.routing.routes import Route
from a2a_hub.settings.hub import missing_variable
from a2a_hub.task_store.settings import StoreSettings
from a2a_hub.task_store.store import TaskStore
from a2a_hub.telemetry.log import Record
from functions.hub.agent_examination import AgentExamination
from functions.hub.credentials import AuthorizedHttp
from functions.hub.store_examination import examine_store

_AT_ONCE = 8


class Doctor:
    """The examination of `routes`. `service` is the hub itself on Cloud Run, None elsewhere; `operators` are emails; `store`
    is the task store, with its settings.
    """

    def __init__(
        self,
        routes: Callable[[], Sequence[Route]],
        *,
        sources: CredentialSources,
        http: HttpClient,
        service: Service | None,
        operators: frozenset[str],
        store: tuple[TaskStore, StoreSettings] | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._routes = routes
        self._sources = sources
        self._http = http
        self._service = service
        self._operators = operators
        self._store = store
        self._now = now
        # Each examination calls real services, and uses their quota.
        self._one_at_a_time = threading.Lock()

    def handle(self, request: Request, caller: Caller, record: Record) -> Response | None:
        """Return the report, or a refusal for callers who are no operators; None for any other request."""
        if not is_doctor_request(request):
            return None
        if not is_operator(caller.principal, self._operators):
            reason = "Only operators may see this: clients of the hub's own, and the addresses in OPERATORS"
            return refusal(request, A2AError(PERMISSION_DENIED, reason), record)
        limit = caller.principal.routes if caller.principal else None
        with self._one_at_a_time:
            return report_response(self.report(caller.authorization, only=limit))

    def report(self, authorization: str | None = None, *, only: Container[str] | None = None) -> Report:
        """Examine every route and the task store, or `only` these routes. `authorization` is the caller's."""
        routes = [route for route in self._routes() if only is None or route.id in only]
        with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="doctor") as threads:
            examined = tuple(
                threads.map(
                    lambda route: Examined(subject=route.id, steps=tuple(self._steps(route, authorization))),
                    routes,
                )
            )
        account = self._account()
        if self._store is not None and only is None:
            store, settings = self._store
            steps = tuple(examine_store(store, settings, account=account))
            examined += (Examined(subject="tasks", steps=steps),)
        return Report(account=account, examined=examined)

    def _account(self) -> str | None:
        for route in self._routes():
            request = CredentialRequest(agent=route, sources=self._sources)
            with suppress(NoCredential):
                if account := route.boundary.account(route.boundary.credential(request)):
                    return account
        return None

    def _steps(self, route: Route, authorization: str | None) -> Iterator[Step]:
        if route.role:
            yield ok("workers", f"nobody is called: the workers of {route.role} fetch its tasks")
            return
        variable = missing_variable(route)
        if variable is not None:
            hub = self._service or Service(name="hub")
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
            request = CredentialRequest(agent=route, sources=self._sources, authorization=authorization)
            http = AuthorizedHttp(self._http, route.boundary, request)
        except NoCredential as missing:
            yield route.boundary.missing_step(missing, self._service)
            return
        yield from AgentExamination(route, http, hub=self._service, now=self._now()).steps()
