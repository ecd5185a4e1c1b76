"""A Gemini model on Vertex AI, whose answers are streamed."""

import contextlib
import math
import os
import random
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from a2a_hub.gemini.failure import TRANSIENT, Cause, Failure, ModelFailed, hint
from a2a_hub.gemini.prompt import Ended, FunctionCall, Prompt, Waiting
from a2a_hub.gemini.settings import GeminiSettings
from a2a_hub.http.client import Budget, HttpClient
from a2a_hub.http.messages import Cancellation
from a2a_hub.language_models.model import traced
from a2a_hub.quota.quotas import Counters

_MAX_ANSWER_BYTES = 8 << 20
_CONNECT_SECONDS = 5.0
_MAX_WAIT_SECONDS = 8.0
# A shorter attempt is not worth the wait.
_MIN_SECONDS = 0.5
_DAY_SECONDS = 86_400


class Gemini:
    """One model. Opens nothing before the first question. Thread-safe, across a fork too.

    `credentials` returns google-auth credentials, by default Application Default Credentials. The pause between attempts starts
    at `first_wait_seconds` and doubles each time.
    """

    def __init__(
        self,
        settings: GeminiSettings,
        *,
        http: HttpClient,
        credentials: Callable[[], Any] | None = None,
        first_wait_seconds: float = 0.5,
    ) -> None:
        self.settings = settings
        self._http = http
        self._find_credentials = credentials
        self._first_wait_seconds = first_wait_seconds
        self._calls = Counters()
        self._lock = threading.Lock()
        self._made: tuple[int, Any] | None = None
        self._credentials: Any = None

    @property
    def name(self) -> str:
        """Return the name of the model."""
        return self.settings.model

    def hint(self, step: str, failure: Failure) -> dict[str, str]:
        """See `LanguageModel.hint`."""
        return hint(step, failure, self.settings, account=self.account)

    @property
    def account(self) -> str | None:
        """The e-mail address of the service account in use; None while it is unknown, and for a person."""
        email = getattr(self._credentials, "service_account_email", None)
        return email if isinstance(email, str) and "@" in email else None

    def stream(
        self, prompt: Prompt, *, cancellation: Cancellation, timeout_seconds: float = math.inf
    ) -> Iterator[str | FunctionCall | Waiting | Ended]:
        """Yield the pieces of the answer as they come, `Ended` last. Functions are called only if the prompt declares some.

        A transient failure is retried while there is time, unless a part of the answer was yielded. Raises ModelFailed.
        """
        deadline = self._http.clock() + min(timeout_seconds, self.settings.timeout_seconds, cancellation.seconds_left)
        left = threading.Event()
        cancellation.on_cancel(left.set)
        wait_seconds = self._first_wait_seconds
        while True:
            is_begun = False
            try:
                for piece in traced(self.name, "gcp.vertex_ai", self._attempt(prompt, deadline, cancellation)):
                    is_begun = True
                    yield piece
                return
            except ModelFailed as failed:
                failure = failed.failure
                seconds = failure.retry_after_seconds or wait_seconds * random.uniform(0.5, 1)  # noqa: S311 - jitter
                in_time = self._http.clock() + seconds + _MIN_SECONDS < deadline
                if is_begun or failure.cause not in TRANSIENT or not in_time:
                    raise
            yield Waiting(failure.cause, seconds)
            if left.wait(seconds):
                raise ModelFailed(Failure(cause=Cause.CANCELLED, detail="the caller left"))
            wait_seconds = min(wait_seconds * 2, _MAX_WAIT_SECONDS)

    def embed(
        self, texts: Sequence[str], *, task: str, timeout_seconds: float | None = None
    ) -> Sequence[Sequence[float]]:
        """Return the vectors of texts, for a task of Vertex AI's. Nothing is retried. Raises ModelFailed."""
        from a2a_hub.gemini import vertex

        seconds = timeout_seconds or self.settings.timeout_seconds
        budget = Budget.within(seconds, now=self._http.clock(), max_bytes=_MAX_ANSWER_BYTES)
        try:
            vectors: Sequence[Sequence[float]] = self._client().embed(texts, task, budget=budget)
        except Exception as error:
            raise ModelFailed(vertex.failure_of(error, is_late=self._http.clock() >= budget.deadline)) from None
        return vectors

    def warm_after_fork(self) -> None:
        """Prepare every process forked from this one in the background, before its first question."""
        os.register_at_fork(
            after_in_child=lambda: threading.Thread(target=self._warm, name="warm", daemon=True).start()
        )

    def _warm(self) -> None:
        # A failure here happens again with the first question, which reports it.
        with contextlib.suppress(Exception):
            from a2a_hub.gemini import vertex

            vertex.warm_up(self._config(Prompt(instruction="", text=""), self._http.clock() + 1))
            self._client()

    def _attempt(
        self, prompt: Prompt, deadline: float, cancellation: Cancellation
    ) -> Iterator[str | FunctionCall | Ended]:
        from a2a_hub.gemini import vertex

        limit = self.settings.calls_per_day
        if limit and self._calls.take("calls", limit, seconds=_DAY_SECONDS):
            raise ModelFailed(Failure(cause=Cause.USED_UP, detail=f"more than {limit} calls a day in this instance"))
        try:
            yield from self._client().stream(
                vertex.contents(prompt),
                self._config(prompt, deadline),
                budget=Budget(
                    deadline=deadline,
                    connect_seconds=_CONNECT_SECONDS,
                    idle_seconds=self.settings.idle_seconds,
                    max_bytes=_MAX_ANSWER_BYTES,
                ),
                cancellation=cancellation,
            )
        except Exception as error:
            raise ModelFailed(vertex.failure_of(error, is_late=self._http.clock() >= deadline)) from None

    def _config(self, prompt: Prompt, deadline: float) -> dict[str, Any]:
        # Sent to the service, so that it can stop when the caller no longer waits.
        remaining_milliseconds = max(1, int((deadline - self._http.clock()) * 1000))
        config = {
            "system_instruction": prompt.instruction,
            "temperature": prompt.temperature,
            "max_output_tokens": self.settings.max_output_tokens,
            "candidate_count": 1,
            "automatic_function_calling": {"disable": True},
            "http_options": {"timeout": remaining_milliseconds},
        }
        if prompt.json_schema:
            config |= {"response_mime_type": "application/json", "response_json_schema": dict(prompt.json_schema)}
        if prompt.functions:
            config["tools"] = [{"function_declarations": [_declared(each) for each in prompt.functions]}]
        return config

    def _client(self) -> Any:
        from a2a_hub.gemini import vertex

        with self._lock:
            if self._made is None or self._made[0] != os.getpid():
                self._credentials = (self._find_credentials or vertex.default_credentials)()
                client = vertex.VertexAi(self.settings, http=self._http, credentials=self._credentials)
                self._made = (os.getpid(), client)
            return self._made[1]


def _declared(function: Mapping[str, Any]) -> dict[str, Any]:
    description = {name: value for name, value in function.items() if name != "parameters"}
    return {**description, "parameters_json_schema": function["parameters"]}


def configured(settings: GeminiSettings) -> Gemini:
    """Return the model of the settings, prepared in every forked process."""
    gemini = Gemini(settings, http=HttpClient())
    gemini.warm_after_fork()
    return gemini
