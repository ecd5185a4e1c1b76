"""The request path of a function that serves one A2A agent: its card, its health, the protocol."""

import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from a2a_hub.a2a.agent import Answer, AnsweringAgent
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.card import OUTPUT_MODES, AgentCapabilities, AgentCard, AgentExtension, AgentSkill, interfaces
from a2a_hub.a2a.card_endpoint import CardEndpoint
from a2a_hub.a2a.declining import declines
from a2a_hub.a2a.model import SendMessageRequest, file_text, files_of, text_of
from a2a_hub.a2a.reply import Data, Piece, Text
from a2a_hub.a2a.server import A2AServer
from a2a_hub.http.dispatch import POST, Dispatcher, Identified
from a2a_hub.http.messages import Handler
from a2a_hub.identity.authentication import Identify
from a2a_hub.runtime.function import anonymous, serve, status_pages
from a2a_hub.telemetry import tracing
from a2a_hub.telemetry.log import Log, Record
from a2a_hub.telemetry.outcome import Outcome
from a2a_hub.telemetry.redaction import redacted
from a2a_hub.text.catalog import Catalog
from a2a_hub.text.language import answer_language

__all__ = ["agent_card", "agent_function"]

AGENT_TEXTS = Catalog(Path(__file__).with_suffix(".toml"))
MAX_TEXT_CHARACTERS = 300_000
"""Some hundred pages; longer texts are files. What costs time grows with a text, and one caller must not hold the others up."""


def agent_card(
    *,
    name: str,
    description: str,
    version: str,
    url: str,
    skills: tuple[AgentSkill, ...],
    extensions: tuple[AgentExtension, ...] = (),
) -> AgentCard:
    """Return the card of an agent behind the hub. It declares no authentication: IAM stands in front of it, or nothing."""
    return AgentCard(
        name=name,
        description=description,
        version=version,
        supported_interfaces=interfaces(url),
        capabilities=AgentCapabilities(
            streaming=True, push_notifications=False, extended_agent_card=False, extensions=extensions
        ),
        default_input_modes=("text/plain",),
        default_output_modes=OUTPUT_MODES,
        skills=skills,
    )


def agent_function(
    answer: Answer,
    *,
    card: AgentCard,
    log: Log,
    identify: Identify = anonymous,
    before: Callable[[], object] = lambda: None,
    seconds: float = math.inf,
) -> Handler:
    """Return a handler for the whole function. `answer` is the agent; see `a2a_hub.a2a.reply` for what it yields.

    The agent gets no longer text than `MAX_TEXT_CHARACTERS`, and `seconds` until its deadline.
    """
    answer = with_text_limit(answer)

    def noted(request: SendMessageRequest, call: Call) -> Iterator[Piece]:
        call.cancellation.deadline = time.monotonic() + seconds
        if log.with_text:
            call.record["text"] = redacted(text_of(request.message))
        for piece in tracing.inside(call.traceparent, answer(request, call)):
            if isinstance(piece, Data) and declines(piece.value):
                call.record["outcome"] = Outcome.DECLINED
            yield piece
        if files := ", ".join(map(file_text, files_of(request.message))):
            language = answer_language(text_of(request.message))
            yield Text("\n\n" + AGENT_TEXTS.files_unread[language].format(files=files))

    agent = AnsweringAgent(noted)
    server = A2AServer(agent, card=lambda: card, log=log)
    return serve_agent(server, card=card, log=log, identify=identify, before=before)


def serve_agent(
    server: A2AServer,
    *,
    card: AgentCard,
    log: Log,
    identify: Identify = anonymous,
    before: Callable[[], object] = lambda: None,
) -> Handler:
    """Return a handler for a function with this server, its card and its status pages. `before` is called with each request."""
    cards = CardEndpoint(lambda: card, protocol_version_v0_3="0.3.0", max_age_seconds=300, now=time.time)
    dispatcher = Dispatcher(
        (*status_pages(card.name), *cards.endpoints, Identified("/", server.handle, POST)),
        identify=identify,
        fallback=server.handle,
    )
    return serve(dispatcher.handle, log=log, before=before)


def too_long_text(text: str, record: Record) -> str | None:
    """Return the answer to a text that is too long, noted in `record`; None for any other text."""
    if len(text) <= MAX_TEXT_CHARACTERS:
        return None
    record.update(outcome=Outcome.REFUSED, fault="text_too_long", textCharacters=len(text))
    return AGENT_TEXTS.too_long[answer_language(text)].format(length=len(text), most=MAX_TEXT_CHARACTERS)


def with_text_limit(answer: Answer) -> Answer:
    """Return `answer` for texts of at most `MAX_TEXT_CHARACTERS`; longer ones are answered with their length and the limit."""

    def answer_within_limit(request: SendMessageRequest, call: Call) -> Iterator[Piece]:
        text = text_of(request.message)
        refusal = too_long_text(text, call.record)
        if refusal is None:
            yield from answer(request, call)
            return
        yield Text(refusal)
        yield Data({"answered": False, "textCharacters": len(text), "maxTextCharacters": MAX_TEXT_CHARACTERS})

    return answer_within_limit
