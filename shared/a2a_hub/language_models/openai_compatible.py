"""A model behind OpenAI's chat completions: Ollama, vLLM, llama.cpp, LM Studio and others (POST {url}/chat/completions)."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from a2a_hub.a2a.bindings import sse
from a2a_hub.gemini.failure import Cause, Failure, ModelFailed, Tokens
from a2a_hub.gemini.prompt import Ended, FunctionCall, Prompt, Waiting
from a2a_hub.http.client import Answer, Budget, Fault, Http, HttpFailure
from a2a_hub.http.messages import JSON, Cancellation, delay_of
from a2a_hub.language_models.traced import traced
from a2a_hub.quota.quotas import Counters

_MAX_ANSWER_BYTES = 4 << 20
_MAX_EVENT_BYTES = 1 << 20
_CONNECT_SECONDS = 5.0
_DAY_SECONDS = 86_400
# A token has rarely more characters: with less than a third of these tokens, the server has cut the prompt.
_CHARACTERS_PER_TOKEN = 4
_LEAST_SHARE_OF_PROMPT = 3
_STATUS_CAUSES = {400: Cause.REJECTED, 401: Cause.DENIED, 403: Cause.DENIED, 404: Cause.NOT_FOUND, 422: Cause.REJECTED}
_FAULT_CAUSES = {
    Fault.TIMEOUT: Cause.TIMEOUT,
    **dict.fromkeys((Fault.UNANSWERED, Fault.CUT), Cause.CUT),
    Fault.TOO_LARGE: Cause.BROKEN,
    Fault.CANCELLED: Cause.CANCELLED,
}
_REMEDIES = {
    Cause.DENIED: "set ANSWER_MODEL_KEY to a key that the server accepts",
    Cause.NOT_FOUND: "set ANSWER_MODEL to a model that the server has, and ANSWER_MODEL_URL to its address up to /v1",
    Cause.UNREACHABLE: "start the server, or set ANSWER_MODEL_URL to its address",
    Cause.USED_UP: "raise MODEL_CALLS_PER_DAY, the limit of each instance, if it is too small",
    Cause.TIMEOUT: "raise MODEL_TIMEOUT_SECONDS and the route's timeout_seconds, or choose a faster model",
    Cause.CUT_PROMPT: "give the server a larger context (Ollama: OLLAMA_CONTEXT_LENGTH=16384)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAiSettings:
    """A server and its model. `url` ends before /chat/completions; `key` is sent as a bearer token if it is not empty."""

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
        remedy = _REMEDIES.get(failure.cause, "see the log of the server that ANSWER_MODEL_URL names")
        detail, resource = failure.detail, self._settings.model
        return {"step": step, "cause": failure.cause.value, "resource": resource, "detail": detail, "remedy": remedy}

    def stream(
        self, prompt: Prompt, *, cancellation: Cancellation, timeout_seconds: float | None = None
    ) -> Iterator[str | FunctionCall | Waiting | Ended]:
        """See `LanguageModel.stream`. A server that refuses a JSON schema is asked again with the schema in the prompt."""
        settings = self._settings
        limit = settings.calls_per_day
        if limit and self._calls.take("calls", limit, seconds=_DAY_SECONDS):
            raise ModelFailed(Failure(cause=Cause.USED_UP, detail=f"more than {limit} calls a day in this instance"))
        budget = Budget(
            deadline=self._http.clock() + (timeout_seconds or settings.timeout_seconds),
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
            characters = len(prompt.instruction) + len(prompt.text)
            yield from traced(self.name, "openai", _pieces(answer, prompt_characters=characters))
        except HttpFailure as failure:
            raise ModelFailed(http_failure(failure)) from None

    def _ask(self, prompt: Prompt, budget: Budget, cancellation: Cancellation, *, with_schema: bool) -> Answer:
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
        body["messages"] = [{"role": "system", "content": instruction}, {"role": "user", "content": prompt.text}]
        request = post_of(self._settings, "chat/completions", body, accept="text/event-stream")
        return self._http.request("POST", **request, budget=budget, cancellation=cancellation)


class _Delta(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    delta: _Delta = msgspec.field(default_factory=_Delta)
    finish_reason: str | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0


class _Chunk(msgspec.Struct):
    choices: list[_Choice] = []
    usage: _Usage | None = None


def _pieces(answer: Answer, *, prompt_characters: int) -> Iterator[str | Ended]:
    finish, usage, has_content = "", _Usage(), False
    try:
        for data in sse.read(answer.chunks(), limit_bytes=_MAX_EVENT_BYTES):
            if data == b"[DONE]":
                break
            chunk = msgspec.json.decode(data, type=_Chunk)
            usage = chunk.usage or usage
            for choice in chunk.choices[:1]:
                finish = choice.finish_reason or finish
                if choice.delta.content:
                    has_content = True
                    yield choice.delta.content
    except (msgspec.MsgspecError, ValueError):
        raise ModelFailed(Failure(cause=Cause.BROKEN, detail="the server sent no chunks of a completion")) from None
    finally:
        answer.close()
    tokens = Tokens(prompt=usage.prompt_tokens, answer=usage.completion_tokens, total=usage.total_tokens)
    if not finish:
        raise ModelFailed(Failure(cause=Cause.CUT, detail="the stream ended before the answer did", tokens=tokens))
    if not has_content:
        raise ModelFailed(Failure(cause=Cause.EMPTY, detail="the answer is empty", tokens=tokens))
    if 0 < usage.prompt_tokens * _CHARACTERS_PER_TOKEN * _LEAST_SHARE_OF_PROMPT < prompt_characters:
        raise ModelFailed(Failure(cause=Cause.CUT_PROMPT, detail="the server has cut the prompt", tokens=tokens))
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


def status_failure(answer: Answer) -> Failure:
    """Return what an answer other than 200 is of a model."""
    status = answer.status
    cause = Cause.QUOTA if status == 429 else _STATUS_CAUSES.get(status)
    if cause is None:
        cause = Cause.OVERLOADED if status >= 500 else Cause.BROKEN
    retry_after = delay_of(answer.headers.get("retry-after"))
    return Failure(cause=cause, detail=f"HTTP {status}", retry_after_seconds=retry_after)
