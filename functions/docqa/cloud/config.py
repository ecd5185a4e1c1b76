"""The settings of document QA on Google Cloud; if none of them is set, documents come from a folder."""

from __future__ import annotations

import re
from dataclasses import dataclass

from a2a_hub.settings.reader import Settings

LOCATIONS = ("global", "us", "eu")
_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
_SERVING_CONFIG = re.compile(
    r"projects/([^/]+)/locations/([^/]+)/collections/[^/]+/(?:dataStores|engines)/[^/]+/servingConfigs/[^/]+"
)
_PROJECT = re.compile(r"[a-z0-9][a-z0-9.:-]{0,62}")
_ANY = ("DATA_STORE", "ENGINE", "LOCATION", "SERVING_CONFIG", "ENDPOINT", "PROJECT")


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudConfig:
    """The data store to search and the bucket to read, with their limits."""

    project: str
    serving_config: str
    """The full resource name."""
    search_endpoint: str
    """A host name, or the URL of a stand-in."""
    grounding_endpoint: str
    """The same of check grounding, which is in no other location than `global`."""
    storage_endpoint: str | None
    """The URL of a stand-in; None for Cloud Storage itself."""
    as_user: bool
    """True if each search runs with the asker's own token, so that the store's permissions hold. `DISCOVERY_ENGINE_AS_USER`."""
    timeout_seconds: float
    """The whole answer's time, less than the hub's route gives. `ANSWER_TIMEOUT_SECONDS`."""


def search_host(location: str) -> str:
    """Return the host that holds the data of a location (cloud.google.com/generative-ai-app-builder/docs/locations)."""
    host = "discoveryengine.googleapis.com"
    return host if location == "global" else f"{location}-{host}"


def read_cloud(settings: Settings, *, timeout_seconds: float) -> CloudConfig | None:
    """Return the settings; None without a data store or engine. Every mistake is noted in `settings`."""
    named = {name: settings.optional(f"DISCOVERY_ENGINE_{name}") for name in _ANY}
    data_store, engine, serving_config = named["DATA_STORE"], named["ENGINE"], named["SERVING_CONFIG"]
    full_name = _SERVING_CONFIG.fullmatch(serving_config or "")
    storage_endpoint = settings.endpoint("STORAGE_EMULATOR_HOST")
    as_user = settings.flag("DISCOVERY_ENGINE_AS_USER")
    if not any(named.values()):
        return None
    project = named["PROJECT"] or settings.optional("GOOGLE_CLOUD_PROJECT")
    location = settings.text("DISCOVERY_ENGINE_LOCATION", full_name[2] if full_name else "global")
    if location not in LOCATIONS:
        settings.problem("DISCOVERY_ENGINE_LOCATION", f"must be one of {', '.join(LOCATIONS)}")
    if full_name:
        if data_store or engine:
            settings.problem(
                "DISCOVERY_ENGINE_SERVING_CONFIG", "is a full name: leave the data store and the engine out"
            )
        if full_name[2] != location:
            settings.problem("DISCOVERY_ENGINE_LOCATION", f"is not that of the serving config, {full_name[2]}")
        project = project or full_name[1]
    elif bool(data_store) == bool(engine):
        settings.problem("DISCOVERY_ENGINE_DATA_STORE", "or DISCOVERY_ENGINE_ENGINE must be set, and only one of them")
    for name, value in (("DATA_STORE", data_store), ("ENGINE", engine), ("SERVING_CONFIG", serving_config)):
        if value and not _ID.fullmatch(value) and not (full_name and name == "SERVING_CONFIG"):
            settings.problem(f"DISCOVERY_ENGINE_{name}", "must be an id: small letters, digits, - and _")
    if not _PROJECT.fullmatch(project or ""):
        settings.problem("DISCOVERY_ENGINE_PROJECT", "or GOOGLE_CLOUD_PROJECT must name the project of the data store")
    if settings.optional("CORPUS_DIR"):
        settings.problem("CORPUS_DIR", "is for the embedded corpus: leave it out beside a data store")
    owner = f"dataStores/{data_store}" if data_store else f"engines/{engine}"
    parent = f"projects/{project}/locations/{location}/collections/default_collection/{owner}"
    short = serving_config or "default_config"
    endpoint = settings.endpoint("DISCOVERY_ENGINE_ENDPOINT")
    return CloudConfig(
        project=project or "",
        serving_config=full_name[0] if full_name else f"{parent}/servingConfigs/{short}",
        search_endpoint=endpoint or search_host(location),
        grounding_endpoint=endpoint or search_host("global"),
        storage_endpoint=storage_endpoint,
        as_user=as_user,
        timeout_seconds=timeout_seconds,
    )
