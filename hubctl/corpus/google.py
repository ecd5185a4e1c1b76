"""The bucket and the data store, through Google's own libraries: import this module only when a corpus is worked on."""

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import google.auth
import requests
from google.api_core import exceptions as api
from google.api_core.client_options import ClientOptions
from google.auth.exceptions import GoogleAuthError
from google.cloud import discoveryengine_v1, storage
from google.cloud.storage.retry import DEFAULT_RETRY
from google.oauth2.credentials import Credentials
from msgspec import to_builtins

from functions.docqa.cloud.evidence import EDITION_FIELD, MD5_FIELD
from hubctl.connection import NO_CREDENTIALS
from hubctl.corpus.documents import IndexedDocument, LocalFile, StoredObject, Target, document_id
from hubctl.main import CommandError

_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_SECONDS = 60.0
_RETRY_SECONDS = 30.0
_CHUNK_TOKENS = 500
_REFUSALS = Path(__file__).with_name("refusals.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """The progress of an import. `errors` are the service's own words, for the operator."""

    done: bool
    succeeded: int
    failed: int
    errors: tuple[str, ...] = ()


class Corpus:
    """The bucket and data store at `target`. Every method raises CommandError with a fix where Google refuses."""

    def __init__(self, target: Target, *, environment: Mapping[str, str]) -> None:
        self._target = target
        with self._explained():
            credentials = _credentials(environment)
            options = ClientOptions(api_endpoint=target.search_endpoint, quota_project_id=target.project)
            self._documents = discoveryengine_v1.DocumentServiceClient(
                credentials=credentials, transport="rest", client_options=options
            )
            self._stores = discoveryengine_v1.DataStoreServiceClient(
                credentials=credentials, transport="rest", client_options=options
            )
            endpoint = target.storage_endpoint
            self._storage = storage.Client(
                project=target.project,
                credentials=credentials,
                client_options={"api_endpoint": endpoint} if endpoint else None,
            )
        self._bucket = self._storage.bucket(target.bucket)
        self._limits = {"timeout": _SECONDS, "retry": DEFAULT_RETRY.with_timeout(_RETRY_SECONDS)}

    def close(self) -> None:
        """Close the connections."""
        self._documents.transport.close()  # type: ignore[no-untyped-call]
        self._stores.transport.close()  # type: ignore[no-untyped-call]
        self._storage.close()

    def has_store(self) -> bool:
        """Return True if the data store exists."""
        with self._explained():
            try:
                self._stores.get_data_store(name=self._target.store, timeout=_SECONDS)
            except api.NotFound:
                return False
        return True

    def start_store(self) -> str:
        """Start to make the data store, with the layout parser and chunks, and return the name of the operation."""
        config = discoveryengine_v1.DocumentProcessingConfig
        chunking = config.ChunkingConfig.LayoutBasedChunkingConfig(
            chunk_size=_CHUNK_TOKENS, include_ancestor_headings=True
        )
        parsing = config.ParsingConfig(layout_parsing_config=config.ParsingConfig.LayoutParsingConfig())
        store = discoveryengine_v1.DataStore(
            display_name=self._target.data_store,
            industry_vertical=discoveryengine_v1.IndustryVertical.GENERIC,
            solution_types=[discoveryengine_v1.SolutionType.SOLUTION_TYPE_SEARCH],
            content_config=discoveryengine_v1.DataStore.ContentConfig.CONTENT_REQUIRED,
            document_processing_config=config(
                chunking_config=config.ChunkingConfig(layout_based_chunking_config=chunking),
                default_parsing_config=parsing,
            ),
        )
        with self._explained(making=True):
            started = self._stores.create_data_store(
                parent=self._target.store.rpartition("/dataStores/")[0],
                data_store=store,
                data_store_id=self._target.data_store,
                timeout=_SECONDS,
            )
        return str(started.operation.name)

    def is_store_made(self, operation: str) -> bool:
        """Return True once the data store is there. Raises CommandError if it could not be made."""
        with self._explained(making=True):
            state = self._stores.get_operation({"name": operation}, timeout=_SECONDS)
        if state.HasField("error"):
            raise CommandError(f"the data store {self._target.data_store} was not made: {state.error.message}")
        return bool(state.done)

    def objects(self) -> list[StoredObject]:
        """Return the documents in the bucket."""
        prefix = self._target.prefix
        with self._explained():
            return [
                StoredObject(path=blob.name.removeprefix(prefix), md5=blob.md5_hash, generation=blob.generation)
                for blob in self._storage.list_blobs(self._bucket, prefix=prefix, **self._limits)
                if not blob.name.endswith("/")
            ]

    def documents(self) -> list[IndexedDocument]:
        """Return the documents in the data store, including those outside the corpus."""
        with self._explained():
            request = discoveryengine_v1.ListDocumentsRequest(parent=self._target.branch, page_size=1000)
            return [_indexed(each) for each in self._documents.list_documents(request, timeout=_SECONDS)]

    def upload(self, file: LocalFile, *, replaces: int) -> None:
        """Upload the file. `replaces` is the object's generation, 0 for none: nobody else's change is overwritten."""
        with self._explained():
            self._bucket.blob(self._target.prefix + file.path).upload_from_filename(
                file.file, content_type=file.media_type, if_generation_match=replaces, **self._limits
            )

    def start_import(self, files: Sequence[LocalFile]) -> str:
        """Start an import of at most 100 documents and return the name of its operation."""
        documents = [
            discoveryengine_v1.Document(
                id=document_id(uri := self._target.uri(file.path)),
                # It takes Markdown only as text.
                content=discoveryengine_v1.Document.Content(
                    uri=uri, mime_type=file.media_type.replace("markdown", "plain")
                ),
                # With these docqa tells an object that has changed, and a document that is no longer in force.
                struct_data={"title": file.title, MD5_FIELD: file.md5, EDITION_FIELD: to_builtins(file.edition)},
            )
            for file in files
        ]
        request = discoveryengine_v1.ImportDocumentsRequest(
            parent=self._target.branch,
            inline_source=discoveryengine_v1.ImportDocumentsRequest.InlineSource(documents=documents),
            reconciliation_mode=discoveryengine_v1.ImportDocumentsRequest.ReconciliationMode.INCREMENTAL,
        )
        with self._explained():
            return str(self._documents.import_documents(request, timeout=_SECONDS).operation.name)

    def imported(self, operation: str) -> Imported:
        """Return the progress of the import."""
        with self._explained():
            state = self._documents.get_operation({"name": operation}, timeout=_SECONDS)
        metadata = discoveryengine_v1.ImportDocumentsMetadata.pb()()
        response = discoveryengine_v1.ImportDocumentsResponse.pb()()
        state.metadata.Unpack(metadata)
        state.response.Unpack(response)
        errors = [each.message for each in response.error_samples]
        if state.HasField("error"):
            errors.append(state.error.message)
        return Imported(
            done=state.done, succeeded=metadata.success_count, failed=metadata.failure_count, errors=tuple(errors)
        )

    def delete_object(self, each: StoredObject) -> None:
        """Delete the object, unless somebody replaced it in the meantime."""
        with self._explained():
            blob = self._bucket.blob(self._target.prefix + each.path)
            blob.delete(if_generation_match=each.generation, **self._limits)

    def delete_document(self, each: IndexedDocument) -> None:
        """Delete the document from the data store."""
        with self._explained():
            name = f"{self._target.branch}/documents/{each.id}"
            self._documents.delete_document(name=name, timeout=_SECONDS)

    @contextmanager
    def _explained(self, *, making: bool = False) -> Iterator[None]:
        try:
            yield
        except (api.GoogleAPIError, GoogleAuthError, requests.RequestException) as error:
            role = "admin" if making else "editor"
            raise CommandError(explained(error, self._target, role=f"roles/discoveryengine.{role}")) from None


def _credentials(environment: Mapping[str, str]) -> Any:
    """Return the credentials of CLOUDSDK_AUTH_ACCESS_TOKEN, as gcloud reads it, else Application Default Credentials."""
    make: Callable[..., Any] = Credentials
    if token := environment.get("CLOUDSDK_AUTH_ACCESS_TOKEN"):
        return make(token)
    return google.auth.default(scopes=[_SCOPE])[0]


def _indexed(document: Any) -> IndexedDocument:
    fields = dict(document.struct_data or {})
    status = document.index_status
    return IndexedDocument(
        id=document.id,
        uri=document.content.uri,
        md5=str(fields[MD5_FIELD]) if fields.get(MD5_FIELD) else None,
        is_indexed=bool(document.index_time or status.index_time),
        errors=tuple(each.message for each in status.error_samples),
    )


def explained(error: Exception, target: Target, *, role: str = "roles/discoveryengine.editor") -> str:
    """Explain the failure and name the command that fixes it."""
    cause = getattr(error, "cause", None)
    if isinstance(error, api.RetryError) and isinstance(cause, Exception):
        error = cause
    service = "storage" if _is_storage(error) else "discoveryengine"
    if isinstance(error, GoogleAuthError | api.Unauthorized):
        return NO_CREDENTIALS
    if isinstance(error, api.GoogleAPICallError) and error.code is not None:
        seen = {"code": int(error.code), "service": service, "reason": error.reason}
        fixes = tomllib.loads(_REFUSALS.read_text(encoding="utf-8"))["refusals"]
        fix = next(row["fix"] for row in fixes if row["when"].items() <= seen.items())
        return str(fix.format_map({**asdict(target), **seen, "role": role}))
    if isinstance(error, requests.RequestException | api.GoogleAPIError):
        return f"no answer from {service}.googleapis.com: run the command again; what is done stays done"
    return f"{type(error).__name__} of {service}.googleapis.com: run the command again"


def _is_storage(error: Exception) -> bool:
    """Return True for a failure of Cloud Storage: both libraries raise the same exceptions, and only their responses differ."""
    response = getattr(error, "response", None)
    request = getattr(response, "request", None) or getattr(error, "request", None)
    return "/storage/v1/" in str(getattr(request, "url", ""))
