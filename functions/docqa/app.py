"""Wires the document QA function: the engine over a folder, or over Google Cloud, behind the protocol."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from a2a_hub.a2a.agent import Answer
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.card import AgentSkill
from a2a_hub.a2a.extensions import memory
from a2a_hub.a2a.model import SendMessageRequest, text_of
from a2a_hub.a2a.reply import Piece
from a2a_hub.agents.conversation import in_conversation
from a2a_hub.agents.function import agent_card, agent_function
from a2a_hub.diagnosis.report import with_doctor
from a2a_hub.grounding.composer import Composer
from a2a_hub.grounding.examination import examine as examine_model
from a2a_hub.grounding.settings import configured_composer
from a2a_hub.http.messages import Handler
from a2a_hub.identity.authentication import Authenticator
from a2a_hub.identity.principal import HUB
from a2a_hub.identity.public_keys import PublicKey
from a2a_hub.language_models.settings import embedding_model
from a2a_hub.runtime.background import Background
from a2a_hub.runtime.function import stdout_log
from a2a_hub.telemetry.log import Log
from a2a_hub.text.follow_up import subject_of
from a2a_hub.text.language import answer_language
from a2a_hub.text.normalization import without_quoted_mail
from functions.docqa.cloud.clients import warm_after_fork
from functions.docqa.cloud.config import CloudConfig
from functions.docqa.cloud.engine import CloudDocumentQA
from functions.docqa.composed import composed_answer
from functions.docqa.config import Config
from functions.docqa.document_text import with_documents
from functions.docqa.engine import DocumentQA
from functions.docqa.query_expansion import QueryExpansion
from functions.docqa.retrieval.access import asker_of
from functions.docqa.search_results import MAX_QUESTION_CHARACTERS, SearchResults

_EMBED_EVERY_SECONDS = 10.0
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
    """Return the whole function: its card, its health, the agent behind the protocol."""
    log = stdout_log("docqa", project=config.google_cloud_project, with_text=config.log_text)
    background = Background(log)
    engine = _on_cloud(config.cloud) if config.cloud else _embedded(config, log, background)
    judge = engine.entailment if isinstance(engine, CloudDocumentQA) else None
    examine = engine.examine
    if isinstance(engine, DocumentQA):
        examine = partial(engine.examine, knows_askers=bool(config.hub_keys))
    card = agent_card(
        name="Document QA",
        description="Answers questions on the company's documents with checked citations.",
        version="1.0.0",
        url=config.public_url,
        skills=(SKILL,),
        extensions=(memory.EXTENSION,),
    )

    composer = configured_composer(config.answer_model, entailment=judge)
    model = composer.model if composer else None
    answers = answers_of(engine, composer, QueryExpansion(model) if model else None)
    answer = in_conversation(answers, alone_first=False, model=model)
    answer = with_documents(answer, engine, corpus_link=config.corpus_link)
    identify = _authenticator(config.hub_keys).identify
    function = agent_function(
        answer, card=card, log=log, identify=identify, before=background.start, seconds=config.answer_seconds
    )
    return with_doctor(function, lambda: (*examine(), *examine_model(composer)))


def _authenticator(hub_keys: Sequence[PublicKey]) -> Authenticator:
    """Return the authentication of askers by the hub's signed header. Without one they are anonymous; a wrong one is refused,
    since an asker treated as anonymous would never learn why documents are missing.
    """
    verifier = None
    if hub_keys:
        # It needs `cryptography`: without keys, docqa starts sooner.
        from a2a_hub.identity.signed_principal import PrincipalVerifier

        verifier = PrincipalVerifier({HUB: hub_keys}, now=time.time, audience="docqa", speaker=HUB)
    return Authenticator((), header_verifier=verifier, anonymous=True)


def answers_of(
    engine: DocumentQA | CloudDocumentQA,
    composer: Composer | None = None,
    query_expansion: QueryExpansion | None = None,
) -> Answer:
    """Return the function that answers a request, as text and as data."""

    def answer(request: SendMessageRequest, call: Call) -> Iterator[Piece]:
        started = time.monotonic()
        question, asker = without_quoted_mail(text_of(request.message)), asker_of(call)
        waits, language = call.cancellation, answer_language(question)
        results = engine.find(subject_of(question), asker=asker, language=language, seconds=waits.seconds_left)
        if composer:
            # A model can give an answer another form.
            results = replace(results, question=question[:MAX_QUESTION_CHARACTERS])

        def again() -> SearchResults | None:
            # A second search and answer take as long as the first.
            if query_expansion is None or time.monotonic() - started > waits.seconds_left:
                return None
            words = query_expansion.words_for(results.question, cancellation=waits)
            found = results
            if words:
                asked, left = f"{results.question} {words}", waits.seconds_left
                found = engine.find(asked, asker=asker, language=results.language, seconds=left)
            known = {passage.id for passage in results.passages}
            is_new = any(passage.id not in known for passage in found.passages)
            return replace(found, question=results.question) if is_new else None

        yield from composed_answer(results, composer, call, again=again)

    return answer


def _embedded(config: Config, log: Log, background: Background) -> DocumentQA:
    embedding = embedding_model(config.embedding_model) if config.embedding_model else None
    engine = DocumentQA(config.corpus_dir, config.index_path, corpus_link=config.corpus_link, embedding=embedding)
    if embedding:
        background.every(_EMBED_EVERY_SECONDS, engine.embed, name="The embedding of documents")
    for skipped in engine.skipped:
        log.line("WARNING", f"A document was left out: {skipped.path}: {skipped.reason}")
    return engine


def _on_cloud(config: CloudConfig) -> CloudDocumentQA:
    warm_after_fork()
    return CloudDocumentQA(config)
