"""The only place where the tasks function's parts are wired."""

import time
from collections.abc import Callable

from a2a_hub.a2a.error_response import problem
from a2a_hub.a2a.errors import UNAUTHENTICATED, UNAVAILABLE, A2AError
from a2a_hub.http.client import HttpClient
from a2a_hub.http.dispatch import ANY, Dispatcher, Identified, MethodNotAllowed, NotFound
from a2a_hub.http.messages import Handler, Request, Response
from a2a_hub.identity.default_credentials import DefaultCredentials
from a2a_hub.identity.principal import Principal
from a2a_hub.queue.wakeups import WAKEUPS_PATH
from a2a_hub.routing.routes import RouteTable
from a2a_hub.runtime.background import Background
from a2a_hub.runtime.function import MESSAGE_FACTORY, error_of, status_pages, stdout_log
from a2a_hub.runtime.ids import new_id
from a2a_hub.runtime.threads import Threads
from a2a_hub.settings.hub import route_source
from a2a_hub.task_store.factory import open_store
from a2a_hub.task_store.store import Store, Unavailable
from a2a_hub.tasks.webhook_keys import KeySetPage
from a2a_hub.telemetry.log import Log, Record
from functions.tasks.config import Config
from functions.tasks.hub_runs import HubRunStarter
from functions.tasks.wakeups import TopicCondition, WakeupEndpoint
from functions.tasks.webhooks.delivery import deliverer
from functions.tasks.workers.api import WorkersApi
from functions.tasks.workers.events import Events
from functions.tasks.workers.identity import worker_of
from functions.tasks.workers.lease_operations import LeaseOperations
from functions.tasks.workers.leasing import Leasing

_MOST_PURGED = 500
_PURGE_EVERY_SECONDS = 600.0
# Even without retention, work may wait for a worker for this long.
_LEAST_UNTAKEN_SECONDS = 86_400.0
_ABANDONED_EVERY_SECONDS = 15.0
_RETRY_AFTER_SECONDS = "2"


def build(config: Config, *, log: Log | None = None) -> Handler:
    """Return the function's handler. Its background work begins when its process serves."""
    log = log or stdout_log("tasks", project=config.hub.google_cloud_project)
    store = open_store(config.store, clock=time.time, new_token=new_id)
    signer = config.identity.signer()
    assert signer is not None, "the settings have been checked"
    http = HttpClient()
    runs = HubRunStarter(
        store,
        hub_url=config.hub_url,
        http=http,
        signer=signer,
        tokens=DefaultCredentials() if config.uses_google_credentials else None,
        log=log,
        threads=Threads("hub run"),
    )

    roles = _roles(config.hub.table)

    def use(table: RouteTable, _: tuple[str, ...]) -> None:
        nonlocal roles
        roles = _roles(table)

    source = route_source(config.hub, use, log=log)
    authenticator = config.identity.authenticator(http, trusts_gate=True, audience="tasks")
    worker_wakeups, events = TopicCondition(), Events(MESSAGE_FACTORY)
    leasing = Leasing(
        store,
        worker_wakeups,
        events,
        most_attempts=config.most_attempts,
        poll_seconds=config.poll_seconds,
        waits_at_once=config.waits_at_once,
        untaken_seconds=max(config.retention_seconds, _LEAST_UNTAKEN_SECONDS),
        clock=time.monotonic,
        now=time.time,
    )
    api = WorkersApi(leasing, LeaseOperations(store, events), roles=lambda: roles, max_body_bytes=config.max_body_bytes)
    wakeups = WakeupEndpoint(worker_wakeups, accounts=config.wakeup_accounts, hub_runs=runs)
    key_set = KeySetPage(config.webhooks.public_keys)
    background = _background(
        config,
        store,
        log,
        start_due_runs=runs.start_due,
        end_abandoned=lambda: leasing.end_abandoned(sorted(roles)),
        end_untaken=lambda: leasing.end_abandoned(None),
    )

    def identify(request: Request, record: Record) -> Principal:
        principal = authenticator.identify(request, record).principal
        if principal is None:
            raise A2AError(UNAUTHENTICATED, headers={"www-authenticate": 'Bearer realm="a2a"'})
        return principal

    def serve_worker(request: Request, principal: Principal, record: Record) -> Response | None:
        return api.handle(request, worker_of(principal, config.worker_accounts), record)

    dispatcher = Dispatcher(
        (
            *status_pages("A2A hub: tasks"),
            *key_set.endpoints,
            Identified(WAKEUPS_PATH, wakeups.handle, ANY, exact=True),
        ),
        identify=identify,
        fallback=serve_worker,
    )

    def handle(request: Request, record: Record) -> Response:
        background.start()
        source.reload_if_due()
        try:
            return dispatcher.handle(request, record)
        except A2AError as refused:
            error = refused
        except (NotFound, MethodNotAllowed) as refused:
            error = error_of(refused)
        except Unavailable:
            record["outcome"] = "store_unavailable"
            retry = {"retry-after": _RETRY_AFTER_SECONDS}
            away = A2AError(UNAVAILABLE, "Tasks cannot be reached at the moment; try again", headers=retry)
            return problem(away, record, with_reason=True)
        record["outcome"] = error.kind.reason
        return problem(error, record, with_reason=True)

    return log.requests(handle)


def _background(
    config: Config,
    store: Store,
    log: Log,
    *,
    start_due_runs: Callable[[], object],
    end_abandoned: Callable[[], object],
    end_untaken: Callable[[], object],
) -> Background:
    def purge() -> None:
        while store.purge(ended_before=time.time() - config.retention_seconds, limit=_MOST_PURGED):
            pass

    deliver = deliverer(config, store, log).deliver_due
    background = Background(log)
    background.every(config.webhooks.poll_seconds, deliver, name="The delivery of push notifications")
    background.every(config.sweep_seconds, start_due_runs, name="The sweep for tasks that nobody runs")
    background.every(_ABANDONED_EVERY_SECONDS, end_abandoned, name="The sweep for tasks whose workers died")
    background.every(_PURGE_EVERY_SECONDS, end_untaken, name="The sweep for tasks that nobody takes")
    background.every(_PURGE_EVERY_SECONDS, purge, name="The deletion of old tasks")
    return background


def _roles(table: RouteTable) -> frozenset[str]:
    return frozenset(route.role for route in table.routes if route.role)
