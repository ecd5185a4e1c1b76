"""The settings that every agent behind the hub has."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from a2a_hub.grounding.settings import ComposerSettings, read_composer
from a2a_hub.language_models.settings import TIMEOUT_SECONDS
from a2a_hub.settings.reader import Settings

# For search, and for the judgement of what the model wrote.
_MORE_SECONDS = 5.0
__all__ = ["AgentSettings", "read"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """The deployment of an agent."""

    public_url: str
    """The address in its card. `PUBLIC_URL`."""
    google_cloud_project: str | None
    """The project that its traces belong to. `GOOGLE_CLOUD_PROJECT`."""
    log_text: bool
    """True if the log may hold the texts of messages. `LOG_TEXT`."""
    answer_model: ComposerSettings | None = None
    """The model that composes answers; None for none. `ANSWER_MODEL`, `ANSWER_CHECK`."""
    answer_seconds: float = math.inf
    """Limit of a turn with a model: everything that is searched and asked for it. `ANSWER_TIMEOUT_SECONDS`."""


def read_agent(settings: Settings) -> AgentSettings:
    """Return these settings. Errors are recorded in `settings`."""
    return AgentSettings(
        public_url=settings.url("PUBLIC_URL", settings.own_address()),
        google_cloud_project=settings.optional("GOOGLE_CLOUD_PROJECT"),
        log_text=settings.flag("LOG_TEXT"),
    )


def read_answer_seconds(settings: Settings) -> float:
    """Return the limit of a turn; errors are recorded in `settings`."""
    model_seconds = settings.number("MODEL_TIMEOUT_SECONDS", TIMEOUT_SECONDS, minimum=1, maximum=3600)
    return settings.number("ANSWER_TIMEOUT_SECONDS", model_seconds + _MORE_SECONDS, minimum=1, maximum=3700)


def read(environ: Mapping[str, str]) -> AgentSettings:
    """Return the settings in `environ`. Raises SettingsError with all errors."""
    settings = Settings(environ)
    config = replace(
        read_agent(settings), answer_model=read_composer(settings), answer_seconds=read_answer_seconds(settings)
    )
    settings.check()
    return config
