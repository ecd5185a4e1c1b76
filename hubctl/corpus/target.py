"""Where a corpus is: the bucket that holds its documents, and the data store that searches them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from a2a_hub.settings.reader import Settings, SettingsError
from functions.docqa.cloud.config import LOCATIONS, search_host
from hubctl.main import CommandError


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """`prefix` is what the names of the corpus's objects begin with, "" or with a slash at its end."""

    project: str
    location: str
    data_store: str
    bucket: str
    prefix: str
    search_endpoint: str
    storage_endpoint: str | None

    @property
    def store(self) -> str:
        """The data store's resource name."""
        return f"projects/{self.project}/locations/{self.location}/collections/default_collection/dataStores/{self.data_store}"

    @property
    def branch(self) -> str:
        """The branch that documents are imported into."""
        return f"{self.store}/branches/default_branch"

    def uri(self, path: str) -> str:
        """The object that holds a document of the corpus."""
        return f"gs://{self.bucket}/{self.prefix}{path}"


def document_id(uri: str) -> str:
    """The id that Discovery Engine itself gives to a document imported from there: half of the SHA-256 of its URI."""
    return hashlib.sha256(uri.encode()).hexdigest()[:32]


def target_from(given: Mapping[str, str | None], environment: Mapping[str, str]) -> Target:
    """The target; options that were given go before the environment. Raises CommandError with everything that is missing."""
    variables = {
        "project": ("DISCOVERY_ENGINE_PROJECT", "GOOGLE_CLOUD_PROJECT"),
        "data_store": ("DISCOVERY_ENGINE_DATA_STORE",),
        "bucket": ("CORPUS_BUCKET",),
    }
    values: dict[str, str] = {}
    settings = Settings(environment)
    for name, names in variables.items():
        found = given.get(name) or next(filter(None, map(settings.optional, names)), None)
        if found is None:
            settings.problem(f"--{name.replace('_', '-')}", f"(or {names[-1]}) is missing")
        values[name] = found or ""
    location = given.get("location") or settings.text("DISCOVERY_ENGINE_LOCATION", "global")
    if location not in LOCATIONS:
        settings.problem("--location", f"must be one of {', '.join(LOCATIONS)}")
    prefix = (given.get("prefix") or "").strip("/")
    target = Target(
        project=values["project"],
        location=location,
        data_store=values["data_store"],
        bucket=values["bucket"].removeprefix("gs://").strip("/"),
        prefix=f"{prefix}/" if prefix else "",
        search_endpoint=settings.endpoint("DISCOVERY_ENGINE_ENDPOINT") or search_host(location),
        storage_endpoint=settings.endpoint("STORAGE_EMULATOR_HOST"),
    )
    try:
        settings.check()
    except SettingsError as error:
        raise CommandError(str(error)) from None
    return target
