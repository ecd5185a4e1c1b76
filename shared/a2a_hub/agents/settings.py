"""The settings that every agent behind the hub has."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from a2a_hub.gemini.settings import GeminiSettings, read_gemini
from a2a_hub.settings.reader import Settings

__all__ = ["AgentSettings", "read"]

# The answer is known already: better wording is not worth a long wait.
_PHRASING_SECONDS = 8.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """The deployment of an agent."""

    public_url: str
    """The address in its card. `PUBLIC_URL`."""
    google_cloud_project: str | None
    """The project that its traces belong to. `GOOGLE_CLOUD_PROJECT`."""
    log_text: bool
    """True if the log may hold the texts of messages. `LOG_TEXT`."""
    phrasing: GeminiSettings | None = None
    """The model that rewords answers; None for none. `PHRASE_MODEL`."""


def read_phrasing(settings: Settings) -> GeminiSettings | None:
    """Return the model that rewords answers. Errors are recorded in `settings`."""
    return read_gemini(settings, "PHRASE_MODEL", default_timeout_seconds=_PHRASING_SECONDS)


def read_agent(settings: Settings) -> AgentSettings:
    """Return these settings. Errors are recorded in `settings`."""
    return AgentSettings(
        public_url=settings.url("PUBLIC_URL", settings.own_address()),
        google_cloud_project=settings.optional("GOOGLE_CLOUD_PROJECT"),
        log_text=settings.flag("LOG_TEXT"),
    )


def read(environ: Mapping[str, str]) -> AgentSettings:
    """Return the settings in `environ`. Raises SettingsError with all errors."""
    settings = Settings(environ)
    config = replace(read_agent(settings), phrasing=read_phrasing(settings))
    settings.check()
    return config
