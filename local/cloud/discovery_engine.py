"""`python -m local.cloud.discovery_engine`: Discovery Engine's REST API, as google-cloud-discoveryengine speaks it.

It searches the documents that were imported, which it reads from Cloud Storage (or its stand-in) as the service's own agent.
Ranking is BM25 (`document_index`): unlike the real service it knows no synonyms, no other language, and no delay.
"""

import re
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import unquote

from a2a_hub.http.client import HttpClient
from a2a_hub.http.messages import Request, Response
from local.cloud import accounts
from local.cloud.accounts import ADMIN, SEARCH, VIEWER, Accounts, IssuedTokens, ProjectPolicy, UnknownToken, member
from local.cloud.data_store import DataStore, ImportOperations, NotImported, StorageReader
from local.cloud.faults import LATENCY, LATENCY_HELP, Faults
from local.cloud.program import ApiError, CommandLine, json_body, json_response, pairs, recorded, serve

AGENT = "service-1@gcp-sa-discoveryengine.iam.gserviceaccount.com"
DENIED, DISABLED, STANDARD = "deny-search", "service-disabled", "standard-edition"
QUOTA, BROKEN = "quota", "server-error"
FAULTS = {
    DENIED: "everybody but the administrators loses roles/discoveryengine.viewer",
    DISABLED: "the API is not enabled in the project",
    QUOTA: "every request is answered with 429",
    BROKEN: "every request is answered with 503",
    STANDARD: "extractive answers and segments are refused, as without the Enterprise edition",
    LATENCY: LATENCY_HELP,
}
_OF_STORE = re.compile(r"/v1/(projects/[^/]+/locations/[^/]+(?:/collections/[^/]+)?/(dataStores|engines)/([^/]+))/(.+)")
_DOCUMENT = re.compile(r"(branches/[^/]+)/documents/([^/:]+)")
_ADMINISTERED = re.compile(r"/v1/projects/[^/]+(?:/services/[^/]+)?:\w+")
_MOST_RESULTS = 100


class DiscoveryEngine:
    """The data stores of one project, with the ids `stores`; `engines` are other names of them.

    `contents` are the objects of Cloud Storage that a store holds from the first request on.
    """

    def __init__(
        self,
        stores: Sequence[str],
        *,
        storage_url: str,
        issuers: Sequence[str] = (),
        tokens: Mapping[str, str] | None = None,
        admins: Sequence[str] = (),
        viewers: Sequence[str] = (),
        engines: Mapping[str, str] | None = None,
        contents: Mapping[str, str] | None = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        http = HttpClient()
        self._issued = IssuedTokens()
        self._own_token = f"ya29.local-{secrets.token_urlsafe(16)}"
        reader = StorageReader(storage_url, http=http, token=self._valid_token)
        self._stores = {name: DataStore(storage=reader) for name in stores}
        self._engines = dict(engines or {})
        self._contents = dict(contents or {})
        self._loading = threading.Lock()
        self._policy = self._granted = ProjectPolicy(
            [
                {"role": role, "members": [member(each) for each in emails]}
                for role, emails in ((ADMIN, admins), (VIEWER, viewers))
            ]
        )
        self._accounts = Accounts(issuers, http=http, known=tokens)
        self._operations = ImportOperations()
        self.faults = Faults(FAULTS, changed=self._changed, sleep=sleep)

    def _valid_token(self) -> str:
        return self._issued.add(self._own_token, email=AGENT, lifetime_seconds=3600)

    def handle(self, request: Request) -> Response:
        """Return the answer to one request."""
        if (control := self.faults.handle(request) or self._issued.handle(request)) is not None:
            return control
        if _ADMINISTERED.fullmatch(request.path):
            return self._administered(request)
        self.faults.wait()
        try:
            if QUOTA in self.faults:
                raise ApiError("RESOURCE_EXHAUSTED", "Quota exceeded for quota metric 'Search requests'.")
            if BROKEN in self.faults:
                raise ApiError("UNAVAILABLE", "The service is currently unavailable.")
            if DISABLED in self.faults:
                text = "Discovery Engine API has not been used in this project before or it is disabled."
                raise ApiError("PERMISSION_DENIED", text, reason="SERVICE_DISABLED")
            return json_response(self._answer(request))
        except ApiError as error:
            return error.response()

    def _answer(self, request: Request) -> Any:
        match = _OF_STORE.fullmatch(request.path)
        if match is None:
            raise ApiError("NOT_FOUND", "The requested URL was not found on this server.")
        parent, kind, key, rest = match.groups()
        if rest.startswith("servingConfigs/") and rest.endswith(":search"):
            self._require(request, SEARCH, f"{parent}/{rest.removesuffix(':search')}")
            if rest.partition("/")[2].removesuffix(":search") not in ("default_config", "default_search"):
                raise ApiError("NOT_FOUND", f"ServingConfig {parent}/{rest} not found.")
            return self._search(request, self._store(kind, key))
        if "/operations/" in rest:
            self._require(request, "discoveryengine.operations.get", parent)
            operation = self._operations.get(request.path.removeprefix("/v1/"))
            if operation is None:
                raise ApiError("NOT_FOUND", "Operation not found.")
            return operation
        return self._documents(request, self._store(kind, key), parent, rest)

    def _documents(self, request: Request, store: DataStore, parent: str, rest: str) -> Any:
        one = _DOCUMENT.fullmatch(rest)
        verb = {"GET": "get" if one else "list", "DELETE": "delete", "POST": "import"}.get(request.method, "")
        self._require(request, f"discoveryengine.documents.{verb}", f"{parent}/{rest}")
        branch = rest.partition("/documents")[0]
        if one and request.method in ("GET", "DELETE"):
            document = store.get(unquote(one[2]))
            if document is None:
                raise ApiError("NOT_FOUND", f"Document {parent}/{rest} not found.")
            if request.method == "DELETE":
                store.delete(one[2])
                return {}
            return document
        if request.method == "GET" and rest == f"{branch}/documents":
            size = min(1000, int(request.parameter("pageSize") or 100))
            start = int(request.parameter("pageToken") or 0)
            documents = store.listed()
            page: dict[str, Any] = {"documents": documents[start : start + size]}
            if len(documents) > start + size:
                page["nextPageToken"] = str(start + size)
            return page
        if request.method == "POST" and rest == f"{branch}/documents:import":
            return self._import(json_body(request), store, f"{parent}/{branch}")
        raise ApiError("NOT_FOUND", "The requested URL was not found on this server.")

    def _import(self, body: dict[str, Any], store: DataStore, branch: str) -> Any:
        try:
            if "inlineSource" in body:
                documents = body["inlineSource"].get("documents", [])
            elif body.get("gcsSource", {}).get("dataSchema") == "content":
                documents = store.contents(body["gcsSource"].get("inputUris", ()))
            else:
                raise ApiError("INVALID_ARGUMENT", "Here, documents come inline or as content of Cloud Storage.")
        except NotImported as error:
            raise ApiError("FAILED_PRECONDITION", str(error)) from None
        if len(documents) > 100 and "inlineSource" in body:
            raise ApiError("INVALID_ARGUMENT", "An inline source holds at most 100 documents.")
        return self._operations.start(store, documents, branch=branch)

    def _search(self, request: Request, store: DataStore) -> Any:
        body = json_body(request)
        query, spec = str(body.get("query", "")), body.get("contentSearchSpec", {})
        if spec.get("extractiveContentSpec") and STANDARD in self.faults:
            text = "Cannot use enterprise edition features (website search, extractive answers…) in a standard edition"
            raise ApiError("INVALID_ARGUMENT", text)
        found = store.search(query)
        size = min(_MOST_RESULTS, int(body.get("pageSize") or 10))
        start = int(body.get("pageToken") or body.get("offset") or 0)
        page = {
            "results": [store.shown(key, query, spec) for key in found[start : start + size]],
            "totalSize": len(found),
            "attributionToken": "local",
        }
        return page | ({"nextPageToken": str(start + size)} if len(found) > start + size else {})

    def _store(self, kind: str, key: str) -> DataStore:
        name = self._engines.get(key) if kind == "engines" else key
        if name not in self._stores:
            what = "Engine" if kind == "engines" else "DataStore"
            raise ApiError("NOT_FOUND", f"{what} {key} not found.")
        store = self._stores[name]
        with self._loading:
            if name in self._contents:
                branch = f"projects/local/locations/global/collections/default_collection/dataStores/{name}/branches/0"
                with suppress(NotImported):
                    self._operations.run(store, store.contents([self._contents[name]]), branch=branch)
                    del self._contents[name]
        return store

    def _require(self, request: Request, permission: str, resource: str) -> None:
        if not self._policy.allows(self._member(request), permission):
            text = f"Permission '{permission}' denied on resource '//discoveryengine.googleapis.com/{resource}' "
            raise ApiError("PERMISSION_DENIED", f"{text}(or it may not exist).", reason="IAM_PERMISSION_DENIED")

    def _member(self, request: Request) -> str:
        try:
            email = self._accounts.email(request)
        except UnknownToken:
            email = None
        if email is None:
            text = "Request had invalid authentication credentials. Expected OAuth 2 access token."
            raise ApiError("UNAUTHENTICATED", text)
        return member(email)

    def _administered(self, request: Request) -> Response:
        """Answer gcloud's requests to Resource Manager and Service Usage."""
        try:
            if not self._policy.administers(self._member(request)):
                raise ApiError("PERMISSION_DENIED", "The caller does not have permission.")
        except ApiError as error:
            return error.response()
        if request.path.endswith(":enable"):
            self.faults.switch_off(DISABLED)
            return accounts.enablement(request)
        if (policy := accounts.submitted_policy(request)) is not None:
            self._granted = policy
            self.faults.switch_off(DENIED)
            self._policy = policy
        return json_response(self._policy.resource())

    def _changed(self, name: str, parameters: Mapping[str, Any] | None) -> None:
        if name == DENIED:
            self._policy = self._granted if parameters is None else self._granted.without_viewers()


def main() -> None:
    """Serve until stopped by a signal."""
    parser = CommandLine("discovery_engine")
    parser.add_argument("--storage", required=True, help="the address of Cloud Storage's stand-in")
    parser.add_tokens()
    parser.add_list("--admin", "an account that may do everything")
    parser.add_list("--viewer", "an account that may search")
    parser.add_list("--store", "and its content", metavar="ID[=gs://BUCKET/*]")
    parser.add_list("--engine", "an engine over a store", metavar="ID=STORE")
    given = parser.parse_args()
    service = DiscoveryEngine(
        [each.partition("=")[0] for each in given.store],
        storage_url=given.storage,
        issuers=given.issuer,
        tokens=pairs(given.token),
        admins=given.admin,
        viewers=given.viewer,
        engines=pairs(given.engine),
        contents=dict(each.split("=", 1) for each in given.store if "=" in each),
    )
    serve(recorded(service.handle), name="discovery_engine", port=given.port)


if __name__ == "__main__":
    main()
