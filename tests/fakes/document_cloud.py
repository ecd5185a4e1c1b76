"""Discovery Engine and Cloud Storage with one bucket and one data store, and document QA as it asks them."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Imported here, so that no short deadline of a test pays for it.
import google.cloud.discoveryengine_v1
import google.cloud.storage
from google.oauth2.credentials import Credentials

from a2a_hub.http.messages import Handler
from a2a_hub.text.language import Language
from functions.docqa.cloud.config import CloudConfig
from functions.docqa.cloud.engine import CloudDocumentQA
from functions.docqa.extractive.answering import answered
from functions.docqa.model import DocAnswer
from functions.docqa.retrieval.access import Asker
from local.cloud.accounts import Accounts
from local.cloud.buckets import Bucket
from local.cloud.cloud_storage import CloudStorage
from local.cloud.data_store import AGENT
from local.cloud.discovery_engine import DiscoveryEngine
from local.cloud.policies import OBJECT_VIEWER, Policy
from local.cloud.program import Server, recorded
from tests.fakes.local_cloud import call, inject

BUCKET, STORE = "company-documents", "company-store"
PROJECT = "my-hub-project"
PARENT = f"projects/{PROJECT}/locations/global/collections/default_collection/dataStores/{STORE}"
READER, READERS_TOKEN = f"docqa@{PROJECT}.iam.gserviceaccount.com", "token-of-docqa"
OWNER, OWNERS_TOKEN = "operator@example.com", "token-of-the-operator"


def ask(
    engine: CloudDocumentQA, question: str, *, token: str | None = None, language: Language | None = None
) -> DocAnswer:
    """The answer in quotes."""
    return answered(engine.find(question, asker=Asker(token=token), language=language))


class _Account(Credentials):
    """A token that says whose it is, as the metadata server's do."""

    service_account_email = READER


def credentials(token: str = READERS_TOKEN) -> Credentials:
    """The credentials of document QA."""
    return _Account(token)  # type: ignore[no-untyped-call]


@dataclass(kw_only=True)
class DocumentCloud:
    """What the bucket holds when the first question comes is what the data store imported."""

    bucket: Bucket
    storage_url: str
    search_url: str
    engines: list[CloudDocumentQA] = field(default_factory=list)

    def hold(self, **documents: str | bytes) -> None:
        """Puts Markdown documents into the bucket: `rules="# Rules…"` becomes `rules.md`."""
        for name, content in documents.items():
            self.put(f"{name}.md", content)

    def put(self, name: str, content: str | bytes, *, content_type: str = "text/plain") -> None:
        """Puts one object into the bucket."""
        data = content.encode() if isinstance(content, str) else content
        self.bucket.put(name, data, content_type=content_type)

    def config(self, **changed: Any) -> CloudConfig:
        """The settings of a function that asks here."""
        settings: dict[str, Any] = {
            "project": PROJECT,
            "serving_config": f"{PARENT}/servingConfigs/default_config",
            "search_endpoint": self.search_url,
            "grounding_endpoint": self.search_url,
            "storage_endpoint": self.storage_url,
            "as_user": False,
            "timeout_seconds": 20.0,
        }
        return CloudConfig(**{**settings, **changed})

    def engine(self, *, token: str = READERS_TOKEN, **changed: Any) -> CloudDocumentQA:
        """Document QA with these settings `changed`; it is closed at the end."""
        engine = CloudDocumentQA(self.config(**changed), credentials=lambda: credentials(token))
        self.engines.append(engine)
        return engine

    def break_storage(self, fault: str, **parameters: Any) -> None:
        """Switches a fault of Cloud Storage on."""
        inject(self.storage_url, fault, **parameters)

    def break_search(self, fault: str, **parameters: Any) -> None:
        """Switches a fault of Discovery Engine on."""
        inject(self.search_url, fault, **parameters)

    def faults(self) -> dict[str, Any]:
        """All faults that are on."""
        on: dict[str, Any] = {}
        for url in (self.storage_url, self.search_url):
            on |= call(f"{url}/__faults")["on"]
        return on

    def downloads(self) -> list[str]:
        """The reads of objects' content by document QA, oldest first."""
        received = call(f"{self.storage_url}/__received")
        return [
            each["target"]
            for each in received
            if "alt=media" in each["target"] and READERS_TOKEN in each["headers"]["authorization"]
        ]


@contextlib.contextmanager
def document_cloud(
    folder: Path | None = None,
    *,
    around_storage: Callable[[Handler], Handler] = lambda handle: handle,
) -> Iterator[DocumentCloud]:
    """Both services, the files of `folder` in the bucket. `around_storage` may change what Cloud Storage answers."""
    bucket = Bucket(BUCKET)
    if folder:
        bucket.load(folder)
    readers = [f"serviceAccount:{each}" for each in (READER, AGENT)]
    bucket.policy = Policy([{"role": OBJECT_VIEWER, "members": readers}])
    accounts = Accounts({READERS_TOKEN: READER, OWNERS_TOKEN: OWNER}, operators=[OWNER])
    storage = CloudStorage([bucket], accounts=accounts)
    with Server(around_storage(recorded(storage.handle))) as storage_server:
        search = DiscoveryEngine(
            [STORE, "empty-store"],
            buckets=[bucket],
            accounts=accounts,
            viewers=[READER],
            engines={"company-engine": STORE},
            contents={STORE: f"gs://{BUCKET}/*"},
        )
        with Server(recorded(search.handle)) as search_server:
            cloud = DocumentCloud(bucket=bucket, storage_url=storage_server.url, search_url=search_server.url)
            try:
                yield cloud
            finally:
                for engine in cloud.engines:
                    engine.close()


def grant_reading(storage_url: str, *, bucket: str, account: str, token: str = OWNERS_TOKEN, **more: Any) -> None:
    """Return what `gcloud storage buckets add-iam-policy-binding` does, with Google's own library."""
    credentials = Credentials(token)  # type: ignore[no-untyped-call]
    client = google.cloud.storage.Client(
        project=PROJECT, credentials=credentials, client_options={"api_endpoint": storage_url}
    )
    policy = client.bucket(bucket).get_iam_policy(requested_policy_version=3)
    policy.version = 3
    policy.bindings.append({"role": OBJECT_VIEWER, "members": {f"serviceAccount:{account}"}, **more})
    client.bucket(bucket).set_iam_policy(policy)
    client.close()
