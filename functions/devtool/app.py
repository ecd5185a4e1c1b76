"""The development agent's wiring: everything that it is made of comes together here."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace as with_settings

from msgspec.structs import replace

from functions.devtool.agent import DevelopmentAgent
from functions.devtool.command import Programs
from functions.devtool.commands import Commands
from functions.devtool.config import Config
from functions.devtool.conversations import Conversations
from functions.devtool.examination import examine as examine_workspaces
from functions.devtool.pages import check_no_page_asks
from functions.devtool.rules import Rules
from functions.devtool.texts import StoredTexts
from functions.devtool.tools import Tools
from functions.devtool.workspaces import Workspaces
from shared.a2a.card import AgentCard, AgentExtension, AgentSkill
from shared.a2a.card_endpoint import CardEndpoint
from shared.a2a.errors import A2AError
from shared.a2a.extensions.development_tool import URI
from shared.a2a.server import A2AServer, Limits
from shared.agents.function import agent_card
from shared.background import Background
from shared.diagnosis import Step, skipped, with_doctor
from shared.function import MINT, health, not_found, stdout_log
from shared.gemini.client import Gemini
from shared.gemini.examination import examine
from shared.http.client import HttpClient
from shared.http.messages import Handler, Request, Response
from shared.ids import new_id
from shared.log import Record
from shared.refusal import refusal
from shared.task_store.opening import open_store
from shared.task_store.store import HUB, LeaseLost, TaskEnded
from shared.tasks.kept import KeptTasks

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
# The lease of a task whose process has died runs out after about as long.
_SWEEP_SECONDS = 15.0
_MOST_AT_ONCE = 8


def build(config: Config) -> Handler:
    """The whole function: its card, its health, the agent behind the protocol."""
    card = _card(config)
    log = stdout_log("devtool", project=config.agent.google_cloud_project, with_text=config.agent.log_text)
    callers = config.identity.callers(HttpClient, believes_gate=False)
    gemini = _gemini(config)
    store = open_store(config.store, clock=time.time, new_token=new_id)
    workspaces = Workspaces(config.workspaces, default=config.default_workspace)
    conversations = Conversations(store, workspaces)
    programs = Programs(names=config.commands, path=config.search_path, seconds=config.command_seconds)
    agent = DevelopmentAgent(conversations, mind=Rules(), tools=Tools(programs), mint=MINT, log=log)
    tasks = KeptTasks(
        agent,
        store,
        log=log,
        mint=MINT,
        texts=StoredTexts(),
        wake=lambda _role, _task_id: None,
        # Nobody else can run what works on this instance's files.
        settings=with_settings(config.tasks, runs_at_once=True),
    )
    commands = Commands(conversations, tasks.sending, mint=MINT)
    server = A2AServer(
        agent,
        card=lambda: card,
        log=log,
        limits=Limits(),
        tasks=tasks,
        development_tool=lambda: commands,
        keeps_ui_contract=False,
    )
    cards = CardEndpoint(lambda: card, protocol_version_v0_3="0.3.0", max_age_seconds=300, now=time.time)
    background = Background(log)
    background.every(
        _SWEEP_SECONDS, lambda: _run_abandoned(tasks), name="The sweep for tasks whose process has died"
    )

    def handle(request: Request, record: Record) -> Response:
        background.start()
        response = cards.handle(request) or health(request, card.name)
        if response is not None:
            return response
        try:
            check_no_page_asks(request)
            caller = callers.identify(request)
        except A2AError as error:
            record["outcome"] = error.kind.reason
            return refusal(request, error, record)
        if caller.principal is not None:
            record["principal"] = caller.principal.subject
        return server.handle(request, caller, record) or not_found(request)

    return with_doctor(log.requests(handle), lambda: (*examine_workspaces(config), *_examined(gemini)))


def _run_abandoned(tasks: KeptTasks) -> None:
    """What was under way when a process died is brought to its end here: that it was interrupted is said, at least."""
    for task_id in tasks.store.due([HUB], limit=_MOST_AT_ONCE):
        with suppress(LeaseLost, TaskEnded):
            tasks.runner.run_again(task_id, request_id=new_id(), record={})


def _gemini(config: Config) -> Gemini | None:
    if config.gemini is None:
        return None
    gemini = Gemini(config.gemini, http=HttpClient())
    gemini.warm_after_fork()
    return gemini


def _examined(gemini: Gemini | None) -> Sequence[Step]:
    if gemini is None:
        return [skipped("model", "none is configured: rules find out what is asked for")]
    return tuple(examine(gemini))


def _card(config: Config) -> AgentCard:
    card = agent_card(
        name="Development agent",
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
