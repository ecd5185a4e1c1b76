"""The settings of the document QA function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from a2a_hub.agents.settings import AgentSettings, read_agent, read_answer_seconds
from a2a_hub.grounding.settings import read_composer
from a2a_hub.identity.public_keys import EXPECTED, PublicKey, public_keys
from a2a_hub.language_models.settings import ModelSettings, read_embedding_model
from a2a_hub.settings.reader import Settings
from functions.docqa.cloud.config import CloudConfig, read_cloud
from functions.docqa.search_results import corpus_link

BY_GROUNDING = "grounding"
"""`ANSWER_CHECK` by Discovery Engine."""
_SAMPLE_CORPUS = Path(__file__).with_name("corpus")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config(AgentSettings):
    """The settings of this function, beside those of every agent."""

    corpus_dir: Path
    """The folder of documents; the sample corpus unless `CORPUS_DIR` says otherwise."""
    index_path: Path | None
    """The file of the index, kept from start to start, `CORPUS_INDEX`; None builds it anew in a temporary folder."""
    cloud: CloudConfig | None
    """The place on Google Cloud to search and read documents; None, with none of its settings, means the folder."""
    corpus_link: str | None
    """The address of a document of the folder, with `{path}` in the place of its path. `CORPUS_LINK`."""
    hub_keys: tuple[PublicKey, ...]
    """The keys with which the hub signs the principal; without any, all callers are anonymous. `HUB_PUBLIC_KEYS`."""
    embedding_model: ModelSettings | None = None
    """The model that embeds passages and questions, for a folder; None for none. `EMBEDDING_MODEL`."""


def read(environ: Mapping[str, str]) -> Config:
    """Return the settings in `environ`. Raises SettingsError with every error at once."""
    settings = Settings(environ)
    index = settings.optional("CORPUS_INDEX")
    corpus_dir = Path(settings.text("CORPUS_DIR", str(_SAMPLE_CORPUS)))
    if not corpus_dir.is_dir():
        settings.problem("CORPUS_DIR", "must name a folder that exists")
    agent, answer_seconds = read_agent(settings), read_answer_seconds(settings)
    cloud = read_cloud(settings, timeout_seconds=answer_seconds)
    config = Config(
        public_url=agent.public_url,
        corpus_dir=corpus_dir,
        index_path=Path(index) if index else None,
        cloud=cloud,
        corpus_link=settings.parsed("CORPUS_LINK", corpus_link, expected='must be an https URL with "{path}"'),
        hub_keys=settings.parsed("HUB_PUBLIC_KEYS", public_keys, expected=EXPECTED) or (),
        google_cloud_project=agent.google_cloud_project,
        log_text=agent.log_text,
        answer_model=read_composer(settings, more_checks=[BY_GROUNDING] if cloud else ()),
        answer_seconds=answer_seconds,
        embedding_model=read_embedding_model(settings),
    )
    settings.check()
    return config
