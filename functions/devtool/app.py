"""The development agent's wiring."""

import time
from collections.abc import Sequence
from contextlib import suppress
from urllib.parse import urlsplit

from msgspec.structs import replace

from a2a_hub.a2a.card import AgentCard, AgentExtension, AgentSkill
from a2a_hub.a2a.error_response import problem
from a2a_hub.a2a.errors import PERMISSION_DENIED, A2AError
from a2a_hub.a2a.extensions.development_tool import URI
from a2a_hub.a2a.server import A2AServer
from a2a_hub.agents.function import agent_card, serve_agent
from a2a_hub.diagnosis.report import Step, with_doctor
from a2a_hub.http.client import HttpClient
from a2a_hub.http.messages import Handler, Request, Response
from a2a_hub.identity.principal import HUB as HUB_FUNCTION
from a2a_hub.identity.principal import Contract
from a2a_hub.language_models.model import LanguageModel, examine_model
from a2a_hub.language_models.settings import language_model
from a2a_hub.queue.wakeups import NoWakeups
from a2a_hub.runtime.background import Background
from a2a_hub.runtime.function import stdout_log
from a2a_hub.runtime.ids import new_id
from a2a_hub.settings.reader import LOOPBACK_HOSTS
from a2a_hub.task_store.factory import open_store
from a2a_hub.task_store.store import HUB, LeaseLost, TaskEnded
from a2a_hub.tasks.engine import TurnEngine
from a2a_hub.tasks.operations import TaskOperations
from a2a_hub.telemetry.log import Log
from a2a_hub.text.language import Language
from functions.devtool.agent import DevelopmentAgent
from functions.devtool.config import Config, examine
from functions.devtool.conversation import Conversations
from functions.devtool.forms import SlashCommands
from functions.devtool.planner import Planner
from functions.devtool.programs import AllowedPrograms
from functions.devtool.texts import DEVTOOL_TEXTS, TASK_TEXTS
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


def build(config: Config, *, model: LanguageModel | None = None) -> Handler:
    """Return the handler of the whole function. `model` replaces that of the settings."""
    card = _card(config)
    log = stdout_log("devtool", project=config.agent.google_cloud_project, with_text=config.agent.log_text)
    model = model or (language_model(config.model) if config.model else None)
    store = open_store(config.store, now=time.time, new_id=new_id, report=log.line)
    workspaces = Workspaces(config.workspaces, default=config.default_workspace, is_per_person=config.is_per_person)
    conversations = Conversations(store, workspaces)
    programs = AllowedPrograms(names=config.commands, path=config.search_path, seconds=config.command_seconds)
    agent = DevelopmentAgent(
        conversations, planner=Planner(model), programs=programs, user_tier=config.user_tier, log=log
    )
    # Only this instance has the files.
    settings = replace(config.tasks, runs_at_once=True)
    tasks = TurnEngine(
        agent,
        TaskOperations(store, agent, settings=settings),
        now=time.time,
        new_id=new_id,
        log=log,
        texts=TASK_TEXTS,
        wakeups=NoWakeups(),
    )
    commands = SlashCommands(conversations, programs=programs)
    server = A2AServer(
        agent,
        card=lambda: card,
        log=log,
        tasks=tasks,
        development_tool=commands,
        contract=Contract.PROGRAM,
    )
    handle = serve_agent(
        server,
        card=card,
        log=log,
        identify=config.identity.authenticator(HttpClient(), speaker=HUB_FUNCTION).identify,
        before=_background(config, tasks, log).start,
    )
    return _without_web_pages(with_doctor(handle, lambda: _examine(config, model)), config)


def _without_web_pages(handle: Handler, config: Config) -> Handler:
    """Return the handler without web pages: an open page could otherwise use its visitor's permissions on this machine.

    A page whose own name leads to this machine (DNS rebinding) names no origin for its own address, but a host that is not ours.
    Google Cloud passes on requests to the function's own addresses only, and lets in nobody without a token.
    """
    hosts = None if config.is_on_google_cloud else LOOPBACK_HOSTS | {urlsplit(config.agent.public_url).hostname}

    def handled(request: Request) -> Response:
        try:
            host = urlsplit(f"//{request.headers['host']}").hostname if "host" in request.headers else None
        except ValueError:
            host = ""
        # Only browsers name an origin, and no client of this agent is one.
        if "origin" in request.headers or (hosts is not None and host is not None and host not in hosts):
            refusal = A2AError(
                PERMISSION_DENIED, "This agent takes no requests from web pages, and only by its own names"
            )
            return problem(refusal, {"requestId": new_id()})
        return handle(request)

    return handled


def _background(config: Config, tasks: TurnEngine, log: Log) -> Background:
    def purge() -> None:
        while tasks.store.purge(ended_before=time.time() - config.retention_seconds, limit=_MAX_PURGED):
            pass

    background = Background(log)
    sweep = "The sweep for tasks whose process has died"
    background.every(config.sweep_seconds, _Sweep(tasks).run, name=sweep)
    background.every(_PURGE_EVERY_SECONDS, purge, name="The deletion of old tasks")
    return background


class _Sweep:
    """The tasks of processes that have died: they are reported as interrupted.

    A task is one of them if the sweep before saw it too: between an answer and its lease, a task is due for a moment.
    """

    def __init__(self, tasks: TurnEngine) -> None:
        self._tasks = tasks
        self._seen: set[str] = set()

    def run(self) -> None:
        due = self._tasks.store.due([HUB], limit=_MAX_CONCURRENT_RUNS)
        abandoned, self._seen = self._seen.intersection(due), set(due)
        for task_id in abandoned:
            with suppress(LeaseLost, TaskEnded):
                self._tasks.run(task_id, request_id=new_id(), record={})


def _examine(config: Config, model: LanguageModel | None) -> Sequence[Step]:
    without = "none is configured: rules find out what is asked for"
    return (*examine(config), *examine_model(model, without=without))


def _card(config: Config) -> AgentCard:
    card = agent_card(
        name=DEVTOOL_TEXTS.agent_name.render(Language.EN),
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
