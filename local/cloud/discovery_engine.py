"""Discovery Engine's REST API, as google-cloud-discoveryengine speaks it.

It searches the documents that were imported, which it reads from Cloud Storage's stand-in as the service's own account.
Ranking is BM25 (`data_store`): unlike the real service it knows no synonyms, no other language, and no delay.
"""

import datetime
import re
import secrets
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import unquote

from a2a_hub.http.messages import Request, Response
from local.cloud.accounts import Accounts
from local.cloud.buckets import Bucket
from local.cloud.data_store import DataStore, Json, NotImported, terms
from local.cloud.google_api import ProjectApi
from local.cloud.policies import ADMIN, CHECK, SEARCH, VIEWER
from local.cloud.program import ApiError, json_body, json_response

DENIED, DISABLED = "deny-search", "service-disabled"
UNCHUNKED, STANDARD = "without-chunks", "standard-edition"
_OF_STORE = re.compile(r"/v1/(projects/[^/]+/locations/[^/]+(?:/collections/[^/]+)?/(dataStores|engines)/([^/]+))/(.+)")
_STORES = re.compile(r"/v1/(projects/[^/]+/locations/[^/]+/collections/[^/]+)/dataStores(?:/([^/:]+))?")
_MAKING = re.compile(r"/v1/projects/[^/]+/locations/[^/]+/collections/[^/]+/operations/create-data-store-(.+)")
_DOCUMENT = re.compile(r"(branches/[^/]+)/documents/([^/:]+)")
_CHECKED = re.compile(r"/v1/(projects/[^/]+/locations/global/groundingConfigs/default_grounding_config):check")
_MAX_RESULTS = 100
_CHUNKS = 2  # Google's REST clients send the numbers of enums
_TYPES = "type.googleapis.com/google.cloud.discoveryengine.v1"
_INVALID_ARGUMENT = 3
_MAX_SAMPLES = 10


class DiscoveryEngine(ProjectApi):
    """The data stores of one project, with the ids `stores`; `engines` are other names of them.

    `contents` are the objects of Cloud Storage that a store holds from the first request on.
    """

    service = "discoveryengine.googleapis.com"
    user_role, admin_role = VIEWER, ADMIN
    faults_of, denied_fault, disabled_fault = "discovery-engine", DENIED, DISABLED

    def __init__(
        self,
        stores: Sequence[str],
        *,
        buckets: Sequence[Bucket],
        accounts: Accounts,
        viewers: Sequence[str],
        engines: Mapping[str, str] | None = None,
        contents: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(users=viewers, accounts=accounts)
        self._buckets = buckets
        self._stores = {name: DataStore(buckets) for name in stores}
        self._made: dict[str, Json] = {}
        self._engines = dict(engines or {})
        self._contents = dict(contents or {})
        self._loading = threading.Lock()
        self._operations: dict[str, Json] = {}

    def _answer(self, request: Request) -> Response:
        self._require_enabled()
        return json_response(self._resource(request))

    def _resource(self, request: Request) -> Any:
        if match := _STORES.fullmatch(request.path):
            return self._data_store(request, *match.groups())
        if match := _MAKING.fullmatch(request.path):
            self._require(request, "discoveryengine.operations.get", request.path)
            return {"name": request.path.removeprefix("/v1/"), "done": match[1] in self._stores}
        if match := _CHECKED.fullmatch(request.path):
            self._require(request, CHECK, match[1])
            return _checked(json_body(request))
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
            if (name := request.path.removeprefix("/v1/")) not in self._operations:
                raise ApiError("NOT_FOUND", "Operation not found.")
            return self._operations[name]
        return self._documents(request, self._store(kind, key), parent, rest)

    def _data_store(self, request: Request, parent: str, name: str | None) -> Any:
        """Answer a request for a data store, or start to make one."""
        verb = "create" if request.method == "POST" else "get"
        self._require(request, f"discoveryengine.dataStores.{verb}", f"{parent}/dataStores")
        if request.method == "GET" and name in self._stores:
            return {**self._made.get(name or "", {}), "name": f"{parent}/dataStores/{name}"}
        if request.method != "POST":
            raise ApiError("NOT_FOUND", f"DataStore {parent}/dataStores/{name} not found.")
        made = request.parameter("dataStoreId") or ""
        if made in self._stores:
            raise ApiError("ALREADY_EXISTS", f"DataStore {made} already exists.")
        self._made[made] = json_body(request)
        self._stores[made] = DataStore(self._buckets)
        return {"name": f"{parent}/operations/create-data-store-{made}", "done": False}

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
            page: Json = {"documents": documents[start : start + size]}
            if len(documents) > start + size:
                page["nextPageToken"] = str(start + size)
            return page
        if request.method == "POST" and rest == f"{branch}/documents:import":
            return self._import(json_body(request), store, f"{parent}/{branch}")
        raise ApiError("NOT_FOUND", "The requested URL was not found on this server.")

    def _import(self, body: Json, store: DataStore, branch: str) -> Any:
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
        name = f"{branch}/operations/import-documents-{secrets.randbits(64)}"
        self._operations[name] = _operation(name, total=len(documents))
        threading.Thread(target=self._run_import, args=(name, documents, store, branch), daemon=True).start()
        return self._operations[name]

    def _run_import(self, name: str, documents: Sequence[Json], store: DataStore, branch: str) -> None:
        errors: list[str] = []
        for done, document in enumerate(documents, start=1):
            try:
                store.put(document, name=f"{branch}/documents/{document['id']}")
            except NotImported as error:
                errors.append(str(error))
            self._operations[name] = _operation(name, total=len(documents), done=done, errors=errors)
        samples = [{"code": _INVALID_ARGUMENT, "message": each} for each in errors[:_MAX_SAMPLES]]
        response = {"@type": f"{_TYPES}.ImportDocumentsResponse", "errorSamples": samples}
        self._operations[name] = {**self._operations[name], "done": True, "response": response}

    def _search(self, request: Request, store: DataStore) -> Any:
        body = json_body(request)
        query, spec = str(body.get("query", "")), body.get("contentSearchSpec", {})
        in_chunks = spec.get("searchResultMode") in ("CHUNKS", _CHUNKS)
        has_chunks = UNCHUNKED not in self.faults and STANDARD not in self.faults
        if problem := self._refused(spec, in_chunks=in_chunks, has_chunks=has_chunks):
            raise ApiError("INVALID_ARGUMENT", problem)
        found = store.search_chunks(query) if in_chunks else store.search(query)
        size = min(_MAX_RESULTS, int(body.get("pageSize") or 10))
        start = int(body.get("pageToken") or body.get("offset") or 0)
        page = {
            "results": [
                store.shown_chunk(key) if in_chunks else store.shown(key, query, spec)
                for key in found[start : start + size]
            ],
            "totalSize": len(found),
            "attributionToken": "local",
        }
        return page | ({"nextPageToken": str(start + size)} if len(found) > start + size else {})

    def _refused(self, spec: Mapping[str, Any], *, in_chunks: bool, has_chunks: bool) -> str:
        if in_chunks and not has_chunks:
            return "search_result_mode CHUNKS needs a data store with a chunking config."
        if spec.get("extractiveContentSpec") and has_chunks:
            return "`extractive_content_spec` must be not defined when the datastore is using 'chunking config'"
        if spec.get("extractiveContentSpec") and STANDARD in self.faults:
            return "Cannot use enterprise edition features (website search, extractive answers…) in a standard edition"
        return ""

    def _store(self, kind: str, key: str) -> DataStore:
        name = self._engines.get(key) if kind == "engines" else key
        if name not in self._stores:
            what = "Engine" if kind == "engines" else "DataStore"
            raise ApiError("NOT_FOUND", f"{what} {key} not found.")
        store = self._stores[name]
        self.load()
        return store

    def load(self) -> None:
        """Import the contents that a store holds from the first request on, as far as Cloud Storage gives them out."""
        with self._loading:
            for name, uri in list(self._contents.items()):
                branch = f"projects/local/locations/global/collections/default_collection/dataStores/{name}/branches/0"
                with suppress(NotImported):
                    documents = self._stores[name].contents([uri])
                    del self._contents[name]
                    for document in documents:
                        with suppress(NotImported):
                            self._stores[name].put(document, name=f"{branch}/documents/{document['id']}")


def _operation(name: str, *, total: int, done: int = 0, errors: Sequence[str] = ()) -> Json:
    now = datetime.datetime.now(tz=datetime.UTC).isoformat()
    counts = {"successCount": done - len(errors), "failureCount": len(errors), "totalCount": total}
    metadata = {"@type": f"{_TYPES}.ImportDocumentsMetadata", "createTime": now, "updateTime": now}
    return {"name": name, "metadata": metadata | {key: str(count) for key, count in counts.items()}, "done": False}


def _checked(body: Mapping[str, Any]) -> Json:
    """Return the answer as one claim with the facts that have nearly all of its words; the real service understands them."""
    claim, threshold = str(body.get("answerCandidate", "")), 0.9
    wanted = set(terms(claim))
    facts = [str(fact.get("factText", "")) for fact in body.get("facts", ())]
    said = [len(wanted & set(terms(fact))) / (len(wanted) or 1) for fact in facts]
    cited = [index for index, share in enumerate(said) if share >= threshold]
    return {
        "supportScore": max(said, default=0.0),
        "citedChunks": [{"chunkText": facts[index], "source": str(index)} for index in cited],
        "claims": [
            {
                "startPos": 0,
                "endPos": len(claim.encode()),
                "claimText": claim,
                "citationIndices": list(range(len(cited))),
                "groundingCheckRequired": True,
            }
        ],
    }
