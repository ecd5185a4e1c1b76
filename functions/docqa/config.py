"""The settings of the document QA function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from a2a_hub.agents.settings import read_phrasing
from a2a_hub.gemini.settings import GeminiSettings, read_gemini
from a2a_hub.settings.reader import Settings
from functions.docqa.cloud.config import CloudConfig, read_cloud

# An answer hangs on it, but phrasing has to find room beside it in the time that the hub's route gives.
_SELECTION_SECONDS = 10.0
_SAMPLE_CORPUS = Path(__file__).with_name("corpus")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What this function needs to know of where it runs."""

    public_url: str
    """Where callers reach it; its card says so. `PUBLIC_URL`."""
    corpus_dir: Path
    """The folder of documents; the sample corpus unless `CORPUS_DIR` says otherwise."""
    index_path: Path | None
    """Where the index is kept from start to start, `CORPUS_INDEX`; None builds it anew in a temporary folder."""
    cloud: CloudConfig | None
    """Where documents are searched and read on Google Cloud; None, with none of its settings, means the folder."""
    google_cloud_project: str | None
    """The project that its traces belong to. `GOOGLE_CLOUD_PROJECT`."""
    log_text: bool
    """Whether the log may hold the texts of messages. `LOG_TEXT`."""
    phrasing: GeminiSettings | None = None
    """The model that phrases answers; None for none. `PHRASE_MODEL`."""
    selection: GeminiSettings | None = None
    """The model that chooses among quotes where nothing answers; None for none. `SELECT_MODEL`."""


def read(environ: Mapping[str, str]) -> Config:
    """The settings in `environ`. Raises SettingsError with every error at once."""
    settings = Settings(environ)
    index = settings.optional("CORPUS_INDEX")
    corpus_dir = Path(settings.text("CORPUS_DIR", str(_SAMPLE_CORPUS)))
    if not corpus_dir.is_dir():
        settings.problem("CORPUS_DIR", "must name a folder that exists")
    config = Config(
        public_url=settings.url("PUBLIC_URL", settings.own_address()),
        corpus_dir=corpus_dir,
        index_path=Path(index) if index else None,
        cloud=read_cloud(settings),
        google_cloud_project=settings.optional("GOOGLE_CLOUD_PROJECT"),
        log_text=settings.flag("LOG_TEXT"),
        phrasing=read_phrasing(settings),
        selection=read_gemini(settings, "SELECT_MODEL", default_timeout_seconds=_SELECTION_SECONDS),
    )
    settings.check()
    return config
