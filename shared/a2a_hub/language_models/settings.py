"""The settings of the models that compose answers and embed texts: on Vertex AI, or on a server that speaks OpenAI's protocol."""

import ipaddress
from urllib.parse import urlsplit

from a2a_hub.gemini.client import configured
from a2a_hub.gemini.settings import GeminiSettings, read_gemini
from a2a_hub.http.client import HttpClient
from a2a_hub.language_models.embeddings import EmbeddingModel, GeminiEmbeddings, OpenAiEmbeddings
from a2a_hub.language_models.model import LanguageModel
from a2a_hub.language_models.openai_compatible import OpenAiCompatible, OpenAiSettings
from a2a_hub.settings.reader import Settings, is_http_url, is_secure

ModelSettings = GeminiSettings | OpenAiSettings
TIMEOUT_SECONDS = 20.0
"""The default limit of a model's answer."""
_REPLACED = ("PHRASE_MODEL", "SELECT_MODEL", "GENERAL_MODEL")


def read_answer_model(settings: Settings) -> ModelSettings | None:
    """Return the model that `ANSWER_MODEL` names; None if it is unset. Errors are recorded in `settings`."""
    for name in _REPLACED:
        if settings.optional(name):
            settings.problem(name, "has been replaced: name the model in ANSWER_MODEL")
    return read_model(settings, "ANSWER_MODEL")


def read_embedding_model(settings: Settings) -> ModelSettings | None:
    """Return the model that `EMBEDDING_MODEL` names; None if it is unset. Errors are recorded in `settings`."""
    return read_model(settings, "EMBEDDING_MODEL")


def read_model(
    settings: Settings, variable: str, *, default_timeout_seconds: float = TIMEOUT_SECONDS
) -> ModelSettings | None:
    """Return the model that `variable` names, on the server of `{variable}_URL` if it is set, else on Vertex AI; None if it
    is unset. Errors are recorded in `settings`.
    """
    url = settings.optional(f"{variable}_URL")
    if url is None:
        return read_gemini(settings, variable, default_timeout_seconds=default_timeout_seconds)
    model = settings.text(variable, "")
    if not model:
        settings.problem(variable, f"must name a model of the server that {variable}_URL names")
    if not _is_trusted(url):
        settings.problem(f"{variable}_URL", "must be an https URL, or http on this machine or at a private address")
    return OpenAiSettings(
        variable=variable,
        url=url.rstrip("/"),
        model=model,
        key=settings.text(f"{variable}_KEY", ""),
        timeout_seconds=settings.number("MODEL_TIMEOUT_SECONDS", default_timeout_seconds, minimum=1, maximum=3600),
        idle_seconds=settings.number("MODEL_IDLE_SECONDS", 20, minimum=0.1, maximum=3600),
        max_output_tokens=int(settings.number("MODEL_MAX_OUTPUT_TOKENS", 4096, minimum=16, maximum=65_536)),
        calls_per_day=int(settings.number("MODEL_CALLS_PER_DAY", 2000, minimum=0, maximum=10_000_000)),
    )


def _is_trusted(url: str) -> bool:
    """Return True if questions and documents may be sent there."""
    if not is_http_url(url):
        return False
    if is_secure(url):
        return True
    try:
        return ipaddress.ip_address(urlsplit(url).hostname or "").is_private
    except ValueError:
        return False


def language_model(settings: ModelSettings) -> LanguageModel:
    """Return the model of the settings."""
    return (
        OpenAiCompatible(settings, http=HttpClient()) if isinstance(settings, OpenAiSettings) else configured(settings)
    )


def embedding_model(settings: ModelSettings) -> EmbeddingModel:
    """Return the embedding model of the settings."""
    if isinstance(settings, OpenAiSettings):
        return OpenAiEmbeddings(settings, http=HttpClient())
    return GeminiEmbeddings(configured(settings))
