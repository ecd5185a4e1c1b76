"""Google's client libraries: imported when they are first needed, their clients made once in each process.

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


class Clients:
    """The two clients over REST, their credentials, and the threads that wait for them; made on first use.

    `credentials` gives google-auth credentials; by default they are Application Default Credentials. Thread-safe.
    """

    def __init__(self, config: CloudConfig, *, credentials: Callable[[], Any] | None = None) -> None:
        self._config = config
        self._find_credentials = credentials or application_default
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._made: dict[str, Any] = {}

    @property
    def search(self) -> Any:
        """A `SearchServiceClient`. Raises google.auth's exceptions without credentials."""
        return self._once("search", self._make_search)

    @property
    def storage(self) -> Any:
        """A `google.cloud.storage.Client`. Raises google.auth's exceptions without credentials."""
        return self._once("storage", self._make_storage)

    @property
    def threads(self) -> ThreadPoolExecutor:
        """Where calls run, so that a deadline holds even when a server sends byte by byte."""
        threads: ThreadPoolExecutor = self._once(
            "threads", lambda: ThreadPoolExecutor(_CONNECTIONS, thread_name_prefix="google-cloud")
        )
        return threads

    @property
    def account(self) -> str | None:
        """The e-mail address of the service account that calls; None while it is not known, and for a person."""
        with self._lock:
            email = getattr(self._made.get("credentials"), "service_account_email", None)
        return email if isinstance(email, str) and "@" in email else None

    def close(self) -> None:
        """Lets go of connections and threads; calls that are under way are not waited for."""
        with self._lock:
            made, self._made = self._made, {}
        if "threads" in made:
            made["threads"].shutdown(wait=False, cancel_futures=True)
        if "search" in made:
            made["search"].transport.close()
        if "storage" in made:
            made["storage"].close()

    def _once(self, name: str, make: Callable[[], Any]) -> Any:
        with self._lock:
            if self._process != os.getpid():
                self._process, self._made = os.getpid(), {}
            if name not in self._made:
                self._made[name] = make()
            return self._made[name]

    def _credentials(self) -> Any:
        return self._once("credentials", self._find_credentials)

    def _make_search(self) -> Any:
        from google.api_core.client_options import ClientOptions
        from google.cloud.discoveryengine_v1.services.search_service import SearchServiceClient

        return SearchServiceClient(
            credentials=self._credentials(),
            transport="rest",
            client_options=ClientOptions(api_endpoint=self._config.search_endpoint),
        )

    def _make_storage(self) -> Any:
        from google.cloud import storage
        from requests.adapters import HTTPAdapter

        endpoint = self._config.storage_endpoint
        client = storage.Client(
            project=self._config.project,
            credentials=self._credentials(),
            client_options={"api_endpoint": endpoint} if endpoint else None,
        )
        # requests keeps ten connections to a host; a question reads as many sources, and questions come at once.
        adapter = HTTPAdapter(pool_connections=2, pool_maxsize=_CONNECTIONS)
        client._http.mount("https://", adapter)
        client._http.mount("http://", adapter)
        return client


def application_default() -> Any:
    """Application Default Credentials: the function's service account, a key, impersonation, or workload identity."""
    import google.auth

    return google.auth.default(scopes=[SCOPE])[0]


def warm_after_fork() -> None:
    """From now on every process forked from this one imports the libraries in the background."""
    os.register_at_fork(after_in_child=lambda: threading.Thread(target=_import, name="warm", daemon=True).start())


def _import() -> None:
    import google.cloud.discoveryengine_v1.services.search_service
    import google.cloud.storage  # noqa: F401 - imported for its effect
