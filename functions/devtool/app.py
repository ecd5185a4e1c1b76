"""The development agent's wiring."""

import time
from collections.abc import Sequence
from contextlib import suppress

from msgspec.structs import replace

from a2a_hub.a2a.card import AgentCard, AgentExtension, AgentSkill
from a2a_hub.a2a.errors import PERMISSION_DENIED, A2AError
from a2a_hub.a2a.extensions.development_tool import URI
from a2a_hub.a2a.server import A2AServer, Limits
from a2a_hub.agents.function import agent_card, serve_agent
from a2a_hub.diagnosis.report import Step, with_doctor
from a2a_hub.gemini import examination as model_examination
from a2a_hub.gemini.client import Gemini, configured
from a2a_hub.http.client import HttpClient
from a2a_hub.http.messages import Handler, Request
from a2a_hub.identity.authentication import Authenticator, Caller
from a2a_hub.queue.wakeups import NoWakeups
from a2a_hub.runtime.background import Background
from a2a_hub.runtime.function import MESSAGE_FACTORY, stdout_log
from a2a_hub.runtime.ids import new_id
from a2a_hub.task_store.factory import open_store
from a2a_hub.task_store.store import HUB, LeaseLost, TaskEnded
from a2a_hub.tasks.task_service import StoredTasks, TaskService
from a2a_hub.telemetry.log import Log, Record
from functions.devtool.agent import DevelopmentAgent
from functions.devtool.config import Config
from functions.devtool.conversation import Conversations
from functions.devtool.examination import examine
from functions.devtool.model_planner import ModelPlanner
from functions.devtool.planner import RulePlanner
from functions.devtool.programs import AllowedPrograms
from functions.devtool.slash_commands import SlashCommands
from functions.devtool.texts import AGENT_NAME, StoredTexts
from functions.devtool.tools import Tools
from functions.devtool.workspace import Workspaces

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
_MAX_CONCURRENT_RUNS = 8
_PURGE_EVERY_SECONDS = 3600.0
_MAX_PURGED = 100


def build(config: Config, *, gemini: Gemini | None = None) -> Handler:
    """Return the handler of the whole function. `gemini` replaces the settings' model."""
    card = _card(config)
    log = stdout_log("devtool", project=config.agent.google_cloud_project, with_text=config.agent.log_text)
    gemini = gemini or configured(config.gemini)
    store = open_store(config.store, clock=time.time, new_token=new_id)
    workspaces = Workspaces(config.workspaces, default=config.default_workspace)
    conversations = Conversations(store, workspaces)
    programs = AllowedPrograms(names=config.commands, path=config.search_path, seconds=config.command_seconds)
    agent = DevelopmentAgent(
        conversations,
        planner=ModelPlanner(gemini) if gemini else RulePlanner(),
        tools=Tools(programs),
        message_factory=MESSAGE_FACTORY,
        log=log,
    )
    # Only this instance has the files.
    settings = replace(config.tasks, runs_at_once=True)
    tasks = TaskService(
        agent,
        StoredTasks(store, agent, message_factory=MESSAGE_FACTORY, settings=settings),
        log=log,
        message_factory=MESSAGE_FACTORY,
        texts=StoredTexts(),
        wakeups=NoWakeups(),
        settings=settings,
    )
    commands = SlashCommands(conversations, tasks.sending, message_factory=MESSAGE_FACTORY)
    server = A2AServer(
        agent,
        card=lambda: card,
        log=log,
        limits=Limits(),
        tasks=tasks,
        development_tool=commands,
        keeps_ui_contract=False,
    )
    handle = serve_agent(
        server,
        card=card,
        log=log,
        identify=_NoWebPages(config.identity.authenticator(HttpClient(), trusts_gate=False)).identify,
        before=_background(config, tasks, log).start,
    )
    return with_doctor(handle, lambda: _examine(config, gemini))


class _NoWebPages:
    """An identification that rejects web pages: an open page could otherwise use its visitor's permissions on this machine."""

    def __init__(self, authenticator: Authenticator) -> None:
        self._authenticator = authenticator

    def identify(self, request: Request, record: Record) -> Caller:
        # Only browsers name an origin, and no client of this agent is one.
        if "origin" in request.headers:
            raise A2AError(PERMISSION_DENIED, "This agent takes no requests from web pages")
        return self._authenticator.identify(request, record)


def _background(config: Config, tasks: TaskService, log: Log) -> Background:
    def purge() -> None:
        while tasks.store.purge(ended_before=time.time() - config.retention_seconds, limit=_MAX_PURGED):
            pass

    background = Background(log)
    sweep = "The sweep for tasks whose process has died"
    background.every(config.sweep_seconds, lambda: _run_abandoned(tasks), name=sweep)
    background.every(_PURGE_EVERY_SECONDS, purge, name="The deletion of old tasks")
    return background


def _run_abandoned(tasks: TaskService) -> None:
    """End the tasks of processes that have died: they are reported as interrupted."""
    for task_id in tasks.store.due([HUB], limit=_MAX_CONCURRENT_RUNS):
        with suppress(LeaseLost, TaskEnded):
            tasks.runner.run_again(task_id, request_id=new_id(), record={})


def _examine(config: Config, gemini: Gemini | None) -> Sequence[Step]:
    without = "none is configured: rules find out what is asked for"
    return (*examine(config, path=config.search_path), *model_examination.examine(gemini, without=without))


def _card(config: Config) -> AgentCard:
    card = agent_card(
        name=AGENT_NAME.en,
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
