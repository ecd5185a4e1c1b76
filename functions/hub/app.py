"""The only place where the hub's parts are wired; a request's way through them is `handle`."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from a2a_hub.a2a.card import AgentCard
from a2a_hub.a2a.server import A2AServer, Limits
from a2a_hub.boundaries.secret_store import SecretStore
from a2a_hub.boundaries.sources import CredentialSources
from a2a_hub.boundaries.token_endpoint import TokenEndpoints
from a2a_hub.http.dispatch import ANY, GET_ONLY, POST, Dispatcher, Identified, Public
from a2a_hub.http.messages import Handler, Request, Response
from a2a_hub.identity.principal import HUB_FUNCTION, Principal
from a2a_hub.identity.service_tokens import DefaultCredentials
from a2a_hub.identity.signed_principal import HEADER
from a2a_hub.routing.routes import Route, may_use
from a2a_hub.runtime.function import MESSAGE_FACTORY, Identification, health, respond, stdout_log
from a2a_hub.runtime.ids import new_id
from a2a_hub.settings.hub import HubSettings, card_endpoint, card_for, missing_variable, route_source
from a2a_hub.telemetry.log import Log, Record
from functions.hub.agent import HubAgent
from functions.hub.config import Config
from functions.hub.conversations import Conversations
from functions.hub.doctor_endpoint import DoctorEndpoint
from functions.hub.downstream.interface import Downstream, of_workers, without_address
from functions.hub.pages import Pages
from functions.hub.pipeline import Pipeline
from functions.hub.run_endpoint import PATH as RUN_PATH
from functions.hub.run_endpoint import RunEndpoint
from functions.hub.tables import Tables
from functions.hub.tools_query import PATH as TOOLS_PATH
from functions.hub.tools_query import ToolsQuery

if TYPE_CHECKING:
    from a2a_hub.a2a.call import Call
    from a2a_hub.a2a.extensions.development_tool import SlashCommand
    from a2a_hub.http.client import HttpClient
    from a2a_hub.tasks.task_service import TaskService
    from a2a_hub.tasks.webhook_keys import KeySetPage, PublicKey
    from functions.hub.commands import Commands
    from functions.hub.doctor import Doctor
    from functions.hub.run_endpoint import RunEndpoint
    from functions.hub.slash_commands import SlashCommands

_SELF = Principal(subject=HUB_FUNCTION)


def build(
    config: Config, *, downstreams: Mapping[str, Downstream] | None = None, log: Log | None = None
) -> Handler:
    """The hub's handler. `downstreams` replaces the agents of the route table, by route id."""
    settings = config.hub
    log = log or stdout_log("hub", project=settings.google_cloud_project, with_text=settings.log_text)
    if settings.unset:
        log.line("WARNING", f"Not set, so that their agents cannot be reached: {', '.join(settings.unset)}")
    # Made, and its modules loaded, when something outside this process is reached for the first time.
    http = cache(_http)
    sources = cache(lambda: _sources(config, http()))
    tables = Tables(
        settings,
        agent=_agents(http, sources) if downstreams is None else lambda route: downstreams[route.id],
    )
    source = route_source(settings, tables.use, log=log)
    pipeline = Pipeline(
        tables=tables,
        conversations=Conversations(),
        log=log,
        clock=time.perf_counter,
    )
    limits = Limits(max_body_bytes=config.max_body_bytes, keep_alive_seconds=config.keep_alive_seconds)
    slash_commands = cache(lambda: _slash_commands(tables, tasks, log))
    agent = HubAgent(
        pipeline,
        cache(lambda: _commands(tables, tasks, slash_commands, log)),
        message_factory=MESSAGE_FACTORY,
    )
    tasks = _tasks(config, agent, http, log)
    server = A2AServer(
        agent,
        card=lambda: tables.now.card,
        log=log,
        limits=limits,
        extended_card=lambda principal: _card_of(tables.now.settings, principal),
        tasks=tasks,
        development_tool=slash_commands,
        keeps_ui_contract=config.keeps_ui_contract,
    )
    queries = ToolsQuery(pipeline, max_body_bytes=config.max_body_bytes, operators=config.operators)
    pages = Pages(tables, commit=config.commit)
    doctor = DoctorEndpoint(lambda: _doctor(config, tables, http(), sources(), tasks))
    dispatcher = Dispatcher(
        (
            Public("/", pages.front),
            Public("/health", health),
            *card_endpoint(settings, lambda: tables.now.card).endpoints,
            *(_key_set(settings.webhook_keys).endpoints if settings.webhook_keys else ()),
            Public("/openapi.yaml", pages.openapi, exact=True),
            Identified("/", server.handle, POST),
            Identified("/doctor", doctor.handle, GET_ONLY, exact=True),
            Identified(TOOLS_PATH, queries.handle, POST),
            Identified("/routes", pages.routes),
            Identified("/debug-version", pages.version),
            *((Identified(RUN_PATH, RunEndpoint(tasks.runner).handle, ANY, exact=True),) if tasks else ()),
        ),
        identify=Identification(config.identity.authenticator(http, trusts_gate=True)).identify,
        fallback=server.handle,
    )

    def handle(request: Request, record: Record) -> Response:
        source.look()
        return respond(dispatcher.handle, request, record)

    return log.requests(handle)


def _tasks(config: Config, agent: HubAgent, http: Callable[[], HttpClient], log: Log) -> TaskService | None:
    if config.hub.store is None or config.tasks is None:
        return None
    # A fifth of the hub's modules: one that keeps no tasks starts without them.
    from a2a_hub.queue.factory import open_wakeups
    from a2a_hub.queue.wakeups import WAKEUPS_PATH
    from a2a_hub.task_store.factory import open_store
    from a2a_hub.tasks.task_service import TaskService
    from functions.hub.task_texts import TaskTexts

    store = open_store(config.hub.store, clock=time.time, new_token=new_id)
    signer = config.identity.signer(audience="tasks")

    def failed(sentence: str) -> None:
        log.line("WARNING", f"Nobody was told of a task, which will be found later: {sentence}")

    wakeups = open_wakeups(
        config.wakeups,
        http=http(),
        headers=lambda: {HEADER: signer.sign(_SELF, method="POST", path=WAKEUPS_PATH)} if signer else {},
        failed=failed,
    )
    return TaskService(
        agent,
        store,
        log=log,
        message_factory=MESSAGE_FACTORY,
        texts=TaskTexts(),
        wakeups=wakeups,
        settings=config.tasks,
        new_task_policy=agent,
    )


def _commands(
    tables: Tables, tasks: TaskService | None, slash_commands: Callable[[], SlashCommands], log: Log
) -> Commands:
    from functions.hub.commands import Commands

    def of_agents(call: Call) -> Sequence[SlashCommand]:
        some = any(route.passes_tasks and route.extensions for route in tables.now.settings.table.routes)
        return slash_commands().to_type(call) if some else ()

    return Commands(
        lambda: tables.now.settings.table.routes,
        is_routed=lambda text: tables.now.router.has_rule_for(text),
        of_agents=of_agents,
        tasks=tasks.operations if tasks else None,
        log=log,
    )


def _slash_commands(tables: Tables, tasks: TaskService | None, log: Log) -> SlashCommands:
    from functions.hub.slash_commands import SlashCommands

    return SlashCommands(lambda: tables.now, sending=tasks.sending if tasks else None, log=log, new_id=new_id)


def _key_set(keys: tuple[PublicKey, ...]) -> KeySetPage:
    from a2a_hub.tasks.webhook_keys import KeySetPage

    return KeySetPage(keys)


def _card_of(settings: HubSettings, principal: Principal | None) -> AgentCard:
    """The card with what this caller may use."""
    return card_for(settings, tuple(route for route in settings.table.routes if may_use(route, principal)))


def _doctor(
    config: Config, tables: Tables, http: HttpClient, sources: CredentialSources, tasks: TaskService | None
) -> Doctor:
    from a2a_hub.diagnosis.gcloud import Service
    from functions.hub.doctor import Doctor

    return Doctor(
        lambda: tables.now.settings.table.routes,
        sources=sources,
        http=http,
        service=Service(name=config.service) if config.service else None,
        operators=config.operators,
        store=(tasks.store, config.hub.store) if tasks and config.hub.store else None,
    )


def _http() -> HttpClient:
    from a2a_hub.http.client import HttpClient

    return HttpClient()


def _sources(config: Config, http: HttpClient) -> CredentialSources:
    tokens = DefaultCredentials() if config.uses_google_credentials else None
    variables = config.hub.routes_file.variables
    secrets = SecretStore(variables, http=http, tokens=tokens, endpoint=config.secret_manager_endpoint)
    return CredentialSources(
        tokens=tokens,
        spares_loopback=config.spares_loopback,
        secrets=secrets,
        access_tokens=TokenEndpoints(http, secrets),
    )


def _agents(
    http: Callable[[], HttpClient], sources: Callable[[], CredentialSources]
) -> Callable[[Route], Downstream]:
    def agent(route: Route) -> Downstream:
        if route.role:
            return of_workers(route)
        variable = missing_variable(route)
        if variable is not None:
            return without_address(route, variable)
        return _remote(route, http(), sources())

    return agent


def _remote(route: Route, http: HttpClient, sources: CredentialSources) -> Downstream:
    from functions.hub.downstream.a2a_transport import a2a_agent

    return a2a_agent(route, http=http, sources=sources, new_id=new_id)
