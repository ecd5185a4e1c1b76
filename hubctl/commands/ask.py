"""`hubctl ask`: one question to a running hub; the answer is written as it arrives."""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TextIO

from a2a_hub.a2a import protojson
from a2a_hub.a2a.client import A2AClient, Endpoint
from a2a_hub.a2a.client_errors import ClientError, ClientFault
from a2a_hub.a2a.model import (
    Binding,
    Event,
    Message,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
    Version,
    wrapped,
)
from a2a_hub.http.client import Budget, HttpClient
from a2a_hub.routing.hub_card import ROUTE_EXTENSION
from a2a_hub.runtime.ids import new_id
from hubctl.connection import hub_address, hub_token
from hubctl.main import CommandError

_SECONDS, _MAX_BYTES = 600.0, 16 << 20
_REFUSED = frozenset({ClientFault.UNAUTHENTICATED, ClientFault.FORBIDDEN})
_FAILED = frozenset({TaskState.FAILED, TaskState.REJECTED, TaskState.CANCELED})


def run(arguments: argparse.Namespace, *, environment: Mapping[str, str], out: TextIO) -> int:
    """Return 0 after an answer, 1 if the hub says that it failed. Raises CommandError."""
    url = hub_address(arguments.url, environment, variables=("HUB_URL",))
    events = ask(url, arguments.question, token=hub_token(arguments.token, environment), context=arguments.context)
    context, metadata, failed = arguments.context, dict[str, Any](), False
    try:
        for event in events:
            context, metadata = event.context_id or context, event.metadata or metadata
            status = getattr(event, "status", None)
            failed = isinstance(status, TaskStatus) and status.state in _FAILED
            text = protojson.encode(wrapped(event)).decode() + "\n" if arguments.json else _text(event)
            print(text, end="", file=out, flush=True)
            if not arguments.json and (progress := _progress(event)):
                print(progress, file=sys.stderr, flush=True)
    except ClientError as error:
        fix = "is it running (make run), and is --url right?"
        if error.fault in _REFUSED:
            fix = "give a token with --token or HUB_DEV_TOKEN"
        elif error.fault is ClientFault.RATE_LIMITED:
            seconds = error.retry_after_seconds
            fix = f"a quota is used up (docs/quotas.md): try again {f'in {seconds:.0f} s' if seconds else 'later'}"
        raise CommandError(f"no answer from {url}: {error.detail}; {fix}") from None
    if not arguments.json:
        print("\n", file=out)
        route = metadata.get(ROUTE_EXTENSION, {})
        if agent := route.get("agent"):  # without one, a worker or the hub itself has answered
            print(f"{agent}: {route.get('reason', '')}", file=out)
        print(f"to go on: hubctl ask --context {context} …", file=out)
    return 1 if failed else 0


def ask(url: str, question: str, *, token: str | None, context: str | None) -> Iterator[Event]:
    """Yield the events of the hub's answer, as a program gets them. Raises ClientError."""
    http = HttpClient()
    endpoint = Endpoint(url=url, version=Version.V1_0, binding=Binding.JSONRPC, streaming=True)
    headers = {"a2a-extensions": ROUTE_EXTENSION} | ({"authorization": f"Bearer {token}"} if token else {})
    budget = Budget.within(_SECONDS, now=http.clock(), max_bytes=_MAX_BYTES)
    message = Message(message_id=new_id(), role=Role.USER, parts=(Part(text=question),), context_id=context)
    configuration = SendMessageConfiguration(accepted_output_modes=("text/plain",))
    request = SendMessageRequest(message=message, configuration=configuration)
    client = A2AClient(http=http, endpoint=endpoint, headers=headers, budget=budget)
    return client.send(request, streaming=True)


def _text(event: Event) -> str:
    """Return the text that the event adds: the answer with its citations, or the question or failure that ends it."""
    parts: Sequence[Part] = ()
    match event:
        case Message():
            parts = event.parts
        case TaskArtifactUpdateEvent():
            parts = event.artifact.parts
        case TaskStatusUpdateEvent(status=TaskStatus(state=state, message=Message() as last)) if state.settled:
            parts = last.parts
    return "".join(part.text or "" for part in parts)


def _progress(event: Event) -> str:
    """Return what a task that goes on says of itself, such as that the hub tries an agent again."""
    match event:
        case TaskStatusUpdateEvent(status=TaskStatus(state=state, message=Message() as said)) if not state.settled:
            return "".join(part.text or "" for part in said.parts)
    return ""
