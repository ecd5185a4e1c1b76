"""The development agent's wiring: everything that it is made of comes together here."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace as with_settings
from typing import TYPE_CHECKING

from msgspec.structs import replace

from a2a_hub.a2a.card import AgentCard, AgentExtension, AgentSkill
from a2a_hub.a2a.card_endpoint import CardEndpoint
from a2a_hub.a2a.extensions.development_tool import URI
from a2a_hub.a2a.server import A2AServer, Limits
from a2a_hub.agents.function import agent_card
from a2a_hub.diagnosis.report import Step, with_doctor
from a2a_hub.http.dispatch import POST, Dispatcher, Identified
from a2a_hub.http.messages import Handler, Request, Response
from a2a_hub.identity.authentication import Caller
from a2a_hub.queue.wakeups import NoWakeups
from a2a_hub.runtime.background import Background
from a2a_hub.runtime.function import MESSAGE_FACTORY, Identification, respond, status_pages, stdout_log
from a2a_hub.runtime.ids import new_id
from a2a_hub.task_store.factory import open_store
from a2a_hub.task_store.store import HUB, LeaseLost, TaskEnded
from a2a_hub.tasks.task_service import StoredTasks, TaskService
from a2a_hub.telemetry.log import Log, Record
from functions.devtool.agent import DevelopmentAgent
from functions.devtool.commands import Commands
from functions.devtool.config import Config
from functions.devtool.conversations import Conversations
from functions.devtool.pages import check_no_page_asks
from functions.devtool.planner import Mind
from functions.devtool.programs import Programs
from functions.devtool.rules import Rules
from functions.devtool.texts import NAME, StoredTexts
from functions.devtool.tools import Tools
from functions.devtool.workspaces import Workspaces

if TYPE_CHECKING:
    from a2a_hub.gemini.client import Gemini
    from a2a_hub.http.client import HttpClient

SKILL = AgentSkill(
    id="development",
    name="Files and commands of a workspace",
    description="Lists, reads and searches the files of a workspace, changes them and runs commands; every change and every "
    "command is shown first, and done when it was confirmed.",
    tags=("development", "files", "commands", "開発"),
    examples=(
        "List the files in src",
        "Read README.md",
        "Replace 'foo' with 'bar' in notes.txt",
        "Run pytest -q",
        "README.md を読んで",
        "notes.txt の「foo」を「bar」に置き換えて",
    ),
)
_MOST_AT_ONCE = 8
_PURGE_EVERY_SECONDS = 3600.0
_MOST_PURGED = 100


def build(config: Config, *, gemini: Gemini | None = None) -> Handler:
    """The whole function: its card, its health, the agent behind the protocol. `gemini` replaces the settings' model."""
    card = _card(config)
    log = stdout_log("devtool", project=config.agent.google_cloud_project, with_text=config.agent.log_text)
    gemini = gemini or _gemini(config)
    store = open_store(config.store, clock=time.time, new_token=new_id)
    workspaces = Workspaces(config.workspaces, default=config.default_workspace)
    conversations = Conversations(store, workspaces)
    programs = Programs(names=config.commands, path=config.search_path, seconds=config.command_seconds)
    agent = DevelopmentAgent(
        conversations, mind=_mind(gemini), tools=Tools(programs), message_factory=MESSAGE_FACTORY, log=log
    )
    # Nobody else can run what works on this instance's files.
    settings = with_settings(config.tasks, runs_at_once=True)
    tasks = TaskService(
        agent,
        StoredTasks(store, agent, message_factory=MESSAGE_FACTORY, settings=settings),
        log=log,
        message_factory=MESSAGE_FACTORY,
        texts=StoredTexts(),
        wakeups=NoWakeups(),
        settings=settings,
    )
    commands = Commands(conversations, tasks.sending, message_factory=MESSAGE_FACTORY)
    server = A2AServer(
        agent,
        card=lambda: card,
        log=log,
        limits=Limits(),
        tasks=tasks,
        development_tool=commands,
        keeps_ui_contract=False,
    )
    cards = CardEndpoint(lambda: card, protocol_version_v0_3="0.3.0", max_age_seconds=300, now=time.time)
    background = _background(config, tasks, log)
    dispatcher = Dispatcher(
        (
            *status_pages(card.name),
            *cards.endpoints,
            Identified("/", server.handle, POST),
        ),
        identify=_NoPages(Identification(config.identity.authenticator(_http(), trusts_gate=False))).identify,
        fallback=server.handle,
    )

    def handle(request: Request, record: Record) -> Response:
        background.start()
        return respond(dispatcher.handle, request, record)

    return with_doctor(log.requests(handle), lambda: _examined(config, gemini))


class _NoPages:
    """Identifies callers other than web pages."""

    def __init__(self, identification: Identification) -> None:
        self._identification = identification

    def identify(self, request: Request, record: Record) -> Caller:
        check_no_page_asks(request)
        return self._identification.identify(request, record)


def _background(config: Config, tasks: TaskService, log: Log) -> Background:
    def purge() -> None:
        while tasks.store.purge(ended_before=time.time() - config.retention_seconds, limit=_MOST_PURGED):
            pass

    background = Background(log)
    background.every(
        config.sweep_seconds,
        lambda: _run_abandoned(tasks),
        name="The sweep for tasks whose process has died",
    )
    background.every(_PURGE_EVERY_SECONDS, purge, name="The deletion of old tasks")
    return background


def _run_abandoned(tasks: TaskService) -> None:
    """What was under way when a process died is brought to its end here: that it was interrupted is said, at least."""
    for task_id in tasks.store.due([HUB], limit=_MOST_AT_ONCE):
        with suppress(LeaseLost, TaskEnded):
            tasks.runner.run_again(task_id, request_id=new_id(), record={})


def _http() -> HttpClient:
    from a2a_hub.http.client import HttpClient

    return HttpClient()


def _gemini(config: Config) -> Gemini | None:
    if config.gemini is None:
        return None
    from a2a_hub.gemini.client import Gemini

    gemini = Gemini(config.gemini, http=_http())
    gemini.warm_after_fork()
    return gemini


def _mind(gemini: Gemini | None) -> Mind:
    if gemini is None:
        return Rules()
    from functions.devtool.language_model import LanguageModel

    return LanguageModel(gemini)


def _examined(config: Config, gemini: Gemini | None) -> Sequence[Step]:
    from a2a_hub.diagnosis.report import skipped
    from functions.devtool.examination import examine

    steps = tuple(examine(config, path=config.search_path))
    if gemini is None:
        return (*steps, skipped("model", "none is configured: rules find out what is asked for"))
    from a2a_hub.gemini import examination

    return (*steps, *examination.examine(gemini))


def _card(config: Config) -> AgentCard:
    card = agent_card(
        name=NAME,
        description="Works on the files of a workspace and runs commands there, step by step and with confirmations.",
        version="1.0.0",
        url=config.agent.public_url,
        skills=(SKILL,),
    )
    extension = AgentExtension(
        uri=URI,
        description="Thoughts, tool calls with confirmations, and slash commands for development tools.",
        required=False,
    )
    return replace(card, capabilities=replace(card.capabilities, extensions=(extension,)))
