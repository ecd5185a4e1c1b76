"""The buckets of the Cloud Storage stand-in: IAM policies, objects with generations, in memory."""

import base64
import datetime
import hashlib
import itertools
import mimetypes
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from functions.docqa.ingestion.files import MEDIA_TYPES
from local.cloud.policies import Policy

_ETAG = "CAE="


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredObject:
    """One generation of an object."""

    bucket: str
    name: str
    content: bytes
    content_type: str
    generation: int
    created: str
    metadata: Mapping[str, str] = field(default_factory=dict)

    @property
    def hashes(self) -> dict[str, str]:
        """The `crc32c` and `md5` in base64, as the API writes them."""
        import google_crc32c

        checksum = int(google_crc32c.value(self.content)).to_bytes(4, "big")
        digest = hashlib.md5(self.content, usedforsecurity=False).digest()
        return {name: base64.b64encode(value).decode() for name, value in (("crc32c", checksum), ("md5", digest))}

    def resource(self, host: str) -> dict[str, Any]:
        """Return the object's metadata (cloud.google.com/storage/docs/json_api/v1/objects)."""
        link = f"{host}/storage/v1/b/{self.bucket}/o/{quote(self.name, safe='')}"
        hashes = self.hashes
        return {
            "kind": "storage#object",
            "id": f"{self.bucket}/{self.name}/{self.generation}",
            "selfLink": link,
            "mediaLink": f"{link.replace('/storage/', '/download/storage/', 1)}?generation={self.generation}&alt=media",
            "name": self.name,
            "bucket": self.bucket,
            "generation": str(self.generation),
            "metageneration": "1",
            "contentType": self.content_type,
            "storageClass": "STANDARD",
            "size": str(len(self.content)),
            "md5Hash": hashes["md5"],
            "crc32c": hashes["crc32c"],
            "etag": _ETAG,
            "timeCreated": self.created,
            "updated": self.created,
            "metadata": dict(self.metadata),
        }


class Bucket:
    """A bucket, of whose objects earlier generations stay with `versioning`. Thread-safe."""

    def __init__(self, name: str, *, versioning: bool = False) -> None:
        self.name = name
        self.policy = Policy()
        self._lock = threading.Lock()
        self._generations = itertools.count(int(time.time() * 1_000_000))
        self._objects: dict[str, StoredObject] = {}
        self._versioning = versioning
        self._earlier: list[StoredObject] = []

    def get(self, name: str, generation: int | None = None) -> StoredObject | None:
        """Return the object, None where there is none, or no longer this generation of it."""
        if generation is None:
            return self._objects.get(name)
        return next((each for each in self.listed(name, versions=True) if each.generation == generation), None)

    def put(
        self, name: str, content: bytes, *, content_type: str | None = None, metadata: Mapping[str, str] | None = None
    ) -> StoredObject:
        """Store a new generation of the object, and return it."""
        created = datetime.datetime.now(tz=datetime.UTC)
        with self._lock:
            stored = StoredObject(
                bucket=self.name,
                name=name,
                content=content,
                content_type=content_type or "application/octet-stream",
                generation=next(self._generations),
                created=created.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
                metadata=dict(metadata or {}),
            )
            if self._versioning and name in self._objects:
                self._earlier.append(self._objects[name])
            self._objects[name] = stored
        return stored

    def delete(self, name: str) -> None:
        """Delete the object, if there is one."""
        with self._lock:
            self._objects.pop(name, None)

    def listed(self, prefix: str, *, versions: bool = False) -> list[StoredObject]:
        """Return the objects whose names begin so, in the order of their names; with `versions`, all their generations."""
        with self._lock:
            held = [*(self._earlier if versions else ()), *self._objects.values()]
            found = [each for each in held if each.name.startswith(prefix)]
            return sorted(found, key=lambda each: (each.name, each.generation))

    def load(self, folder: Path) -> None:
        """Store every file of `folder`."""
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                kind = MEDIA_TYPES.get(path.suffix.lower()) or mimetypes.guess_type(path.name)[0]
                self.put(path.relative_to(folder).as_posix(), path.read_bytes(), content_type=kind)
