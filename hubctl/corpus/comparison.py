"""What stands in the folder, in the bucket and in the data store, and where they differ. Nothing is sent here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from hubctl.corpus.files import LocalFile
from hubctl.corpus.target import Target, document_id


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
    """How a document stands. Only OK needs nothing."""

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
    """How one document stands, with a detail where there is one."""

    uri: str
    state: State
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What makes bucket and data store agree with the folder. What is only there stays, unless it is pruned."""

    upload: tuple[LocalFile, ...]
    index: tuple[LocalFile, ...]
    surplus_objects: tuple[StoredObject, ...]
    surplus_documents: tuple[IndexedDocument, ...]


def plan(
    target: Target,
    files: Sequence[LocalFile],
    objects: Iterable[StoredObject],
    documents: Iterable[IndexedDocument],
) -> Plan:
    """The uploads and imports that are still to be made: whatever an earlier push has done is left out."""
    stored = {each.path: each for each in objects}
    indexed = {each.id: each for each in _of_corpus(target, documents)}
    wanted = {document_id(target.uri(each.path)): each for each in files}
    paths = {each.path for each in files}
    return Plan(
        upload=tuple(each for each in files if each.path not in stored or stored[each.path].md5 != each.md5),
        index=tuple(
            each for key, each in wanted.items() if key not in indexed or indexed[key].md5 != each.md5
        ),
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
    """How every document of the corpus stands, by URI; `files` is None when no folder takes part."""
    stored = {target.uri(each.path): each for each in objects}
    indexed = {each.uri: each for each in _of_corpus(target, documents)}
    here = {target.uri(each.path): each for each in files} if files is not None else None
    uris = sorted({*stored, *indexed, *(here or ())})
    return [_standing(uri, here, stored.get(uri), indexed.get(uri)) for uri in uris]


def _standing(
    uri: str,
    here: Mapping[str, LocalFile] | None,
    stored: StoredObject | None,
    document: IndexedDocument | None,
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
    """A data store may hold other documents too, which are nobody's business here."""
    return [each for each in documents if each.uri.startswith(target.uri(""))]
