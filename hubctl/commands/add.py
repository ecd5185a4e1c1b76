"""`hubctl add`: drafts the route of an agent, checks it against the route table, and tries it."""

import argparse
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TextIO
from urllib.parse import urlsplit

from a2a_hub.a2a.client import A2AClient
from a2a_hub.a2a.client_errors import ClientError, ClientFault
from a2a_hub.a2a.discovery import endpoint_of, read_card
from a2a_hub.a2a.errors import A2AError
from a2a_hub.a2a.model import Message, Part, Role, SendMessageRequest, Task, text_of
from a2a_hub.a2a.reply import as_message
from a2a_hub.boundaries.boundary import Credential, CredentialRequest
from a2a_hub.boundaries.kinds import Iam
from a2a_hub.boundaries.secret_store import SecretStore
from a2a_hub.boundaries.sources import CredentialSources, NoCredential
from a2a_hub.boundaries.token_endpoint import TokenEndpoints
from a2a_hub.http.client import Budget, HttpClient, HttpFailure, fetch
from a2a_hub.http.messages import JSON
from a2a_hub.identity.default_credentials import DefaultCredentials
from a2a_hub.mcp.client import MAX_TOOLS, McpClient
from a2a_hub.routing.router import Router
from a2a_hub.routing.routes import Route, RouteTableError
from a2a_hub.runtime.ids import new_id
from hubctl.connection import http_address
from hubctl.console import write
from hubctl.main import CommandError
from hubctl.project_files import project_file, read_table, read_text, table_of
from hubctl.route_draft import DiscoveredAgent, agent_from_card, agent_from_tools, draft

_CARDS = ("/.well-known/agent-card.json", "/.well-known/agent.json")
_SECONDS = 30.0
_MAX_BYTES = 4 << 20
_REFUSED = frozenset({ClientFault.UNAUTHENTICATED, ClientFault.FORBIDDEN})
# Answers to the request for a task that does not exist, of an agent that has accepted the credential.
_ACCEPTED = frozenset({ClientFault.REFUSED, ClientFault.NOT_FOUND, ClientFault.WRONG_VERSION})


def run(arguments: argparse.Namespace, *, environment: Mapping[str, str], out: TextIO) -> int:
    """Write the route, with notes as comments. Return 0 if the table with it is valid and the agent accepts requests, else 1."""
    address = http_address(arguments.url, name="the agent's address")
    url = address.rstrip("/")
    for path in _CARDS:
        url = url.removesuffix(path)
    token = {"authorization": f"Bearer {arguments.token}"} if arguments.token else {}
    read = read_table(arguments.routes, environment=environment)
    http = HttpClient()
    is_card = urlsplit(url).path.endswith(".json")
    card = _card(url, ("",) if is_card else _CARDS, http, token)
    try:
        if card is not None:
            lines: tuple[str, ...] = ()
            if is_card:
                # The hub looks for no card at such an address.
                endpoint = endpoint_of(read_card(card), url)
                url = endpoint.url
                lines = f'protocol_version = "{endpoint.version}"', f'binding = "{endpoint.binding}"'
            found = agent_from_card(url, card, needs_token=bool(token))
            found = replace(found, lines=[*found.lines, *lines])
        else:
            url, found = _server(address, http, token)
    except A2AError as error:
        raise CommandError(f"the agent card of {url} cannot be read: {error.message}") from None
    except ClientError as error:
        fix = "" if token or error.fault not in _REFUSED else ": if it is private, give a --token that it accepts"
        raise CommandError(f"{url} has no agent card, and no tools of MCP ({error.detail}){fix}") from None
    id_, text = draft(url, found, read.table, id_=arguments.id, questions=_questions(read.table.by_id))
    is_valid = is_well = True
    try:
        table, _ = table_of(f"{read_text(read.file)}\n{text}", str(read.file), environment)
    except RouteTableError as error:
        is_valid = is_well = False
        found.notes.extend(problem.message for problem in error.problems)
    else:
        router, route = Router(table), table.by_id[id_]
        for choice, example in ((router.choose(example), example) for example in route.examples):
            if choice.route is not route:
                found.notes.append(f"the example {example!r} goes to {choice.route.id!r} ({choice.reason})")
        seen, is_well = tried(route, card, arguments.ask, token, environment, http)
        found.notes.extend(note.replace("HUB_SERVICE_ACCOUNT", arguments.hub_account) for note in seen)
    text = "".join(f"# {' '.join(note.split())}\n" for note in found.notes) + text
    value = {"ok": is_well, "id": id_, "notes": found.notes, "route": text}
    write(value, text.splitlines(), as_json=arguments.json, out=out)
    if arguments.write and is_valid:
        with read.file.open("a", encoding="utf-8") as file:
            file.write(f"\n{text}")
    return 0 if is_well else 1


def _questions(known: Collection[str]) -> Sequence[str]:
    """Return the project's labelled questions of the `known` routes; none where there is no such file."""
    try:
        text = read_text(project_file("evaluation/routing.tsv", option="FILE"))
    except CommandError:
        return ()
    lines = (line.split("\t") for line in text.splitlines())
    return [question for question, *label in lines if label and label[0] in known]


def _card(url: str, paths: Sequence[str], http: HttpClient, token: Mapping[str, str]) -> bytes | None:
    """Return the card that the agent publishes at one of the paths, if there is one. Raises CommandError."""
    for path in paths:
        try:
            headers = {"accept": JSON, **token}
            answer, body = fetch(http, "GET", url + path, headers=headers, seconds=_SECONDS, max_bytes=_MAX_BYTES)
        except HttpFailure as failure:
            raise CommandError(f"{url} cannot be reached: {failure.detail}") from None
        if answer.status == 200 and body.lstrip().startswith(b"{"):
            return body
    return None


def _server(address: str, http: HttpClient, token: Mapping[str, str]) -> tuple[str, DiscoveredAgent]:
    """Return the address and the agent of an MCP server, which most have at /mcp. Raises ClientError."""
    # Its last slash may count: redirects are not followed.
    try:
        with closing(_mcp(address, http, token)) as client:
            tools = client.tools(limit=MAX_TOOLS)
            return address, agent_from_tools(address, client.server(), tools, needs_token=bool(token))
    except ClientError as error:
        if urlsplit(address).path.strip("/") or error.fault in _REFUSED:
            raise
    return _server(f"{address.rstrip('/')}/mcp", http, token)


def tried(
    route: Route,
    card: bytes | None,
    question: str | None,
    token: Mapping[str, str],
    environment: Mapping[str, str],
    http: HttpClient,
) -> tuple[list[str], bool]:
    """Try the agent with the token, else the route's credential; return what was seen and what is missing, and False if it
    failed.
    """
    tokens = DefaultCredentials()
    secrets = SecretStore(environment, http=http, tokens=tokens)
    sources = CredentialSources(tokens=tokens, secrets=secrets, access_tokens=TokenEndpoints(http, secrets))
    grant = route.boundary.remedy(ClientFault.FORBIDDEN, route, Credential())
    missing = [f"if the agent refuses the hub: {grant.command}"] if grant and isinstance(route.boundary, Iam) else []
    try:
        request = CredentialRequest(agent=route, sources=sources)
        credential = Credential(headers=token) if token else route.boundary.credential(request)
        seen = _answer(route.url, card, question, credential, http)
    except NoCredential as without:
        return [f"not tried: {without.cause}; {without.remedy}", *missing], False
    except ClientError as error:
        remedy = route.boundary.remedy(error.fault, route, credential) if error.fault in _REFUSED else None
        return [f"tried: {error.detail}" + (f"; {remedy}" if remedy else "")], False
    # The token is the operator's, and says nothing about the hub.
    return [f"tried: {seen}", *(missing if token else ())], True


def _answer(url: str, card: bytes | None, question: str | None, credential: Credential, http: HttpClient) -> str:
    """Return the answer, or that the credential is accepted. Raises ClientError."""
    if card is None:
        with closing(_mcp(url, http, credential.headers)) as mcp:
            return f"{len(mcp.tools(limit=MAX_TOOLS))} tools over MCP {mcp.version}"
    endpoint = endpoint_of(read_card(card), url)
    client = A2AClient(http=http, endpoint=endpoint, headers=credential.headers, budget=_budget(http))
    spoken = f"A2A {endpoint.version} over {endpoint.binding}"
    if question is None:
        try:
            client.get_task("hubctl-add")
        except ClientError as error:
            if error.fault not in _ACCEPTED:
                raise
        return f"the agent accepts requests, {spoken}"
    message = Message(message_id=new_id(), role=Role.USER, parts=(Part(text=question),))
    *_, event = client.send(SendMessageRequest(message=message), streaming=False)
    answer = as_message(event, before=None) if isinstance(event, Task) else event
    return f"{spoken}: {text_of(answer)[:200] if isinstance(answer, Message) else ''}"


def _mcp(url: str, http: HttpClient, headers: Mapping[str, str]) -> McpClient:
    return McpClient(http, url, budget=_budget(http), headers=headers)


def _budget(http: HttpClient) -> Budget:
    return Budget.within(_SECONDS, now=http.clock(), max_bytes=_MAX_BYTES)
