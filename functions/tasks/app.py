"""The only place where the tasks function's parts are wired."""

import time
from functools import partial

from a2a_hub.a2a.error_response import problem
from a2a_hub.a2a.errors import UNAUTHENTICATED, UNAVAILABLE, A2AError
from a2a_hub.http.admission import AdmissionControl
from a2a_hub.http.client import HttpClient
from a2a_hub.http.dispatch import ANY, Dispatcher, Identified, MethodNotAllowed, NotFound
from a2a_hub.http.messages import Handler, Request, Response
from a2a_hub.identity.default_credentials import DefaultCredentials
from a2a_hub.identity.principal import Principal
from a2a_hub.identity.public_keys import key_set_endpoints
from a2a_hub.identity.service_tokens import ServiceTokens
from a2a_hub.queue.factory import open_wakeups
from a2a_hub.queue.hcs import MirrorTopics
from a2a_hub.queue.wakeups import WAKEUPS_PATH, WEBHOOKS_TOPIC, TaskEvent, Wakeups, topic_of
from a2a_hub.routing.routes import RouteTable
from a2a_hub.runtime.background import Background
from a2a_hub.runtime.function import error_of, status_pages, stdout_log
from a2a_hub.runtime.ids import new_id
from a2a_hub.runtime.threads import Threads
from a2a_hub.settings.hub import route_source
from a2a_hub.task_store.factory import open_store
from a2a_hub.task_store.store import Unavailable
from a2a_hub.tasks.role_record import record_ended
from a2a_hub.telemetry.log import Log, Record
from functions.tasks.config import Config
from functions.tasks.hub_runs import HubRuns, run_slots
from functions.tasks.wakeups import TaskWork, ThreadedWakeups, WakeupEndpoint
from functions.tasks.webhooks.delivery import deliverer
from functions.tasks.workers.api import WorkersApi
from functions.tasks.workers.identity import worker_of
from functions.tasks.workers.lease_operations import LeaseOperations
from functions.tasks.workers.leasing import Leasing, WorkerWaits

# Even without retention, work may wait for a worker for this long.
_MIN_UNTAKEN_SECONDS = 86_400.0
_RETRY_AFTER_SECONDS = "2"


def build(
    config: Config,
    *,
    log: Log | None = None,
    tokens: ServiceTokens | None = None,
    admission: AdmissionControl | None = None,
) -> Handler:
    """Return the function's handler. Background work starts when the process serves requests, and stops at its shutdown.
    `tokens` replaces Application Default Credentials.
    """
    log = log or stdout_log("tasks", project=config.hub.google_cloud_project)
    store = open_store(config.store, now=time.time, new_id=new_id, report=log.line)
    signer = config.identity.signer(audience="hub")
    assert signer is not None, "the settings have been checked"
    http = HttpClient()
    if tokens is None and config.uses_google_credentials:
        tokens = DefaultCredentials()
    threads = None if config.in_requests else ThreadedWakeups(Threads("wake-up"))
    queue = _queue(config, http, tokens, log)
    wakeups = threads or queue
    store.on_undelivered(lambda task_id: wakeups.publish(WEBHOOKS_TOPIC, task_id))
    store.on_ended(partial(record_ended, queue))
    slots = run_slots(config.runs_at_once)
    runs = HubRuns(
        store,
        hub_url=config.hub_url,
        http=http,
        signer=signer,
        tokens=tokens,
        wakeups=wakeups,
        slots=slots,
        longest_seconds=config.run_seconds,
        log=log,
    )

    roles = _roles(config.hub.table)

    def activate(table: RouteTable, _: tuple[str, ...]) -> None:
        nonlocal roles
        roles = _roles(table)

    source = route_source(config.hub, activate, log=log)
    authenticator = config.identity.authenticator(http)
    waits = WorkerWaits(poll_seconds=config.poll_seconds, at_once=config.waits_at_once)
    leasing = Leasing(
        store,
        waits,
        max_attempts=config.max_attempts,
        untaken_seconds=max(config.retention_seconds, _MIN_UNTAKEN_SECONDS),
        assigned=lambda stored: queue.record(TaskEvent.ASSIGNED, topic_of(stored.role), stored.task.id),
        now=time.time,
    )
    operations = LeaseOperations(store, waits)
    api = WorkersApi(leasing, operations, roles=lambda: roles, max_body_bytes=config.limits.body_bytes)
    background = Background(log, in_threads=threads is not None)
    deliveries = deliverer(config, store, log, wakeups)
    work = TaskWork(
        store,
        runs,
        slots,
        deliveries,
        leasing,
        wakeups=wakeups,
        background=background,
        config=config,
        now=time.time,
    )
    if threads is not None:
        threads.work = work
        if config.wakeups and config.wakeups.hcs:
            mirror = MirrorTopics(config.wakeups.hcs, http=http, notify=waits.notify)
            background.every(config.wakeups.hcs.poll_seconds, mirror.poll, name="the reading of the mirror node")
    if admission is not None:
        for stop in (waits.stop, runs.stop, deliveries.stop):
            admission.shutdown.on_stop(stop)
    wakeup_endpoint = WakeupEndpoint(waits, work, accounts=config.wakeup_accounts, threads=threads)

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
            *key_set_endpoints(config.webhooks.public_keys),
            Identified(WAKEUPS_PATH, wakeup_endpoint.handle, ANY, exact=True),
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
            record["fault"] = "store_unavailable"
            retry = {"retry-after": _RETRY_AFTER_SECONDS}
            away = A2AError(UNAVAILABLE, "Tasks cannot be reached at the moment; try again", headers=retry)
            return problem(away, record, with_reason=True)
        record |= error.log_fields
        return problem(error, record, with_reason=True)

    return log.requests(handle)


def _queue(config: Config, http: HttpClient, tokens: ServiceTokens | None, log: Log) -> Wakeups:
    def log_failed(reason: str) -> None:
        log.line("WARNING", f"A wake-up failed; a sweep will find the work: {reason}")

    return open_wakeups(config.wakeups, http=http, headers=lambda _: {}, failed=log_failed, tokens=tokens)


def _roles(table: RouteTable) -> frozenset[str]:
    return frozenset(route.role for route in table.routes if route.role)
