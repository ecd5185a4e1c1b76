"""The settings of the agent for general questions; without a model, it answers from the bundled almanac."""

from collections.abc import Mapping
from dataclasses import dataclass

from a2a_hub.agents.settings import AgentSettings, read_agent
from a2a_hub.gemini.settings import GeminiSettings, read_gemini
from a2a_hub.settings.reader import Settings

MODEL = "GENERAL_MODEL"
# The hub's route allows 30 s.
_TIMEOUT_SECONDS = 25.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The deployment of this function, and the model that answers; None for the almanac alone."""

    agent: AgentSettings
    gemini: GeminiSettings | None


def read(environ: Mapping[str, str]) -> Config:
    """Return the settings in `environ`. Raises SettingsError with all errors."""
    settings = Settings(environ)
    gemini = read_gemini(settings, MODEL, default_timeout_seconds=_TIMEOUT_SECONDS)
    config = Config(agent=read_agent(settings), gemini=gemini)
    settings.check()
    return config
