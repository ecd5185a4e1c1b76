"""Imports as long-running operations (google.longrunning): started at once, done after a while, with their progress."""

from __future__ import annotations

import datetime
import secrets
import threading
from collections.abc import Sequence
from typing import Any

from local.cloud.data_store import DataStore, Json, NotImported

_TYPES = "type.googleapis.com/google.cloud.discoveryengine.v1"
_INVALID_ARGUMENT = 3
_MOST_SAMPLES = 10


class ImportOperations:
    """The imports of one process. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._operations: dict[str, Json] = {}

    def get(self, name: str) -> Json | None:
        """The operation as it is now; None where there is none."""
        with self._lock:
            return self._operations.get(name)

    def start(self, store: DataStore, documents: Sequence[Json], *, branch: str) -> Json:
        """The operation that imports `documents` into `store` from now on."""
        name = f"{branch}/operations/import-documents-{secrets.randbits(64)}"
        operation = self._written(name, documents, good=0, errors=[], done=False)
        work = threading.Thread(target=self._run, args=(name, store, documents, branch), daemon=True)
        work.start()
        return operation

    def run(self, store: DataStore, documents: Sequence[Json], *, branch: str) -> None:
        """Imports `documents` before it returns."""
        self._run(f"{branch}/operations/first", store, documents, branch)

    def _run(self, name: str, store: DataStore, documents: Sequence[Json], branch: str) -> None:
        good, errors = 0, []
        for document in documents:
            try:
                store.put(document, name=f"{branch}/documents/{document['id']}")
                good += 1
            except NotImported as error:
                errors.append(str(error))
            self._written(name, documents, good=good, errors=errors, done=False)
        self._written(name, documents, good=good, errors=errors, done=True)

    def _written(
        self, name: str, documents: Sequence[Json], *, good: int, errors: list[str], done: bool
    ) -> Json:
        now = datetime.datetime.now(tz=datetime.UTC).isoformat()
        metadata = {
            "@type": f"{_TYPES}.ImportDocumentsMetadata",
            "createTime": now,
            "updateTime": now,
            "successCount": str(good),
            "failureCount": str(len(errors)),
            "totalCount": str(len(documents)),
        }
        operation: dict[str, Any] = {"name": name, "metadata": metadata, "done": done}
        if done:
            samples = [{"code": _INVALID_ARGUMENT, "message": each} for each in errors[:_MOST_SAMPLES]]
            operation["response"] = {"@type": f"{_TYPES}.ImportDocumentsResponse", "errorSamples": samples}
        with self._lock:
            self._operations[name] = operation
        return operation
