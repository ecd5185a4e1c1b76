"""A line to Firestore that counts what Google bills: documents read and written.

cloud.google.com/firestore/docs/pricing: a query costs one read at least; a listener one for each document that it hears of; an
aggregation one for a thousand index entries.
"""

import threading
from collections import Counter
from typing import Any

from google.cloud.firestore_v1.types import (
    BatchGetDocumentsResponse,
    CommitRequest,
    ListenResponse,
    RunQueryResponse,
)

from tests.fakes.grpc_proxy import GrpcProxy


class FirestoreMeter(GrpcProxy):
    """Counts `reads` and `writes`; `written` by collection."""

    def __init__(self, target: str) -> None:
        super().__init__(target, {})
        self._lock = threading.Lock()
        self._heard: set[tuple[str, str]] = set()
        self.reads = 0
        self.writes = 0
        self.written: Counter[str] = Counter()

    def pass_on(self, name: str, request: bytes) -> bytes:
        if name == "Commit":
            for write in CommitRequest.deserialize(request).writes:
                with self._lock:
                    self.writes += 1
                    path = (write.update.name or write.delete).partition("/documents/")[2]
                    self.written[path.split("/")[-2]] += 1
        return request

    def look_at(self, name: str, response: bytes) -> None:
        match name:
            case "BatchGetDocuments":
                message: Any = BatchGetDocumentsResponse.deserialize(response)
                self._add(bool(message.found.name or message.missing))
            case "RunQuery":
                # A query without a result answers once, too.
                answer = RunQueryResponse.deserialize(response)
                self._add(bool(answer.document.name or not answer.done))
            case "RunAggregationQuery":
                self._add(1)
            case "Listen":
                document = ListenResponse.deserialize(response).document_change.document
                with self._lock:
                    # The emulator lists all documents again after a change; Firestore tells of the changed ones.
                    heard = (document.name, str(document.update_time))
                    new = bool(document.name) and heard not in self._heard
                    self._heard.add(heard)
                    self.reads += new

    def _add(self, reads: int) -> None:
        with self._lock:
            self.reads += reads
