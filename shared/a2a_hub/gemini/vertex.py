"""Google's SDK, `google-genai`, over this project's own HTTP: one deadline, bounded silence and size, cancelled with its caller.

The SDK takes half a second to load: this module is loaded with the first question (docs/decisions/general-model.md).
"""

import base64
import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import google.auth
import httpx2
from google import genai
from google.auth.exceptions import GoogleAuthError
from google.genai import types
from google.genai.errors import APIError

from a2a_hub.gemini.failure import Cause, Failure, ModelFailed, Tokens
from a2a_hub.gemini.prompt import Ended, FunctionCall, FunctionResult, ModelTurn, Prompt, Turn, UserTurn
from a2a_hub.gemini.settings import GeminiSettings
from a2a_hub.http.client import Budget, ClientResponse, Fault, HttpClient, HttpFailure
from a2a_hub.http.messages import Cancellation, delay_of

_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_API_VERSION = "v1"
_DIMENSIONS = 768  # which every embedding model can give
_FINISH_CAUSES = {
    **dict.fromkeys(("SAFETY", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR"), Cause.ANSWER_BLOCKED),
    "RECITATION": Cause.RECITATION,
}
_HTTP_CAUSES = {
    **dict.fromkeys((Fault.UNRESOLVED, Fault.UNREACHABLE, Fault.TLS), Cause.UNREACHABLE),
    **dict.fromkeys((Fault.UNANSWERED, Fault.CUT), Cause.CUT),
    Fault.TOO_LARGE: Cause.BROKEN,
    Fault.CANCELLED: Cause.CANCELLED,
}
_STATUS_CAUSES = {
    400: Cause.REJECTED,
    401: Cause.NO_CREDENTIALS,
    404: Cause.NOT_FOUND,
    413: Cause.REJECTED,
    429: Cause.QUOTA,
    499: Cause.CANCELLED,
}
_MAX_RETRY_AFTER_SECONDS = 3600.0


def default_credentials() -> Any:
    """Return Application Default Credentials. Raises GoogleAuthError."""
    return google.auth.default(scopes=[_SCOPE])[0]


class VertexAi:
    """The SDK's client for one model, in one process. Thread-safe."""

    def __init__(self, settings: GeminiSettings, *, http: HttpClient, credentials: Any) -> None:
        self._settings = settings
        self._transport = _Transport(http)
        options: dict[str, Any] = {
            "api_version": _API_VERSION,
            "httpx_client": httpx2.Client(transport=self._transport, trust_env=False),
            "httpx_async_client": httpx2.AsyncClient(transport=_NoTransport(), trust_env=False),
        }
        if settings.endpoint:
            options["base_url"] = settings.endpoint
        self._client = genai.Client(
            vertexai=True,
            project=settings.project,
            location=settings.location,
            credentials=credentials,
            http_options=types.HttpOptions(**options),
        )

    def stream(
        self, contents: Any, config: Any, *, budget: Budget, cancellation: Cancellation
    ) -> Iterator[str | FunctionCall | Ended]:
        """Send one request, and yield its answer, `Ended` last. Raises ModelFailed and exceptions of the SDK and HTTP."""
        exchange = _Exchange(budget, cancellation)
        reader = ChunkReader()
        try:
            chunks = self._client.models.generate_content_stream(
                model=self._settings.model, contents=contents, config=config
            )
            # The SDK sends when the first chunk is read.
            with self._transport.carrying(exchange):
                chunk = next(chunks, None)
            while chunk is not None:
                yield from reader.read(chunk)
                chunk = next(chunks, None)
            yield reader.end()
        finally:
            exchange.close()

    def embed(self, texts: Sequence[str], task: str, *, budget: Budget) -> Sequence[Sequence[float]]:
        """Return the vectors of texts. Raises exceptions of the SDK and HTTP."""
        exchange = _Exchange(budget, Cancellation())
        try:
            with self._transport.carrying(exchange):
                found = self._client.models.embed_content(
                    model=self._settings.model,
                    contents=list(texts),
                    config={"task_type": task, "output_dimensionality": _DIMENSIONS},
                )
            return [each.values or [] for each in found.embeddings or ()]
        finally:
            exchange.close()


def warm_up(config: Mapping[str, Any]) -> None:
    """Run the checks that the SDK makes on first use."""
    types.GenerateContentConfig.model_validate(dict(config))
    types.GenerateContentResponse.model_validate({"candidates": [{"finishReason": "STOP"}]})


class _Exchange:
    """The HTTP exchange of one question."""

    def __init__(self, budget: Budget, cancellation: Cancellation) -> None:
        self.budget = budget
        self.cancellation = cancellation
        self.answer: ClientResponse | None = None

    def close(self) -> None:
        """Drop the answer unless it was read to its end; idempotent."""
        if self.answer is not None:
            self.answer.close()


class _Transport(httpx2.BaseTransport):
    """The SDK's transport, within the limits of the thread's current exchange."""

    def __init__(self, http: HttpClient) -> None:
        self._http = http
        self._current = threading.local()

    @contextlib.contextmanager
    def carrying(self, exchange: _Exchange) -> Iterator[None]:
        """Assign this thread's requests to `exchange` until the end of the context."""
        self._current.exchange = exchange
        try:
            yield
        finally:
            del self._current.exchange

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """See `httpx2.BaseTransport`. Raises HttpFailure."""
        exchange: _Exchange = self._current.exchange
        # The body is read as it comes; nothing here would unpack it.
        headers = {name: value for name, value in request.headers.items() if name != "accept-encoding"}
        exchange.answer = answer = self._http.request(
            request.method,
            str(request.url),
            headers=headers,
            body=request.read(),
            budget=exchange.budget,
            cancellation=exchange.cancellation,
        )
        return httpx2.Response(
            answer.status, headers=list(answer.headers.items()), stream=_Body(answer), request=request
        )


class _NoTransport(httpx2.AsyncBaseTransport):
    """For the SDK's asynchronous client, which is never used: it would read the certificates of every authority."""


class _Body(httpx2.SyncByteStream):
    def __init__(self, answer: ClientResponse) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        return self._answer.chunks()

    def close(self) -> None:
        self._answer.close()


class ChunkReader:
    """A reader of the chunks of one streamed answer (Vertex AI, GenerateContentResponse).

    A blocked question has `promptFeedback` and no candidate; a blocked answer has a `finishReason` other than STOP, after text
    that may have been sent already.
    """

    def __init__(self) -> None:
        self._finish = ""
        self._tokens = Tokens()
        self._has_content = False

    def read(self, chunk: Any) -> Iterator[str | FunctionCall]:
        """Yield the texts and function calls of a chunk, without the model's thoughts. Raises ModelFailed if it was blocked."""
        self._tokens = _tokens(chunk.usage_metadata) or self._tokens
        feedback = chunk.prompt_feedback
        if feedback is not None and feedback.block_reason is not None:
            raise self._failed(Cause.QUESTION_BLOCKED, str(feedback.block_reason.value))
        for candidate in (chunk.candidates or ())[:1]:
            for part in (candidate.content.parts if candidate.content else None) or ():
                if part.text and not part.thought:
                    self._has_content = self._has_content or not part.text.isspace()
                    yield part.text
                if part.function_call is not None:
                    self._has_content = True
                    yield _call(part)
            if candidate.finish_reason is not None:
                self._finish = str(candidate.finish_reason.value)

    def end(self) -> Ended:
        """Return the end of the answer. Raises ModelFailed if it leaves no usable answer."""
        match self._finish:
            case "":
                raise self._failed(Cause.CUT, "")
            case "STOP" | "MAX_TOKENS" if not self._has_content:
                raise self._failed(Cause.EMPTY, self._finish)
            case "STOP" | "MAX_TOKENS":
                is_cut_short = self._finish == "MAX_TOKENS"
                return Ended(finish=self._finish, tokens=self._tokens, is_cut_short=is_cut_short)
            case _:
                raise self._failed(_FINISH_CAUSES.get(self._finish, Cause.BROKEN), self._finish)

    def _failed(self, cause: Cause, finish: str) -> ModelFailed:
        word = finish if finish.replace("_", "").isalpha() else ""
        detail = f"the model ended with {word}" if word else "the stream ended before the answer did"
        return ModelFailed(Failure(cause=cause, detail=detail, finish=word, tokens=self._tokens))


def contents(prompt: Prompt) -> list[dict[str, Any]] | str:
    """Return what is sent of a prompt beside its instruction, in the API's form."""
    return [_content(turn) for turn in prompt.turns] or prompt.text


def _content(turn: Turn) -> dict[str, Any]:
    part: dict[str, Any]
    match turn:
        case UserTurn(text=text) | ModelTurn(text=text):
            part = {"text": text}
        case FunctionCall():
            part = {"function_call": {"name": turn.name, "args": turn.arguments or {}}}
            if turn.signature:
                part["thought_signature"] = base64.b64decode(turn.signature)
        case FunctionResult():
            response = {"output" if turn.succeeded else "error": turn.text}
            part = {"function_response": {"name": turn.name, "response": response}}
    return {"role": "model" if isinstance(turn, ModelTurn | FunctionCall) else "user", "parts": [part]}


def _call(part: Any) -> FunctionCall:
    signature = part.thought_signature
    return FunctionCall(
        name=part.function_call.name or "",
        arguments=dict(part.function_call.args or {}),
        signature=base64.b64encode(signature).decode() if signature else "",
    )


def _tokens(usage: Any) -> Tokens | None:
    if usage is None:
        return None
    return Tokens(
        prompt=usage.prompt_token_count or 0,
        answer=usage.candidates_token_count or 0,
        thoughts=usage.thoughts_token_count or 0,
        total=usage.total_token_count or 0,
    )


def failure_of(error: Exception, *, is_late: bool) -> Failure:
    """Return the failure that an exception means; BROKEN for unknown ones. `is_late`: the deadline is over."""
    match error:
        case ModelFailed():
            return error.failure
        case HttpFailure(fault=Fault.TIMEOUT):
            return Failure(cause=Cause.TIMEOUT if is_late else Cause.STALLED, detail=error.detail)
        case HttpFailure():
            return Failure(cause=_HTTP_CAUSES[error.fault], detail=error.detail)
        case APIError():
            return _api_failure(error)
        case GoogleAuthError():
            return Failure(cause=Cause.NO_CREDENTIALS, detail=type(error).__name__)
        case _:
            return Failure(cause=Cause.BROKEN, detail=type(error).__name__)


def _api_failure(error: object) -> Failure:
    status, reason = getattr(error, "code", None), _reason(getattr(error, "details", None))
    if status == 403:
        cause = Cause.API_DISABLED if reason == "SERVICE_DISABLED" else Cause.DENIED
    elif isinstance(status, int) and status >= 500:
        cause = Cause.OVERLOADED
    else:
        cause = _STATUS_CAUSES.get(status, Cause.BROKEN) if isinstance(status, int) else Cause.BROKEN
    detail = f"HTTP {status}" + (f", {reason}" if reason else "")
    return Failure(cause=cause, detail=detail, retry_after_seconds=_retry_after(error))


def _reason(answer: object) -> str:
    """Return the `reason` of google.rpc.ErrorInfo, a word in capitals; "" if there is none."""
    error = answer.get("error", answer) if isinstance(answer, dict) else {}
    details = error.get("details") if isinstance(error, dict) else None
    for detail in details if isinstance(details, list) else ():
        reason = detail.get("reason") if isinstance(detail, dict) else None
        if isinstance(reason, str) and reason.replace("_", "").isalpha() and reason.isupper():
            return reason
    return ""


def _retry_after(error: object) -> float | None:
    headers = getattr(getattr(error, "response", None), "headers", {})
    delay = delay_of(headers.get("retry-after"))
    return None if delay is None else min(delay, _MAX_RETRY_AFTER_SECONDS)
