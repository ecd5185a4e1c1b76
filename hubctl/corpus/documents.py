"""The documents of a folder, of the bucket and of the data store, and where they differ. Nothing is sent here."""

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from a2a_hub.settings.reader import Settings, SettingsError
from functions.docqa.cloud.config import LOCATIONS, search_host
from functions.docqa.ingestion.blocks import Unreadable
from functions.docqa.ingestion.child import read_all
from functions.docqa.ingestion.files import MEDIA_TYPES, corpus_files, read_bytes, unread
from functions.docqa.model import Edition, Skipped
from functions.docqa.retrieval.access import FILE_NAME, AccessRules
from hubctl.main import CommandError

# Of text-based formats (discoveryengine.v1.Document.Content.uri).
MAX_TEXT_BYTES = 2_500_000


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
        """Return the URI of the object that holds a document of the corpus."""
        return f"gs://{self.bucket}/{self.prefix}{path}"


def document_id(uri: str) -> str:
    """Return the id that Discovery Engine gives to a document imported from `uri`: half of the SHA-256 of the URI."""
    return hashlib.sha256(uri.encode()).hexdigest()[:32]


def target_from(given: Mapping[str, str | None], environment: Mapping[str, str]) -> Target:
    """Return the target; options win over the environment. Raises CommandError with everything that is missing."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalFile:
    """A document of the folder. `md5` is in base64, as Cloud Storage writes it."""

    path: str
    file: Path
    title: str
    md5: str
    edition: Edition

    @property
    def media_type(self) -> str:
        """The object's content type in Cloud Storage."""
        return MEDIA_TYPES[self.file.suffix.lower()]


def local_files(folder: Path) -> tuple[list[LocalFile], list[Skipped]]:
    """Return the documents in `folder`, and the files that document QA cannot read, with reasons. Raises CommandError."""
    if not folder.is_dir():
        raise CommandError(f"{folder} is not a folder")
    found: list[LocalFile] = []
    skipped: list[Skipped] = []
    files = dict(corpus_files(folder))
    digests: dict[str, str] = {}
    for document in read_all(_contents(folder, files, digests, skipped)):
        if isinstance(document, Skipped):
            skipped.append(document)
        else:
            path = document.path
            found.append(
                LocalFile(
                    path=path, file=files[path], title=document.title, md5=digests[path], edition=document.edition
                )
            )
    if not found:
        reasons = "".join(f"\n  {each.path}: {each.reason}" for each in skipped)
        raise CommandError(f"{folder} holds no document that can be pushed: {', '.join(MEDIA_TYPES)} are{reasons}")
    return found, sorted(skipped, key=lambda each: each.path)


def _contents(
    folder: Path, files: Mapping[str, Path], digests: dict[str, str], skipped: list[Skipped]
) -> Iterator[tuple[str, str, bytes]]:
    """Yield the files that a data store takes, and take note of their digests and of the others."""
    access = AccessRules(folder)
    for path, file in files.items():
        suffix = file.suffix.lower()
        if file.name == FILE_NAME:
            continue
        if access.of(path, file):
            skipped.append(Skipped(path, f"{FILE_NAME} names who may read it, and a data store shows it to everybody"))
            continue
        if left_out := unread(path):
            skipped.append(left_out)
            continue
        if suffix not in MEDIA_TYPES:
            skipped.append(Skipped(path, f"a data store does not take this kind of file ({suffix})"))
            continue
        try:
            content = read_bytes(file, corpus_dir=folder)
        except Unreadable as error:
            skipped.append(Skipped(path, str(error)))
            continue
        if len(content) > MAX_TEXT_BYTES and MEDIA_TYPES[suffix].startswith("text/"):
            skipped.append(Skipped(path, f"{len(content)} bytes: a data store takes {MAX_TEXT_BYTES} of text"))
            continue
        digests[path] = base64.b64encode(hashlib.md5(content, usedforsecurity=False).digest()).decode()
        yield path, path, content
    skipped += access.problems()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredObject:
    """An object of the corpus, `path` being its name without the corpus's prefix."""

    path: str
    md5: str | None
    generation: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedDocument:
    """A document of the data store. `md5` is that of the content it was imported with, as far as `corpus push` imported it."""

    id: str
    uri: str
    md5: str | None
    is_indexed: bool
    errors: tuple[str, ...] = ()


class State(StrEnum):
    """The state of a document. Only OK needs nothing."""

    OK = "ok"
    NOT_UPLOADED = "not uploaded"
    CHANGED = "changed here"
    NOT_IMPORTED = "not imported"
    OUT_OF_DATE = "imported before its last change"
    WAITS = "not indexed yet"
    FAILED = "not indexed"
    NO_SOURCE = "in the data store, but not in the bucket"
    NOT_HERE = "not in the folder"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The state of one document, with a detail where there is one."""

    uri: str
    state: State
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The changes that make bucket and data store agree with the folder. Documents that are only there stay, unless pruned."""

    upload: tuple[LocalFile, ...]
    index: tuple[LocalFile, ...]
    surplus_objects: tuple[StoredObject, ...]
    surplus_documents: tuple[IndexedDocument, ...]


def plan(
    target: Target, files: Sequence[LocalFile], objects: Iterable[StoredObject], documents: Iterable[IndexedDocument]
) -> Plan:
    """Return the uploads and imports that are left to do; the work of an earlier push is left out."""
    stored = {each.path: each for each in objects}
    indexed = {each.id: each for each in _of_corpus(target, documents)}
    wanted = {document_id(target.uri(each.path)): each for each in files}
    paths = {each.path for each in files}
    return Plan(
        upload=tuple(each for each in files if each.path not in stored or stored[each.path].md5 != each.md5),
        index=tuple(each for key, each in wanted.items() if key not in indexed or indexed[key].md5 != each.md5),
        surplus_objects=tuple(each for path, each in stored.items() if path not in paths),
        # Among them those that were imported another way under another id, and so would be found twice.
        surplus_documents=tuple(each for key, each in indexed.items() if key not in wanted),
    )


def standings(
    target: Target,
    files: Sequence[LocalFile] | None,
    objects: Iterable[StoredObject],
    documents: Iterable[IndexedDocument],
) -> list[Standing]:
    """Return the state of every document of the corpus, by URI; `files` is None when no folder takes part."""
    stored = {target.uri(each.path): each for each in objects}
    indexed = {each.uri: each for each in _of_corpus(target, documents)}
    here = {target.uri(each.path): each for each in files} if files is not None else None
    uris = sorted({*stored, *indexed, *(here or ())})
    return [_standing(uri, here, stored.get(uri), indexed.get(uri)) for uri in uris]


def _standing(
    uri: str, here: Mapping[str, LocalFile] | None, stored: StoredObject | None, document: IndexedDocument | None
) -> Standing:
    if here is not None and uri not in here:
        return Standing(uri=uri, state=State.NOT_HERE)
    if stored is None:
        return Standing(uri=uri, state=State.NO_SOURCE if document else State.NOT_UPLOADED)
    if here is not None and here[uri].md5 != stored.md5:
        return Standing(uri=uri, state=State.CHANGED)
    if document is None:
        return Standing(uri=uri, state=State.NOT_IMPORTED)
    if document.errors:
        return Standing(uri=uri, state=State.FAILED, detail=document.errors[0])
    if document.md5 is not None and document.md5 != stored.md5:
        return Standing(uri=uri, state=State.OUT_OF_DATE)
    return Standing(uri=uri, state=State.OK if document.is_indexed else State.WAITS)


def _of_corpus(target: Target, documents: Iterable[IndexedDocument]) -> list[IndexedDocument]:
    """Return the documents of this corpus; a data store may hold others."""
    return [each for each in documents if each.uri.startswith(target.uri(""))]
