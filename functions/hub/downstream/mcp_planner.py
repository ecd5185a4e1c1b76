"""The choice of an MCP server's tools by a language model, one call at a time."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from a2a_hub.a2a.client_errors import ClientError, ClientFault
from a2a_hub.gemini.failure import Cause, ModelFailed
from a2a_hub.gemini.prompt import FunctionCall, FunctionResult, Prompt, Turn, UserTurn, read_reply
from a2a_hub.http.messages import Cancellation
from a2a_hub.language_models.model import LanguageModel
from a2a_hub.mcp.client import Tool, offered
from a2a_hub.routing.routes import Route
from a2a_hub.text.language import Language
from functions.hub.failure import DownstreamFailed, failure_of

_INSTRUCTION = Path(__file__).with_suffix(".md")
_OTHERS = "“{name}” has more functions, which cannot be called here: if the request needs one of them, say so."
# What the names of functions have at some models, and not at their beginning.
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]|^(?=[0-9-])")
_MAX_NAME_CHARACTERS = 64
_MAX_DESCRIPTION_CHARACTERS = 1000
_MAX_RESULT_CHARACTERS = 8000
# What models read of a JSON schema.
_KEYWORD = re.compile(
    r"\$defs|\$ref|additionalProperties|anyOf|description|enum|format|items|maxItems|maximum|minItems|minimum|oneOf|prefixItems"
    r"|properties|required|title|type"
)
_OF_NAMES = frozenset({"$defs", "properties"})


class CalledTool(Struct, frozen=True, kw_only=True):
    """A call of a tool, and its result in words. The model gets its `signature` back.

    `arguments` are None if the model wrote no JSON object.
    """

    id: str
    tool: str
    arguments: dict[str, Any] | None
    signature: str = ""
    result: str = ""
    has_failed: bool = False


class Dialogue(Struct, frozen=True, kw_only=True):
    """A person's request, and the calls that answer it. While it is stored, the last one waits for a confirmation."""

    text: str
    language: Language
    task_id: str
    called: tuple[CalledTool, ...] = ()


# msgspec analyses a type at its first use, and crashes if two threads do that at once.
msgspec.json.Decoder(Dialogue)


class ToolPlanner(Struct, frozen=True):
    """A planner that asks the model which tool is called next."""

    route: Route
    model: LanguageModel

    def next_step(
        self, dialogue: Dialogue, tools: Collection[Tool], *, has_more: bool, seconds: float, cancellation: Cancellation
    ) -> FunctionCall | str:
        """Return the next call, or the answer. `has_more`: the server has other tools, too.

        Raises DownstreamFailed, and ClientError if the caller left.
        """
        route, model = self.route, self.model
        language = dialogue.language.in_english
        functions = offered(tools)
        names = _function_names(tool.name for tool in functions)
        instruction = _INSTRUCTION.read_text(encoding="utf-8") + (
            _OTHERS if has_more or len(functions) < len(tools) else ""
        )
        prompt = Prompt(
            instruction=instruction.format(name=route.name, description=route.description, language=language),
            turns=list(_turns(dialogue, names)),
            functions=[_function(names[tool.name], tool) for tool in functions],
        )
        try:
            pieces = model.stream(prompt, cancellation=cancellation, timeout_seconds=seconds)
            text, called = read_reply(pieces, dialogue.language)
        except ModelFailed as failed:
            cause, detail = failed.failure.cause, failed.failure.detail
            if cause is Cause.CANCELLED:
                raise ClientError(ClientFault.CANCELLED, "the caller left") from None
            hint = model.hint("model", failed.failure)["remedy"]
            failure = failure_of("no_model", route, cause=cause, model=model.name, detail=detail or cause, hint=hint)
            raise DownstreamFailed(failure) from None
        if called is None:
            return text
        chosen = next((tool for tool, name in names.items() if name == called.name), called.name)
        return replace(called, name=chosen)


def _turns(dialogue: Dialogue, names: Mapping[str, str]) -> Iterator[Turn]:
    yield UserTurn(dialogue.text or " ")
    for called in dialogue.called:
        name = names.get(called.tool) or _function_names([called.tool])[called.tool]
        yield FunctionCall(name=name, arguments=called.arguments, signature=called.signature)
        result = called.result[:_MAX_RESULT_CHARACTERS]
        yield FunctionResult(name=name, text=result, succeeded=not called.has_failed)


def _function_names(tools: Iterable[str]) -> dict[str, str]:
    """Return for each tool a name of its own by which every model can call it."""
    names: dict[str, str] = {}
    for tool in tools:
        name = _NOT_IN_NAMES.sub("_", tool or "_")[:_MAX_NAME_CHARACTERS]
        numbered = (f"{name[: _MAX_NAME_CHARACTERS - 4]}_{number}" for number in count(2))
        names[tool] = next(each for each in chain([name], numbered) if each not in names.values())
    return names


def _function(name: str, tool: Tool) -> dict[str, Any]:
    description = (tool.description or tool.title or tool.name)[:_MAX_DESCRIPTION_CHARACTERS]
    # Models of OpenAI refuse an object without properties.
    parameters = {"type": "object", "properties": {}, **_schema(tool.input_schema)}
    return {"name": name, "description": description, "parameters": parameters}


def _schema(schema: Any) -> Any:
    """Return the part of a JSON schema that the model's API knows."""
    match schema:
        case Mapping():
            return {
                key: {name: _schema(inner) for name, inner in value.items()}
                if key in _OF_NAMES and isinstance(value, dict)
                else _schema(value)
                for key, value in schema.items()
                if _KEYWORD.fullmatch(key)
            }
        case list():
            return [_schema(each) for each in schema]
        case _:
            return schema
