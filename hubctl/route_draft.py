"""A draft of a route, from an agent's card or the tools of an MCP server."""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from msgspec.structs import replace

from a2a_hub.a2a import protojson
from a2a_hub.a2a.compat.v0_3.card import to_core_card_of_agent
from a2a_hub.a2a.extensions.tool_updates import visible
from a2a_hub.boundaries.kinds import KINDS
from a2a_hub.diagnosis.gcloud import service_of
from a2a_hub.mcp.client import ServerInfo, Tool, offered
from a2a_hub.routing.router import Router, Rule
from a2a_hub.routing.routes import RouteTable
from a2a_hub.text.language import Language, language_of
from a2a_hub.text.normalization import normalise

_BILINGUAL = " / "
_MAX_NAME_CHARACTERS = 60
_MAX_KEYWORDS = 30
_MAX_EXAMPLES = 4
_MAX_TOOLS = 8
_MAX_QUESTIONS = 4
_WORDS = Path(__file__).with_suffix(".toml")
_BETWEEN_WORDS = re.compile(r"[\s_.:/-]+|(?<=[a-z])(?=[A-Z])")


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoveredAgent:
    """An agent as its card or tools describe it. `subjects` are the tags and names of its skills or tools, `lines` those of its
    boundary and protocol in a route; `notes` are for the operator.
    """

    name: str
    description: str
    subjects: Sequence[str]
    examples: Sequence[str] = ()
    lines: Sequence[str] = ()
    notes: list[str] = field(default_factory=list)


def agent_from_card(url: str, body: bytes, *, needs_token: bool) -> DiscoveredAgent:
    """Return the agent of a card, which may lack what callers do not need. Raises A2AError."""
    card, problem = to_core_card_of_agent(protojson.decode(body))
    notes = [f"its card is incomplete: {problem}"] if problem else []
    schemes = card.security_schemes or {}
    requirements = card.security_requirements
    # One requirement is enough, and an empty one lets everybody in.
    needed = [
        each for one in requirements if all(other.schemes for other in requirements) for each in one.schemes.items()
    ]
    served = (
        kind.route_lines(schemes[name], scopes.list)
        for name, scopes in needed
        for kind in KINDS.values()
        if name in schemes
    )
    required = [each.uri for each in card.capabilities.extensions if each.required]
    others = [visible(mode) for mode in card.default_output_modes if not mode.startswith("text")]
    if others:
        notes.append(f"with passes_tasks = true, programs also get its files and data ({', '.join(others)})")
    return DiscoveredAgent(
        name=card.name,
        description=card.description,
        subjects=[
            each for skill in card.skills for text in (*skill.tags, skill.name) for each in text.split(_BILINGUAL)
        ],
        examples=[example for skill in card.skills for example in skill.examples],
        lines=[
            *(next(filter(None, served), None) or _boundary(url, needs_token=needs_token or bool(needed))),
            *([f"extensions = {_toml(required)}"] if required else []),
        ],
        notes=notes,
    )


def agent_from_tools(url: str, server: ServerInfo, tools: Sequence[Tool], *, needs_token: bool) -> DiscoveredAgent:
    """Return the agent that an MCP server is. The only read-only tool whose one argument is a text gets the text, else the only
    tool with such an argument.
    """
    taking = [(tool, argument) for tool in tools if (argument := _text_argument(tool))]
    fitting = [each for each in taking if each[0].is_read_only] or taking
    lines = ['kind = "mcp"', *_boundary(url, needs_token=needs_token)]
    notes = []
    if len(fitting) == 1:
        ((only, argument),) = fitting
        lines += [f"tool = {_toml(only.name)}", f"text_argument = {_toml(argument)}"]
        if not only.is_read_only:
            notes.append(
                f"people confirm each call of {visible(only.name)!r}: read_only_tools omits that if it changes nothing"
            )
    else:
        choices = ", ".join(f"{visible(tool.name)} ({visible(argument)})" for tool, argument in fitting[:_MAX_TOOLS])
        notes.append(
            "set MCP_MODEL of the hub, or the tool and the text_argument that get the text (docs/mcp.md)"
            + (f": {choices}" if choices else "")
        )
        if (count := len(offered(tools))) < len(tools):
            notes.append(f"of the {len(tools)} tools of the server, a model is offered {count} (docs/mcp.md)")
    names = [visible(tool.name) for tool in tools[:_MAX_TOOLS]]
    used = f"Uses these tools: {', '.join(names)}.{_BILINGUAL}次のツールを使います：{'、'.join(names)}。"
    return DiscoveredAgent(
        name=server.title or server.name,
        description=server.description or used,
        subjects=[tool.title or tool.name for tool in tools],
        lines=lines,
        notes=notes,
    )


def draft(
    url: str, found: DiscoveredAgent, table: RouteTable, *, id_: str | None, questions: Sequence[str] = ()
) -> tuple[str, str]:
    """Return the id and the text of a route that takes no text from a route of the table, and few of the `questions` on all
    subjects; what is left out becomes a note.
    """
    id_ = id_ or _free_id(found.name, url, table)
    names = _by_language(found.name)
    name = names.get(Language.EN) or names.get(Language.JA) or id_.capitalize()
    descriptions = _by_language(found.description)
    english = descriptions.get(Language.EN) or f"Questions for “{name}”."
    router = Router(table)
    subjects = list(_keywords(found, router))
    keywords = _of_few_questions(subjects, table, questions, found.notes)
    if subjects and not keywords:
        named = DiscoveredAgent(name=found.name, description="", subjects=(), notes=found.notes)
        keywords = _of_few_questions(list(_keywords(named, router)), table, questions, found.notes)
    used = {route.priority for route in table.routes}
    values = {
        "id": id_,
        "name": name,
        "name_ja": names.get(Language.JA, name),
        "description": english,
        "description_ja": descriptions.get(Language.JA)
        or f"「{name}」が担当します。{descriptions.get(Language.EN, '')}",
        "examples": [visible(each) for each in dict.fromkeys(found.examples)][:_MAX_EXAMPLES],
        "tags": keywords,
        "keywords": keywords,
        "priority": next(number for number in count(1) if number not in used),
        "url": url,
    }
    if len(names) + len(descriptions) < 4:
        found.notes.append("names and descriptions are written in both languages: translate what is not")
    if 'api_key_header = "authorization"' in found.lines:
        found.notes.append('the key is the whole header: write "Bearer " before a token')
    # The id comes from the agent's own name: without this prefix it could name another key of the operator, which the agent gets.
    secret = f"env:AGENT_{id_.upper().replace('-', '_')}_KEY"
    lines = [f"{key} = {_toml(value)}" for key, value in values.items() if value != []]
    return id_, "\n".join(["[[routes]]", *lines, *(line.replace("env:NAME", secret) for line in found.lines), ""])


def _by_language(text: str) -> dict[Language, str]:
    """Return a text, or the two of "English / 日本語", by language."""
    parts = [visible(" ".join(part.split())) for part in text.split(_BILINGUAL)]
    languages = [language_of(part) for part in parts]
    if len(set(languages)) < len(parts):
        parts, languages = [visible(" ".join(text.split()))], [language_of(text)]
    return {language: part for language, part in zip(languages, parts, strict=True) if part}


def _keywords(found: DiscoveredAgent, router: Router) -> Iterator[str]:
    """Yield the subjects that decide by themselves and that no route has; the name if there is none."""
    kept: set[str] = set()
    words_of = tomllib.loads(_WORDS.read_text(encoding="utf-8"))
    generic, of_adk = set(words_of["generic"].split()), set(words_of["of_adk"])
    for subject in (*found.subjects, found.name):
        words = [word for word in _BETWEEN_WORDS.split(visible(subject, longest=_MAX_NAME_CHARACTERS)) if word]
        while words and words[0].lower() in generic:
            del words[0]
        keyword = " ".join(words)
        is_name_among_others = subject == found.name and bool(kept)
        if not 2 <= len(keyword) <= 40 or len(words) > 4 or keyword.lower() in kept | of_adk or is_name_among_others:
            continue
        choice = router.choose(keyword)
        if choice.rule is not Rule.DEFAULT:
            found.notes.append(f"clash: {keyword!r} is left out: it goes to {choice.route.id!r} ({choice.reason})")
        elif len(kept) < _MAX_KEYWORDS:
            kept.add(keyword.lower())
            yield keyword
        else:
            found.notes.append(f"left out, with {_MAX_KEYWORDS} keywords before it: {keyword!r}")


def _of_few_questions(
    keywords: Sequence[str], table: RouteTable, questions: Sequence[str], notes: list[str]
) -> Sequence[str]:
    """Return the keywords without those that several questions have, such as names of tools that are everyday words."""
    if not keywords:
        return keywords
    default = replace(table.default, keywords=(), patterns=(), names=(), named_by=())
    drafted = replace(default, id="", default=False, priority=default.priority + 1, keywords=tuple(keywords))
    router = Router(replace(table, routes=(drafted, default)))
    choices = [(router.choose(question), question) for question in questions]
    taken = [(normalise(choice.words[0]), question) for choice, question in choices if choice.route is drafted]
    counts = Counter(word for word, _ in taken)
    kept = []
    for keyword in keywords:
        word = normalise(keyword)
        if counts[word] > _MAX_QUESTIONS:
            example = next(question for other, question in taken if other == word)
            notes.append(
                f"too general: {keyword!r} is left out: {counts[word]} of the questions have it, as {example!r}"
            )
        else:
            kept.append(keyword)
    return kept


def _boundary(url: str, *, needs_token: bool) -> Sequence[str]:
    if not needs_token:
        return ('boundary = "public"',)
    if service_of(url, name="").name:
        return ('boundary = "iam"',)
    return 'boundary = "api_key"', 'api_key_header = "authorization"', 'api_key = "env:NAME"'


def _text_argument(tool: Tool) -> str | None:
    """Return the only argument that the tool requires, if it is a text."""
    match tool.input_schema:
        case {"required": [str(only)], "properties": dict(properties)}:
            return only if properties.get(only, {}).get("type") == "string" else None
    return None


def _free_id(name: str, url: str, table: RouteTable) -> str:
    sources = (name, (urlsplit(url).hostname or "").split(".")[0], "agent")
    slugs = (re.sub(r"[^a-z0-9]+", "-", text.lower()).lstrip("-0123456789")[:40].rstrip("-") for text in sources)
    slug = next(filter(None, slugs))
    return next(each for each in (slug, *(f"{slug}-{number}" for number in range(2, 1000))) if each not in table.by_id)


def _toml(value: Any) -> str:
    """Return the value as TOML, which is JSON here."""
    return json.dumps(value, ensure_ascii=False)
