"""Google's client libraries: imported on first use, with one set of clients per process.

Importing both takes about 0.6 s and 66 MB (docs/decisions/docqa-cloud.md). The function is loaded before gunicorn forks, and no
connection or thread survives a fork: `warm_after_fork` imports in the background of each worker, and clients are made on use.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from functions.docqa.cloud.config import CloudConfig

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_CONNECTIONS = 32


def _made_once(make: Callable[[Clients], Any]) -> property:
    """Return the property that `make` makes on first use, by one thread in each process."""

    def made(self: Clients) -> Any:
        with self._lock:
            if self._process != os.getpid():
                self._process, self._made = os.getpid(), {}
            if make.__name__ not in self._made:
                self._made[make.__name__] = make(self)
            return self._made[make.__name__]

    return property(made, doc=make.__doc__)


class Clients:
    """The clients over REST, their credentials, and the threads that wait for them; made on first use.

    `credentials` gives google-auth credentials; by default they are Application Default Credentials, and whatever needs them
    raises google.auth's exceptions without. Thread-safe.
    """

    def __init__(self, config: CloudConfig, *, credentials: Callable[[], Any] | None = None) -> None:
        self._config = config
        self._find_credentials = credentials or application_default
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._made: dict[str, Any] = {}

    @_made_once
    def search(self) -> Any:
        """A `SearchServiceClient`."""
        return self._search_with(self.credentials)

    @_made_once
    def search_without_account(self) -> Any:
        """A `SearchServiceClient` for requests that bring a token of their own."""
        from google.auth.credentials import AnonymousCredentials

        return self._search_with(AnonymousCredentials())  # type: ignore[no-untyped-call]

    def _search_with(self, credentials: Any) -> Any:
        from google.cloud.discoveryengine_v1.services.search_service import SearchServiceClient

        endpoint = {"api_endpoint": self._config.search_endpoint}
        return SearchServiceClient(credentials=credentials, transport="rest", client_options=endpoint)

    @_made_once
    def grounding(self) -> Any:
        """A `GroundedGenerationServiceClient`."""
        from google.cloud.discoveryengine_v1.services.grounded_generation_service import GroundedGenerationServiceClient

        endpoint = {"api_endpoint": self._config.grounding_endpoint}
        return GroundedGenerationServiceClient(credentials=self.credentials, transport="rest", client_options=endpoint)

    @_made_once
    def storage(self) -> Any:
        """A `google.cloud.storage.Client`."""
        from google.cloud import storage
        from requests.adapters import HTTPAdapter

        endpoint = self._config.storage_endpoint
        client = storage.Client(
            project=self._config.project,
            credentials=self.credentials,
            client_options={"api_endpoint": endpoint} if endpoint else None,
        )
        # requests keeps ten connections to a host; a question looks at as many objects, and questions come at once.
        adapter = HTTPAdapter(pool_connections=2, pool_maxsize=_CONNECTIONS)
        client._http.mount("https://", adapter)
        client._http.mount("http://", adapter)
        return client

    @_made_once
    def threads(self) -> Any:
        """The `ThreadPoolExecutor` of all calls, so that a deadline holds even when a server sends byte by byte."""
        return ThreadPoolExecutor(_CONNECTIONS, thread_name_prefix="google-cloud")

    @_made_once
    def credentials(self) -> Any:
        """The credentials of the function's account."""
        return self._find_credentials()

    @property
    def account(self) -> str | None:
        """The e-mail address of the service account that calls; None while it is not known, and for a person."""
        with self._lock:
            email = getattr(self._made.get("credentials"), "service_account_email", None)
        return email if isinstance(email, str) and "@" in email else None

    def close(self) -> None:
        """Let go of connections and threads; calls that are under way are not waited for."""
        with self._lock:
            made, self._made = self._made, {}
        if "threads" in made:
            made["threads"].shutdown(wait=False, cancel_futures=True)
        for name in ("search", "search_without_account", "grounding"):
            if name in made:
                made[name].transport.close()
        if "storage" in made:
            made["storage"].close()


def application_default() -> Any:
    """Application Default Credentials: the function's service account, a key, impersonation, or workload identity."""
    import google.auth

    return google.auth.default(scopes=[SCOPE])[0]


def warm_after_fork() -> None:
    """Make every process that is forked from this one import the libraries in the background."""
    os.register_at_fork(after_in_child=lambda: threading.Thread(target=_import, name="warm", daemon=True).start())


def _import() -> None:
    import google.cloud.discoveryengine_v1.services.search_service
    import google.cloud.storage  # noqa: F401 - imported for its effect
