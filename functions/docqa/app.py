"""Wires the document QA function: the engine over a folder, or over Google Cloud, behind the protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.card import AgentSkill
from a2a_hub.a2a.model import SendMessageRequest, text_of
from a2a_hub.a2a.reply import Data, Piece, Text
from a2a_hub.agents.conversation import in_conversation
from a2a_hub.agents.function import agent_card, agent_function
from a2a_hub.agents.phrasing import Answer, with_phrasing
from a2a_hub.diagnosis.report import Step, with_doctor
from a2a_hub.gemini.examination import examiner
from a2a_hub.http.messages import Handler
from a2a_hub.runtime.function import stdout_log
from a2a_hub.telemetry.log import Log
from a2a_hub.text.normalization import without_quoted_mail
from functions.docqa.cloud.clients import warm_after_fork
from functions.docqa.cloud.config import CloudConfig
from functions.docqa.cloud.engine import CloudDocumentQA
from functions.docqa.config import Config
from functions.docqa.documents.sources import other_kinds
from functions.docqa.engine import DocumentQA
from functions.docqa.selection import Selection, selecting

SKILL = AgentSkill(
    id="document-qa",
    name="Questions on documents",
    description="Answers from the company's documents with quotes that were checked against their source, "
    "or says that they do not tell.",
    tags=("documents", "citations", "社内文書"),
    examples=(
        "What is the deadline for notifying the infrastructure team for a P-1 incident?",
        "P-1インシデントの際、インフラチームへの連絡期限は何分以内ですか",
    ),
)


def build(config: Config) -> Handler:
    """The whole function: its card, its health, the agent behind the protocol."""
    log = stdout_log("docqa", project=config.google_cloud_project, with_text=config.log_text)
    engine = _on_cloud(config.cloud) if config.cloud else _embedded(config, log)
    card = agent_card(
        name="Document QA",
        description="Answers questions on the company's documents with checked citations.",
        version="1.0.0",
        url=config.public_url,
        skills=(SKILL,),
    )

    answer = with_phrasing(config.phrasing, answers_of(engine, selecting(config.selection)))
    function = agent_function(in_conversation(answer, alone_first=False), card=card, log=log)
    examine_models = _model_examiners(config)
    return with_doctor(function, lambda: (*engine.examine(), *(step for each in examine_models for step in each())))


def answers_of(engine: DocumentQA | CloudDocumentQA, selection_for: Callable[[Call], Selection | None]) -> Answer:
    """What is said to a request: the engine's answer, in a text and as data."""

    def answer(request: SendMessageRequest, call: Call) -> Iterator[Piece]:
        selection = selection_for(call)
        found = engine.answer(without_quoted_mail(text_of(request.message)), select=selection)
        if selection:
            found = selection.noted(found)
        call.record["grounded"] = found.grounded
        if found.hints:
            call.record.update(severity="WARNING", hints=msgspec.to_builtins(found.hints))
        yield Text(found.text)
        yield Data(
            {
                "grounded": found.grounded,
                "citations": msgspec.to_builtins(found.citations),
                "candidates": msgspec.to_builtins(found.candidates),
                **{
                    name: msgspec.to_builtins(value)
                    for name in ("sources", "unverified", "hints", "nearest")
                    if (value := getattr(found, name))
                },
                **({"selection": selection.note} if selection and selection.note else {}),
            }
        )

    return answer


def _model_examiners(config: Config) -> list[Callable[[], Sequence[Step]]]:
    """One for each model that is used; where there is none, one that says so."""
    used = {model.model: model for model in (config.phrasing, config.selection) if model}
    return [examiner(model) for model in used.values() or (None,)]


def _embedded(config: Config, log: Log) -> DocumentQA:
    engine = DocumentQA.open(config.corpus_dir, config.index_path)
    for skipped in engine.skipped:
        log.line("WARNING", f"A document was left out: {skipped.path}: {skipped.reason}")
    kinds = other_kinds(config.corpus_dir)
    if kinds:
        log.line("WARNING", f"Files of these kinds are not read: {', '.join(kinds)}")
    return engine


def _on_cloud(config: CloudConfig) -> CloudDocumentQA:
    warm_after_fork()
    return CloudDocumentQA(config)
