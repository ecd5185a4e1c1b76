"""Wires the hub, dependencies first. The dispatch table shows where each request goes."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from a2a_hub.a2a.live_turn import LiveTurns
from a2a_hub.a2a.server import A2AServer
from a2a_hub.boundaries.secret_store import SecretStore
from a2a_hub.boundaries.sources import CredentialSources
from a2a_hub.boundaries.token_endpoint import TokenEndpoints
from a2a_hub.diagnosis.gcloud import Service
from a2a_hub.http.admission import AdmissionControl
from a2a_hub.http.client import HttpClient
from a2a_hub.http.dispatch import ANY, GET_ONLY, POST, Dispatcher, Identified, Public
from a2a_hub.http.messages import Handler
from a2a_hub.identity.authentication import PRINCIPAL_HEADER
from a2a_hub.identity.default_credentials import DefaultCredentials
from a2a_hub.identity.principal import GATE, HUB_FUNCTION, Principal
from a2a_hub.identity.public_keys import key_set_endpoints
from a2a_hub.queue.factory import open_wakeups
from a2a_hub.queue.wakeups import WAKEUPS_PATH, WEBHOOKS_TOPIC
from a2a_hub.quota.quotas import Counters, Quotas, TaskQuota
from a2a_hub.routing.routes import Kind, Route
from a2a_hub.runtime.function import health, serve, stdout_log
from a2a_hub.runtime.ids import new_id
from a2a_hub.settings.hub import card_endpoint, missing_variable, route_source
from a2a_hub.task_store.factory import open_store
from a2a_hub.task_store.store import Store
from a2a_hub.tasks.engine import TurnEngine
from a2a_hub.tasks.operations import TaskOperations
from a2a_hub.tasks.role_record import record_ended
from a2a_hub.telemetry.log import Log
from functions.hub.agent import HubAgent
from functions.hub.commands.agent_commands import AgentCommands
from functions.hub.commands.commands import Commands
from functions.hub.config import Config
from functions.hub.conversations import Conversations
from functions.hub.display import parts_for_display
from functions.hub.doctor import Doctor
from functions.hub.downstream.a2a_transport import a2a_agent
from functions.hub.downstream.interface import Downstream, UnavailableAgent
from functions.hub.endpoints import ACTIVITY_PATH, RUN_PATH, TOOLS_PATH, Activity, Pages, RunEndpoint, ToolsQuery
from functions.hub.failure import failure_of, without_armor
from functions.hub.misses import Misses
from functions.hub.pipeline import Pipeline
from functions.hub.route_tables import RouteTables
from functions.hub.texts import TASK_TEXTS

if TYPE_CHECKING:
    from a2a_hub.language_models.model import LanguageModel
    from functions.hub.downstream.model_armor import ModelArmor

_SELF = Principal(subject=HUB_FUNCTION)


def build(
    config: Config,
    *,
    downstreams: Mapping[str, Downstream] | None = None,
    log: Log | None = None,
    admission: AdmissionControl | None = None,
    model: LanguageModel | None = None,
    armor: ModelArmor | None = None,
) -> Handler:
    """Return the hub's handler. Tests and measurements replace the agents with `downstreams` (by route id), the model of MCP
    servers with `model`, and the safety check with `armor`.
    """
    settings = config.hub
    behind_gate = GATE in config.identity.trusted_keys
    log = log or stdout_log(
        "hub", project=settings.google_cloud_project, with_text=settings.log_text, is_entrance=not behind_gate
    )
    if settings.unset:
        log.line("WARNING", f"These variables are not set; their agents cannot be reached: {', '.join(settings.unset)}")
    http = HttpClient()
    tokens = DefaultCredentials() if config.uses_google_credentials else None
    sources = _credential_sources(config, http, tokens)
    model = model or _mcp_model(config)
    armor = armor or _model_armor(config, http, tokens)
    store = open_store(settings.store, now=time.time, new_id=new_id, report=log.line) if settings.store else None

    def agent_of(route: Route) -> Downstream:
        agent = downstreams[route.id] if downstreams is not None else _agent_of(route, http, sources, model, store)
        return _screened(agent, route, armor, log)

    tables = RouteTables(settings, agent_of)
    source = route_source(settings, tables.activate, log=log)
    quotas = Quotas(config.quotas, Counters(store, log=log))
    misses = Misses(store, log=log)
    pipeline = Pipeline(
        tables=tables,
        conversations=Conversations(store, log=log, ttl_seconds=config.conversation_ttl_seconds),
        quotas=quotas,
        misses=misses,
        link_hosts=config.link_hosts,
        log=log,
        clock=time.perf_counter,
    )
    stored = None
    if store and config.tasks:
        display = partial(parts_for_display, hosts=config.link_hosts)
        stored = TaskOperations(store, pipeline, settings=config.tasks, display=display)
    agent_commands = AgentCommands(tables, log=log)
    commands = Commands(tables, agent_commands, pipeline.conversations, tasks=stored, log=log)
    agent = HubAgent(pipeline, commands, operators=config.operators)
    tasks = _task_service(config, agent, stored, http, tokens, log) if stored else None
    server = A2AServer(
        agent,
        card=tables.card,
        log=log,
        max_body_bytes=config.limits.body_bytes,
        keep_alive_seconds=config.keep_alive_seconds,
        extended_card=tables.card_for,
        tasks=tasks,
        development_tool=agent_commands,
        contract=config.contract,
        capacity=admission.capacity if admission else None,
        open_stream=quotas.open_stream,
        tenants=config.tenants,
    )
    if admission:
        _wire_admission(admission, server, misses, tasks)
    queries = ToolsQuery(pipeline, max_body_bytes=config.limits.body_bytes, operators=config.operators)
    pages = Pages(tables, commit=config.commit)
    doctor = Doctor(
        tables.routes,
        downstreams=tables.downstreams,
        sources=sources,
        http=http,
        service=Service(name=config.service) if config.service else None,
        operators=config.operators,
        store=(store, settings.store) if store and settings.store else None,
        max_instances=config.max_instances,
        model=model,
        armor=armor,
    )
    runs = (Identified(RUN_PATH, RunEndpoint(tasks).handle, ANY, exact=True),) if tasks else ()
    dispatcher = Dispatcher(
        (
            Public("/", pages.front),
            Public("/health", health),
            *card_endpoint(settings, tables.card).endpoints,
            *key_set_endpoints(settings.published_keys),
            Public("/openapi.yaml", pages.openapi, exact=True),
            Identified("/", server.handle, POST),
            Identified("/doctor", doctor.handle, GET_ONLY, exact=True),
            Identified(ACTIVITY_PATH, Activity(store, misses, operators=config.operators).handle, GET_ONLY),
            Identified(TOOLS_PATH, queries.handle, POST),
            Identified("/routes", pages.routes),
            Identified("/debug-version", pages.version),
            *runs,
        ),
        identify=quotas.with_request_quota(config.identity.authenticator(http).identify, behind_gate=behind_gate),
        fallback=server.handle,
    )
    return serve(dispatcher.handle, log=log, before=source.reload_if_due)


def _wire_admission(admission: AdmissionControl, server: A2AServer, misses: Misses, tasks: TurnEngine | None) -> None:
    """Count all turns against the process's capacity, and end them at its shutdown."""
    turns: list[LiveTurns[Any]] = [server.ephemeral.turns, *([tasks.operations.turns] if tasks else [])]
    admission.capacity.count_turns(lambda: sum(map(len, turns)), lambda: sum(each.body_bytes for each in turns))
    admission.shutdown.on_stop(server.ephemeral.turns.drain)
    admission.shutdown.on_stop(misses.flush)
    if tasks:
        admission.shutdown.on_stop(tasks.drain)


# Modules that only some hubs need are imported where they are used, so that the others start sooner.


def _mcp_model(config: Config) -> LanguageModel | None:
    if not config.mcp_model:
        return None
    from a2a_hub.language_models.settings import language_model

    return language_model(config.mcp_model)


def _model_armor(config: Config, http: HttpClient, tokens: DefaultCredentials | None) -> ModelArmor | None:
    if not config.model_armor:
        return None
    from functions.hub.downstream.model_armor import ModelArmor

    return ModelArmor(config.model_armor, http=http, access_token=(tokens or DefaultCredentials()).access_token)


def _screened(agent: Downstream, route: Route, armor: ModelArmor | None, log: Log) -> Downstream:
    """Return the agent, with its requests and answers screened if the route says so."""
    if route.safety is None or route.role:
        return agent
    if armor is None:
        return UnavailableAgent(without_armor(route))
    from functions.hub.downstream.screened_agent import ScreenedAgent

    return ScreenedAgent(agent, route, armor, log=log)


def _agent_of(
    route: Route, http: HttpClient, sources: CredentialSources, model: LanguageModel | None, store: Store | None
) -> Downstream:
    """Return the route's agent: an unavailable one for a role, whose workers fetch stored tasks, and without an address."""
    if route.role:
        return UnavailableAgent(failure_of("no_stored_task", route))
    if variable := missing_variable(route):
        return UnavailableAgent(failure_of("url_not_set", route, variable=variable))
    if route.kind is Kind.A2A:
        return a2a_agent(route, http=http, sources=sources)
    if not route.tool and model is None:
        return UnavailableAgent(failure_of("no_tool", route))
    from functions.hub.downstream.mcp_transport import mcp_agent

    return mcp_agent(route, http=http, sources=sources, model=model, store=store)


def _credential_sources(config: Config, http: HttpClient, tokens: DefaultCredentials | None) -> CredentialSources:
    variables = config.hub.routes_file.variables
    secrets = SecretStore(variables, http=http, tokens=tokens, endpoint=config.secret_manager_endpoint)
    return CredentialSources(
        tokens=tokens,
        spares_loopback=config.spares_loopback,
        secrets=secrets,
        access_tokens=TokenEndpoints(http, secrets),
        signer=cache(lambda audience: config.identity.signer(audience=audience)),
    )


def _task_service(
    config: Config,
    agent: HubAgent,
    stored: TaskOperations,
    http: HttpClient,
    tokens: DefaultCredentials | None,
    log: Log,
) -> TurnEngine:
    signer = config.identity.signer(audience="tasks")

    def headers(body: bytes) -> Mapping[str, str]:
        return {PRINCIPAL_HEADER: signer.sign(_SELF, method="POST", path=WAKEUPS_PATH, body=body)} if signer else {}

    def log_failed_wakeup(reason: str) -> None:
        log.line("WARNING", f"A wake-up failed; the task will be found later: {reason}")

    wakeups = open_wakeups(config.wakeups, http=http, headers=headers, failed=log_failed_wakeup, tokens=tokens)
    stored.store.on_undelivered(lambda task_id: wakeups.publish(WEBHOOKS_TOPIC, task_id))
    stored.store.on_ended(partial(record_ended, wakeups))
    return TurnEngine(
        agent,
        stored,
        now=time.time,
        new_id=new_id,
        log=log,
        texts=TASK_TEXTS,
        wakeups=wakeups,
        quota=TaskQuota(config.quotas, stored.store),
    )
