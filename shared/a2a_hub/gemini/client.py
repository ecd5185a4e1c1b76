"""Asks a Gemini model on Vertex AI, and tells its answer as it comes.

Google's SDK, `google-genai`, is imported on the first question: it takes half a second (docs/decisions/general-model.md).
"""

from __future__ import annotations

import contextlib
import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from a2a_hub.gemini.failure import PASSES, Cause, Failure, ModelFailed, failure_of
from a2a_hub.gemini.settings import GeminiSettings
from a2a_hub.gemini.stream_result import Ended, FunctionCall, Reader
from a2a_hub.http.client import Budget, HttpClient
from a2a_hub.http.messages import Cancellation

if TYPE_CHECKING:
    from a2a_hub.gemini.transport import Transport

_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_API_VERSION = "v1"
_MAX_ANSWER_BYTES = 8 << 20
_CONNECT_SECONDS = 5.0
_LONGEST_WAIT_SECONDS = 8.0
# An attempt that has less time than this is not worth a wait.
_LEAST_SECONDS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What a model is asked. `instruction` is the operator's, `text` holds what others wrote.

    `schema`, in the API's own form, is that of the JSON to answer with; None for text. `turns`, in the API's own form, are a
    whole dialogue in the place of `text`; `functions` declares what the model may call in it.
    """

    instruction: str
    text: str
    temperature: float = 0.2
    schema: Mapping[str, Any] | None = None
    turns: Sequence[Mapping[str, Any]] = ()
    functions: Sequence[Mapping[str, Any]] = ()


_NO_PROMPT = Prompt(instruction="", text="")


@dataclass(frozen=True, slots=True)
class Waiting:
    """The model cannot answer at the moment; it is asked again in `seconds`."""

    cause: Cause
    seconds: float


class Gemini:
    """One model. Opens nothing before the first question. Thread-safe, across a fork too.

    `credentials` gives google-auth credentials, by default Application Default Credentials; `first_wait_seconds` is the
    first pause between two attempts, and each further one is twice as long.
    """

    def __init__(
        self,
        settings: GeminiSettings,
        *,
        http: HttpClient,
        credentials: Callable[[], Any] | None = None,
        clock: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = random.random,
        first_wait_seconds: float = 0.5,
    ) -> None:
        self.settings = settings
        self._http = http
        self._find_credentials = credentials or _application_default
        self._clock = clock
        self._jitter = jitter
        self._first_wait_seconds = first_wait_seconds
        self._lock = threading.Lock()
        self._made: tuple[int, Any, Transport] | None = None
        self._credentials: Any = None

    @property
    def account(self) -> str | None:
        """The e-mail address of the service account that asks; None while it is not known, and for a person."""
        email = getattr(self._credentials, "service_account_email", None)
        return email if isinstance(email, str) and "@" in email else None

    def stream(
        self, prompt: Prompt, *, cancellation: Cancellation, timeout_seconds: float | None = None
    ) -> Iterator[str | FunctionCall | Waiting | Ended]:
        """The stretches of the answer as they come, and `Ended` last. A function is called only where some are declared.

        Where nothing of the answer was told yet, a failure that passes is tried again while there is time. Raises ModelFailed.
        """
        deadline = self._clock() + (timeout_seconds or self.settings.timeout_seconds)
        left = threading.Event()
        cancellation.on_cancel(left.set)
        wait_seconds = self._first_wait_seconds
        while True:
            is_told = False
            try:
                for piece in self._once(prompt, deadline, cancellation):
                    is_told = True
                    yield piece
                return
            except ModelFailed as failed:
                failure = failed.failure
                seconds = failure.retry_after_seconds or wait_seconds * (0.5 + self._jitter() / 2)
                in_time = self._clock() + seconds + _LEAST_SECONDS < deadline
                if is_told or failure.cause not in PASSES or not in_time:
                    raise
            yield Waiting(failure.cause, seconds)
            if left.wait(seconds):
                raise ModelFailed(Failure(cause=Cause.CANCELLED, detail="the caller left"))
            wait_seconds = min(wait_seconds * 2, _LONGEST_WAIT_SECONDS)

    def warm_after_fork(self) -> None:
        """From now on every process forked from this one prepares in the background, before the first question."""
        os.register_at_fork(
            after_in_child=lambda: threading.Thread(target=self._warm, name="warm", daemon=True).start()
        )

    def _warm(self) -> None:
        """What the first question would wait for: the SDK, the client, and the checks that the SDK makes on first use."""
        # What fails here fails again with the first question, which tells it.
        with contextlib.suppress(Exception):
            from google.genai import types

            types.GenerateContentConfig.model_validate(self._config(_NO_PROMPT, self._clock() + 1))
            types.GenerateContentResponse.model_validate({"candidates": [{"finishReason": "STOP"}]})
            self._client()

    def _once(
        self, prompt: Prompt, deadline: float, cancellation: Cancellation
    ) -> Iterator[str | FunctionCall | Ended]:
        from a2a_hub.gemini.transport import Sent

        sent = Sent(self._budget(deadline), cancellation)
        reader = Reader()
        try:
            client, transport = self._client()
            chunks = client.models.generate_content_stream(
                model=self.settings.model,
                contents=list(prompt.turns) or prompt.text,
                config=self._config(prompt, deadline),
            )
            # Nothing is sent before the first chunk is asked for.
            with transport.sending(sent):
                chunk = next(chunks, None)
            while chunk is not None:
                yield from reader.said(chunk)
                chunk = next(chunks, None)
            yield reader.ended()
        except Exception as error:
            raise ModelFailed(failure_of(error, is_late=self._clock() >= deadline)) from None
        finally:
            sent.close()

    def _budget(self, deadline: float) -> Budget:
        # `deadline` is on this client's clock, the budget's on that of HTTP.
        return Budget(
            deadline=self._http.clock() + deadline - self._clock(),
            connect_seconds=_CONNECT_SECONDS,
            idle_seconds=self.settings.idle_seconds,
            max_bytes=_MAX_ANSWER_BYTES,
        )

    def _config(self, prompt: Prompt, deadline: float) -> dict[str, Any]:
        # Goes to the service, which need not work on when nobody waits any more.
        remaining_milliseconds = max(1, int((deadline - self._clock()) * 1000))
        return {
            "system_instruction": prompt.instruction,
            "temperature": prompt.temperature,
            "max_output_tokens": self.settings.max_output_tokens,
            "candidate_count": 1,
            "automatic_function_calling": {"disable": True},
            "http_options": {"timeout": remaining_milliseconds},
            **(_json(prompt.schema) if prompt.schema else {}),
            **({"tools": [{"function_declarations": list(prompt.functions)}]} if prompt.functions else {}),
        }

    def _client(self) -> tuple[Any, Transport]:
        with self._lock:
            if self._made is None or self._made[0] != os.getpid():
                import httpx2
                from google import genai

                from a2a_hub.gemini.transport import NoTransport, Transport

                self._credentials = self._find_credentials()
                transport = Transport(self._http)
                options: dict[str, Any] = {
                    "api_version": _API_VERSION,
                    "httpx_client": httpx2.Client(transport=transport, trust_env=False),
                    "httpx_async_client": httpx2.AsyncClient(transport=NoTransport(), trust_env=False),
                }
                if self.settings.endpoint:
                    options["base_url"] = self.settings.endpoint
                client = genai.Client(
                    vertexai=True,
                    project=self.settings.project,
                    location=self.settings.location,
                    credentials=self._credentials,
                    http_options=genai.types.HttpOptions(**options),
                )
                self._made = (os.getpid(), client, transport)
            return self._made[1:]


def _json(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"response_mime_type": "application/json", "response_schema": dict(schema)}


def _application_default() -> Any:
    import google.auth

    return google.auth.default(scopes=[_SCOPE])[0]
