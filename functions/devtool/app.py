"""The development agent's wiring: everything that it is made of comes together here."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace as with_settings

from msgspec.structs import replace

from functions.devtool.config import Config
from functions.devtool.texts import StoredTexts
from shared.a2a.agent import Agent, AnsweringAgent
from shared.a2a.call import Call
from shared.a2a.card import AgentCard, AgentExtension, AgentSkill
from shared.a2a.card_endpoint import CardEndpoint
from shared.a2a.errors import A2AError
from shared.a2a.model import SendMessageRequest
from shared.a2a.reply import Piece, Text
from shared.a2a.server import A2AServer, Limits
from shared.a2a.text import text_of
from shared.agents.function import agent_card
from shared.diagnosis import Step, skipped, with_doctor
from shared.function import MINT, health, not_found, stdout_log
from shared.gemini.client import Gemini
from shared.gemini.examination import examine
from shared.http.client import HttpClient
from shared.http.messages import Handler, Request, Response
from shared.ids import new_id
from shared.language import Language, language_of
from shared.log import Log, Record
from shared.refusal import refusal
from shared.task_store.opening import open_store
from shared.tasks.kept import KeptTasks

URI = "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md"

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
_WHAT_IT_DOES = {
    Language.EN: "I can list, read and search the files of a workspace, change them, and run commands.",
    Language.JA: "ワークスペースのファイルの一覧・閲覧・検索・変更と、コマンドの実行ができます。",
}


def build(config: Config) -> Handler:
    """The whole function: its card, its health, the agent behind the protocol."""
    card = _card(config)
    log = stdout_log("devtool", project=config.agent.google_cloud_project, with_text=config.agent.log_text)
    callers = config.identity.callers(HttpClient, believes_gate=False)
    gemini = _gemini(config)
    agent = AnsweringAgent(_answer, mint=MINT)
    server = A2AServer(
        agent,
        card=lambda: card,
        log=log,
        limits=Limits(),
        tasks=_tasks(config, agent, log),
        keeps_ui_contract=False,
    )
    cards = CardEndpoint(lambda: card, protocol_version_v0_3="0.3.0", max_age_seconds=300, now=time.time)

    def handle(request: Request, record: Record) -> Response:
        response = cards.handle(request) or health(request, card.name)
        if response is not None:
            return response
        try:
            caller = callers.identify(request)
        except A2AError as error:
            record["outcome"] = error.kind.reason
            return refusal(request, error, record)
        if caller.principal is not None:
            record["principal"] = caller.principal.subject
        return server.handle(request, caller, record) or not_found(request)

    return with_doctor(log.requests(handle), lambda: _examined(gemini))


def _tasks(config: Config, agent: Agent, log: Log) -> KeptTasks:
    return KeptTasks(
        agent,
        open_store(config.store, clock=time.time, new_token=new_id),
        log=log,
        mint=MINT,
        texts=StoredTexts(),
        wake=lambda _role, _task_id: None,
        # Nobody else can run what works on this instance's files.
        settings=with_settings(config.tasks, runs_at_once=True),
    )


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


def _answer(request: SendMessageRequest, call: Call) -> Iterator[Piece]:  # noqa: ARG001 - the seam's
    yield Text(_WHAT_IT_DOES[language_of(text_of(request.message))])
