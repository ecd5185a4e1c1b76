"""A model behind OpenAI's chat completions: Ollama, vLLM, llama.cpp, LM Studio and others (POST {url}/chat/completions)."""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from a2a_hub.a2a.bindings import sse
from a2a_hub.gemini.failure import Cause, Failure, ModelFailed, Tokens
from a2a_hub.gemini.prompt import Ended, FunctionCall, FunctionResult, ModelTurn, Prompt, UserTurn, Waiting
from a2a_hub.http.client import Budget, ClientResponse, Fault, Http, HttpFailure
from a2a_hub.http.messages import JSON, Cancellation, delay_of
from a2a_hub.language_models.model import traced
from a2a_hub.quota.quotas import Counters

_MAX_ANSWER_BYTES = 4 << 20
_MAX_EVENT_BYTES = 1 << 20
_CONNECT_SECONDS = 5.0
_DAY_SECONDS = 86_400
# A token has rarely more characters: with less than a third of these tokens, the server has cut the prompt.
_CHARACTERS_PER_TOKEN = 4
_MIN_SHARE_OF_PROMPT = 3
_STATUS_CAUSES = {400: Cause.REJECTED, 401: Cause.DENIED, 403: Cause.DENIED, 404: Cause.NOT_FOUND, 422: Cause.REJECTED}
_FAULT_CAUSES = {
    Fault.TIMEOUT: Cause.TIMEOUT,
    **dict.fromkeys((Fault.UNANSWERED, Fault.CUT), Cause.CUT),
    Fault.TOO_LARGE: Cause.BROKEN,
    Fault.CANCELLED: Cause.CANCELLED,
}
_REMEDIES = {
    Cause.DENIED: "set {variable}_KEY to a key that the server accepts",
    Cause.NOT_FOUND: "set {variable} to a model that the server has, and {variable}_URL to its address up to /v1",
    Cause.UNREACHABLE: "start the server, or set {variable}_URL to its address",
    Cause.REJECTED: "see the log of the server that {variable}_URL names: the prompt may be too long, or the model may not call "
    "functions (vLLM: --enable-auto-tool-choice and --tool-call-parser; llama.cpp: --jinja)",
    Cause.USED_UP: "raise MODEL_CALLS_PER_DAY, the limit of each instance, if it is too small",
    Cause.TIMEOUT: "raise MODEL_TIMEOUT_SECONDS and the route's timeout_seconds, or choose a faster model",
    Cause.CUT_PROMPT: "give the server a larger context (Ollama: OLLAMA_CONTEXT_LENGTH=16384)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAiSettings:
    """A server and its model. `url` ends before /chat/completions; `key` is sent as a bearer token if it is not empty.

    `variable` is the setting that names the model, for remedies.
    """

    variable: str
    url: str
    model: str
    key: str
    timeout_seconds: float
    idle_seconds: float
    max_output_tokens: int
    calls_per_day: int


class OpenAiCompatible:
    """A `LanguageModel`."""

    def __init__(self, settings: OpenAiSettings, *, http: Http) -> None:
        self._settings = settings
        self._http = http
        self._calls = Counters()

    @property
    def name(self) -> str:
        """Return the name of the model."""
        return self._settings.model

    def hint(self, step: str, failure: Failure) -> dict[str, str]:
        """See `LanguageModel.hint`."""
        remedy = _REMEDIES.get(failure.cause, "see the log of the server that {variable}_URL names")
        remedy = remedy.format(variable=self._settings.variable)
        detail, resource = failure.detail, self._settings.model
        return {"step": step, "cause": failure.cause.value, "resource": resource, "detail": detail, "remedy": remedy}

    def stream(
        self, prompt: Prompt, *, cancellation: Cancellation, timeout_seconds: float = math.inf
    ) -> Iterator[str | FunctionCall | Waiting | Ended]:
        """See `LanguageModel.stream`. A server that refuses a JSON schema is asked again with the schema in the prompt."""
        settings = self._settings
        limit = settings.calls_per_day
        if limit and self._calls.take("calls", limit, seconds=_DAY_SECONDS):
            raise ModelFailed(Failure(cause=Cause.USED_UP, detail=f"more than {limit} calls a day in this instance"))
        budget = Budget(
            deadline=self._http.clock() + min(timeout_seconds, settings.timeout_seconds, cancellation.seconds_left),
            connect_seconds=_CONNECT_SECONDS,
            idle_seconds=settings.idle_seconds,
            max_bytes=_MAX_ANSWER_BYTES,
        )
        try:
            answer = self._ask(prompt, budget, cancellation, with_schema=bool(prompt.json_schema))
            if answer.status == 400 and prompt.json_schema:
                answer.close()
                answer = self._ask(prompt, budget, cancellation, with_schema=False)
            if answer.status != 200:
                answer.close()
                raise ModelFailed(status_failure(answer))
            characters = sum(len(message["content"]) for message in _messages(prompt, prompt.instruction))
            yield from traced(self.name, "openai", _pieces(answer, prompt_characters=characters))
        except HttpFailure as failure:
            raise ModelFailed(http_failure(failure)) from None

    def _ask(self, prompt: Prompt, budget: Budget, cancellation: Cancellation, *, with_schema: bool) -> ClientResponse:
        instruction = prompt.instruction
        body: dict[str, Any] = {
            "model": self._settings.model,
            "temperature": prompt.temperature,
            "max_tokens": self._settings.max_output_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if with_schema:
            schema = {"name": "answer", "strict": True, "schema": prompt.json_schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif prompt.json_schema:
            instruction += f"\nAnswer with one JSON object of this schema: {json.dumps(prompt.json_schema)}"
        if prompt.functions:
            body["tools"] = [{"type": "function", "function": function} for function in prompt.functions]
        body["messages"] = list(_messages(prompt, instruction))
        request = post_of(self._settings, "chat/completions", body, accept="text/event-stream")
        return self._http.request("POST", **request, budget=budget, cancellation=cancellation)


def _messages(prompt: Prompt, instruction: str) -> Iterator[dict[str, Any]]:
    yield {"role": "system", "content": instruction}
    calls = 0
    for turn in prompt.turns or (UserTurn(prompt.text),):
        match turn:
            case UserTurn(text=text):
                yield {"role": "user", "content": text}
            case ModelTurn(text=text):
                yield {"role": "assistant", "content": text}
            case FunctionCall():
                calls += 1
                function = {"name": turn.name, "arguments": json.dumps(turn.arguments or {}, ensure_ascii=False)}
                call = {"id": _call_id(calls), "type": "function", "function": function}
                yield {"role": "assistant", "content": "", "tool_calls": [call]}
            case FunctionResult(text=text, succeeded=succeeded):
                content = text if succeeded else f"Error: {text}"
                yield {"role": "tool", "tool_call_id": _call_id(calls), "content": content}


def _call_id(number: int) -> str:
    # Mistral's models take ids of nine letters and digits only.
    return f"call{number:05}"


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class _ToolCall(msgspec.Struct):
    """A call of a function, or in a stream the next piece of its arguments."""

    index: int | None = None
    id: str | None = None
    function: _Function = msgspec.field(default_factory=_Function)


class _Said(msgspec.Struct):
    content: str | None = None
    tool_calls: list[_ToolCall] | None = None


class _Choice(msgspec.Struct):
    """A choice of an answer: `delta` of a stream, `message` of a server that does not stream."""

    delta: _Said | None = None
    message: _Said | None = None
    finish_reason: str | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0


class _Chunk(msgspec.Struct):
    choices: list[_Choice] = []
    usage: _Usage | None = None


_CHUNK = msgspec.json.Decoder(_Chunk)


class _FirstCall:
    """The first function that the model calls. What it calls beside it, it calls again when it knows the result."""

    def __init__(self) -> None:
        self._first: _ToolCall | None = None
        self._name = ""
        self._arguments: list[str] = []

    def add(self, piece: _ToolCall) -> None:
        """Add a piece of a call."""
        first = self._first = self._first or piece
        # Some servers number all calls alike.
        if piece.index != first.index or (piece.id and piece.id != first.id):
            return
        arguments = piece.function.arguments or ""
        self._name = self._name or piece.function.name or ""
        self._arguments.append(arguments if isinstance(arguments, str) else json.dumps(arguments))

    def calls(self) -> Iterator[FunctionCall]:
        """Yield the call; nothing if there is none."""
        if not self._name:
            return
        try:
            arguments = msgspec.json.decode("".join(self._arguments) or "{}", type=dict[str, Any])
        except (msgspec.MsgspecError, ValueError, RecursionError):
            arguments = None
        yield FunctionCall(name=self._name, arguments=arguments)


def _pieces(answer: ClientResponse, *, prompt_characters: int) -> Iterator[str | FunctionCall | Ended]:
    finish, usage, has_content, first_call = "", _Usage(), False, _FirstCall()
    try:
        streamed = sse.read(answer.chunks(), limit_bytes=_MAX_EVENT_BYTES)
        for data in (answer.read(),) if answer.media_type == JSON else streamed:
            if data == b"[DONE]":
                break
            chunk = _CHUNK.decode(data)
            usage = chunk.usage or usage
            for choice in chunk.choices[:1]:
                finish = choice.finish_reason or finish
                said = choice.delta or choice.message or _Said()
                for piece in said.tool_calls or ():
                    first_call.add(piece)
                if said.content:
                    has_content = True
                    yield said.content
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise ModelFailed(Failure(cause=Cause.BROKEN, detail="the server sent no chunks of a completion")) from None
    finally:
        answer.close()
    tokens = Tokens(prompt=usage.prompt_tokens, answer=usage.completion_tokens, total=usage.total_tokens)
    if not finish:
        raise ModelFailed(Failure(cause=Cause.CUT, detail="the stream ended before the answer did", tokens=tokens))
    calls = list(first_call.calls())
    if not has_content and not calls:
        raise ModelFailed(Failure(cause=Cause.EMPTY, detail="the answer is empty", tokens=tokens))
    if 0 < usage.prompt_tokens * _CHARACTERS_PER_TOKEN * _MIN_SHARE_OF_PROMPT < prompt_characters:
        raise ModelFailed(Failure(cause=Cause.CUT_PROMPT, detail="the server has cut the prompt", tokens=tokens))
    yield from calls
    yield Ended(finish="MAX_TOKENS" if finish == "length" else "STOP", tokens=tokens, is_cut_short=finish == "length")


def post_of(settings: OpenAiSettings, path: str, body: dict[str, Any], *, accept: str) -> dict[str, Any]:
    """Return the address, headers and body of a request to a path of the server."""
    headers = {"content-type": JSON, "accept": accept}
    if settings.key:
        headers["authorization"] = f"Bearer {settings.key}"
    return {"url": f"{settings.url.rstrip('/')}/{path}", "headers": headers, "body": msgspec.json.encode(body)}


def http_failure(failure: HttpFailure) -> Failure:
    """Return what a failed exchange is of a model."""
    return Failure(cause=_FAULT_CAUSES.get(failure.fault, Cause.UNREACHABLE), detail=failure.detail)


def status_failure(answer: ClientResponse) -> Failure:
    """Return what an answer other than 200 is of a model."""
    status = answer.status
    cause = Cause.QUOTA if status == 429 else _STATUS_CAUSES.get(status)
    if cause is None:
        cause = Cause.OVERLOADED if status >= 500 else Cause.BROKEN
    retry_after = delay_of(answer.headers.get("retry-after"))
    return Failure(cause=cause, detail=f"HTTP {status}", retry_after_seconds=retry_after)
