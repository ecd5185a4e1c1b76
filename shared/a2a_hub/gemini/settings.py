"""The settings of a model: its location and the limits of one answer."""

import re
from dataclasses import dataclass

from a2a_hub.settings.reader import Settings

_MODEL = re.compile(r"[a-z0-9][a-z0-9._@-]{0,99}")
_LOCATION = re.compile(r"[a-z]+(?:-[a-z]+[0-9]+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class GeminiSettings:
    """A model on Vertex AI. `variable` is the setting that names the model, for remedies."""

    variable: str
    project: str
    location: str
    model: str
    endpoint: str | None
    """The URL of a stand-in or a private endpoint; None for Vertex AI itself. `VERTEX_AI_ENDPOINT`."""
    timeout_seconds: float
    """Limit of the whole answer, retries included; less than the hub's route allows. `MODEL_TIMEOUT_SECONDS`."""
    idle_seconds: float
    """Limit of silence, before the answer and within it. `MODEL_IDLE_SECONDS`."""
    max_output_tokens: int
    """Limit of the answer, the model's thoughts included. `MODEL_MAX_OUTPUT_TOKENS`."""
    calls_per_day: int
    """Limit of one instance, 0 for none. `MODEL_CALLS_PER_DAY`."""


def read_gemini(settings: Settings, variable: str, *, default_timeout_seconds: float) -> GeminiSettings | None:
    """Return the settings of the model that `variable` names; None if it is unset. Errors are recorded in `settings`."""
    found = GeminiSettings(
        variable=variable,
        project=settings.text("GOOGLE_CLOUD_PROJECT", ""),
        location=settings.text("GOOGLE_CLOUD_LOCATION", "global"),
        model=settings.text(variable, ""),
        endpoint=settings.endpoint("VERTEX_AI_ENDPOINT"),
        timeout_seconds=settings.number("MODEL_TIMEOUT_SECONDS", default_timeout_seconds, minimum=1, maximum=3600),
        idle_seconds=settings.number("MODEL_IDLE_SECONDS", 20, minimum=0.1, maximum=3600),
        max_output_tokens=int(settings.number("MODEL_MAX_OUTPUT_TOKENS", 4096, minimum=16, maximum=65_536)),
        calls_per_day=int(settings.number("MODEL_CALLS_PER_DAY", 2000, minimum=0, maximum=10_000_000)),
    )
    if not found.model:
        return None
    if not _MODEL.fullmatch(found.model):
        settings.problem(variable, "must be the id of a Gemini model, such as gemini-2.5-flash")
    if not _LOCATION.fullmatch(found.location):
        settings.problem("GOOGLE_CLOUD_LOCATION", "must be global, or a region such as asia-northeast1")
    if not found.project:
        settings.problem("GOOGLE_CLOUD_PROJECT", f"must name the project that {variable} is used in")
    return found
