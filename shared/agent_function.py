"""The request path of a function that serves one A2A agent and nothing else: its card, its health, the protocol."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator

from shared.a2a.agent import AnsweringAgent
from shared.a2a.call import Call
from shared.a2a.card import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from shared.a2a.card_endpoint import CardEndpoint
from shared.a2a.errors import METHOD_NOT_ALLOWED, METHOD_NOT_FOUND, A2AError
from shared.a2a.model import Binding, SendMessageRequest
from shared.a2a.reply import Mint, Piece
from shared.a2a.server import A2AServer, Limits
from shared.a2a.text import text_of
from shared.a2a.versions import Version
from shared.http import JSON, Handler, Request, Response
from shared.identity.callers import Caller
from shared.ids import new_id, timestamp
from shared.log import Log, Record

MODES = ("text/plain",)
OUTPUT_MODES = ("text/plain", "application/json")


_STDOUT = 1
ANONYMOUS = Caller(principal=None)
MINT = Mint(new_id=new_id, timestamp=timestamp)


def stdout_log(function: str, *, project: str | None = None, with_text: bool = False) -> Log:
    """A log that writes to standard output, where Cloud Run picks it up."""

    def write(line: bytes) -> None:
        # A disk that is full, a reader that has left: the line is lost, and not the answer that it is about.
        with contextlib.suppress(OSError):
            # One call for one line: lines of several threads do not mix, and nothing stays behind in a buffer.
            os.write(_STDOUT, line)

    return Log(
        write, clock=time.monotonic, new_id=new_id, function=function, project=project, with_text=with_text
    )


def interfaces(url: str) -> tuple[AgentInterface, ...]:
    """What `A2AServer` speaks at one URL: both bindings, both versions."""
    return tuple(
        AgentInterface(url=url, protocol_binding=binding.value, protocol_version=version.value)
        for version in (Version.V1_0, Version.V0_3)
        for binding in Binding
    )


def agent_card(
    *,
    name: str,
    description: str,
    version: str,
    url: str,
    skills: tuple[AgentSkill, ...],
    streaming: bool = True,
) -> AgentCard:
    """The card of an agent behind the hub: no authentication of its own, since IAM stands in front of it or nobody does."""
    return AgentCard(
        name=name,
        description=description,
        version=version,
        supported_interfaces=interfaces(url),
        capabilities=AgentCapabilities(
            streaming=streaming, push_notifications=False, extended_agent_card=False
        ),
        default_input_modes=MODES,
        default_output_modes=OUTPUT_MODES,
        skills=skills,
    )


def agent_function(
    answer: Callable[[SendMessageRequest, Call], Iterator[Piece]], *, card: AgentCard, log: Log
) -> Handler:
    """A handler for the whole function. `answer` is the agent; see `shared.a2a.reply` for what it yields."""

    def noted(request: SendMessageRequest, call: Call) -> Iterator[Piece]:
        call.record["text"] = text_of(request.message)
        return answer(request, call)

    agent = AnsweringAgent(noted if log.with_text else answer, mint=MINT)
    server = A2AServer(agent, card=lambda: card, log=log, limits=Limits())
    cards = CardEndpoint(lambda: card, protocol_version_v0_3="0.3.0", max_age_seconds=300, now=time.time)

    def handle(request: Request, record: Record) -> Response:
        return (
            cards.handle(request)
            or health(request, card.name)
            or server.handle(request, ANONYMOUS, record)
            or not_found(request)
        )

    return log.requests(handle)


def health(request: Request, name: str) -> Response | None:
    """`GET /` says what this is, `GET /health` that it lives; None for anything else."""
    if request.method not in ("GET", "HEAD"):
        return None
    match request.path.rstrip("/"):
        case "":
            text = f"{name}: an A2A agent. It is up. Its card is at /.well-known/agent-card.json\n"
            return Response(headers={"content-type": "text/plain; charset=utf-8"}, body=text.encode())
        case "/health":
            return Response(
                headers={"content-type": JSON, "cache-control": "no-store"}, body=b'{"status":"ok"}'
            )
        case _:
            return None


def not_found(request: Request) -> Response:
    """404 in the form of the HTTP+JSON binding; 405 where only the method is wrong."""
    from shared.a2a.bindings import rest

    if request.path in ("", "/"):
        headers = {"content-type": JSON, "allow": "GET, HEAD, POST"}
        error = A2AError(METHOD_NOT_ALLOWED, "Send A2A requests with POST")
        return Response(status=405, headers=headers, body=rest.write_error(error))
    error = A2AError(METHOD_NOT_FOUND, "There is nothing at this path")
    return Response(status=404, headers={"content-type": JSON}, body=rest.write_error(error))
