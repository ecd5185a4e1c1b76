"""The agent, made with Google's Agent Development Kit: the only file that knows it."""

import asyncio
import contextlib
import logging
import threading
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import httpx
from google.adk.agents import LlmAgent
from google.adk.agents.invocation_context import LlmCallsLimitExceededError
from google.adk.agents.run_config import RunConfig, ToolThreadPoolConfig
from google.adk.events import Event
from google.adk.models import Gemini
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.auth.exceptions import GoogleAuthError
from google.genai import errors, types

from workers.workspace.conversation import Utterance
from workers.workspace.failures import ModelCause, ModelFailed
from workers.workspace.settings import Settings

_NAME = "workspace"
_POLL_SECONDS = 0.2
_MAX_TOKENS = 8192
_ONE_ANSWER_SECONDS = 60
_ATTEMPTS = 3
_THREADS = 4
_log = logging.getLogger("workspace")


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """A request to the model, with its tools. If `is_done` after a tool call, the model is not called again."""

    text: str
    before: Sequence[Utterance]
    instruction: str
    tools: Sequence[Callable[..., Any]]
    is_done: Callable[[], bool]


class Agent:
    """The model of the settings, limited to their `turns` calls and `seconds` in one turn of a task."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self._model = settings, settings.model
        # Failures are logged here in one line; ADK would log them with the stack.
        logging.getLogger("google_adk").setLevel(logging.CRITICAL)

    def answer(self, prompt: Prompt, *, cancelled: threading.Event) -> str:
        """Return the model's final text; empty if the prompt `is_done` or `cancelled` is set. Raise ModelFailed."""
        try:
            return asyncio.run(self._bounded(prompt, cancelled))
        except LlmCallsLimitExceededError:
            raise ModelFailed(ModelCause.TOO_MANY_TURNS) from None
        except TimeoutError:
            raise ModelFailed(ModelCause.TOO_LONG) from None
        except errors.APIError as error:
            raise ModelFailed(self._cause(error)) from None
        except httpx.HTTPError as error:
            _log.warning("the model %s could not be reached: %r", self._model, error)
            raise ModelFailed(ModelCause.BUSY) from None
        except (GoogleAuthError, ValueError) as error:
            # The SDK raises ValueError without a project and a key.
            _log.error("the model %s cannot be used (docs/workspace-worker.md): %s", self._model, error)
            raise ModelFailed(ModelCause.SETTING_UP) from None

    async def _bounded(self, prompt: Prompt, cancelled: threading.Event) -> str:
        async with asyncio.timeout(self._settings.seconds):
            running = asyncio.create_task(self._run(prompt))
            try:
                while not running.done() and not cancelled.is_set():
                    await asyncio.wait([running], timeout=_POLL_SECONDS)
                return running.result() if running.done() else ""
            finally:
                running.cancel()
                with contextlib.suppress(asyncio.CancelledError, Exception):
                    await running

    async def _run(self, prompt: Prompt) -> str:
        answer = error_code = ""
        async with self._gemini() as gemini, contextlib.aclosing(self._events(gemini, prompt)) as events:
            async for event in events:
                if event.error_code:
                    # An exception is preceded by such an event.
                    error_code = str(getattr(event.error_code, "value", event.error_code))
                if prompt.is_done():
                    return ""
                if event.is_final_response():
                    answer = _text(event) or answer
        if not answer:
            _log.warning("the model %s returned no text: %s", self._model, error_code or "no reason was given")
            raise ModelFailed(ModelCause.REFUSED)
        return answer

    async def _events(self, gemini: Gemini, prompt: Prompt) -> AsyncGenerator[Event, None]:
        sessions = InMemorySessionService()
        session = await sessions.create_session(app_name=_NAME, user_id=_NAME)
        for earlier in prompt.before:
            author, role = ("user", "user") if earlier.from_person else (_NAME, "model")
            content = _content(role, earlier.text)
            await sessions.append_event(session, Event(author=author, invocation_id=str(uuid.uuid4()), content=content))
        runner = Runner(app_name=_NAME, agent=_agent(gemini, prompt), session_service=sessions)
        events = runner.run_async(
            user_id=_NAME,
            session_id=session.id,
            new_message=_content("user", prompt.text),
            run_config=RunConfig(
                max_llm_calls=self._settings.turns, tool_thread_pool_config=ToolThreadPoolConfig(max_workers=_THREADS)
            ),
        )
        async with contextlib.aclosing(events):
            async for event in events:
                yield event

    @contextlib.asynccontextmanager
    async def _gemini(self) -> AsyncIterator[Gemini]:
        gemini = Gemini(
            model=self._model,
            base_url=self._settings.model_endpoint or None,
            client_kwargs=self._place(),
            retry_options=types.HttpRetryOptions(attempts=_ATTEMPTS, initial_delay=0.5),
        )
        # Created here, so that a missing setting is reported, and closed with its event loop.
        client = gemini.api_client
        try:
            yield gemini
        finally:
            await client.aio.aclose()

    def _place(self) -> dict[str, Any] | None:
        """Return the arguments for Vertex AI in a project; None selects the Gemini API with the key in the environment."""
        if not self._settings.project:
            return None
        # Passed explicitly: with another endpoint, the SDK ignores the environment.
        return {"vertexai": True, "project": self._settings.project, "location": self._settings.location}

    def _cause(self, error: errors.APIError) -> ModelCause:
        if error.code in (401, 403, 404):
            _log.error(
                "the model %s cannot be used: status %d, %s. The account needs roles/aiplatform.user, the project "
                "aiplatform.googleapis.com, and the model has to be one of GOOGLE_CLOUD_LOCATION",
                *(self._model, error.code, error.message),
            )
            return ModelCause.SETTING_UP
        _log.warning("the model %s: status %d, %s", self._model, error.code, error.message)
        return ModelCause.BUSY if error.code in (408, 429) or error.code >= 500 else ModelCause.REFUSED


def _agent(gemini: Gemini, prompt: Prompt) -> LlmAgent:
    return LlmAgent(
        name=_NAME,
        model=gemini,
        # A function, because ADK would expand braces in a text as variables.
        instruction=lambda _: prompt.instruction,
        tools=list(prompt.tools),
        # ADK would abort on a call of an unknown tool.
        on_tool_error_callback=lambda **_: {"error": "This tool does not work."},
        generate_content_config=types.GenerateContentConfig(
            temperature=0.2,
            max_output_tokens=_MAX_TOKENS,
            http_options=types.HttpOptions(timeout=_ONE_ANSWER_SECONDS * 1000),
        ),
    )


def _content(role: str, text: str) -> types.Content:
    return types.Content(role=role, parts=[types.Part(text=text or " ")])


def _text(event: Event) -> str:
    parts = event.content.parts if event.content and event.content.parts else []
    return "".join(part.text for part in parts if part.text and not part.thought).strip()
