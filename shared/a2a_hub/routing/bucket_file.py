"""A file in Cloud Storage: read when it has changed, and replaced only if it is still the one that was read."""

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, urlencode

from msgspec import Struct

from a2a_hub.http.client import ClientResponse, Http, HttpFailure, fetch
from a2a_hub.http.messages import JSON
from a2a_hub.identity.service_tokens import TokenUnavailable

SCHEME = "gs://"
_GOOGLE = "https://storage.googleapis.com"
_SECONDS, _MAX_BYTES, _MAX_VERSIONS = 10.0, 4 << 20, 1000
_PART = "--{0}\r\ncontent-type: {1}\r\n\r\n{2}\r\n"
# The metadata of a version that a rollback made: the generation whose text it holds.
_RESTORES = "restores"


class BucketRefused(OSError):
    """A refused or missing answer. `status` is that of HTTP; 412: the file has changed meanwhile."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(0, message)
        self.status = status


class Stored(Struct, frozen=True, kw_only=True):
    """One generation of the file."""

    generation: int
    text: str


class BucketFile:
    """The object at `gs://BUCKET/NAME`. `access_token` raises TokenUnavailable; `endpoint` is a stand-in for Google's."""

    def __init__(self, uri: str, *, http: Http, access_token: Callable[[], str], endpoint: str | None = None) -> None:
        self.uri = uri
        bucket, _, self._name = uri.removeprefix(SCHEME).partition("/")
        if not uri.startswith(SCHEME) or not bucket or not self._name:
            raise ValueError("write it like gs://bucket/routes.toml")
        self._objects = f"/storage/v1/b/{quote(bucket, safe='')}/o"
        self._generation: int | None = None
        self._base, self._http, self._access_token = endpoint or _GOOGLE, http, access_token

    def read(self, *, generation: int | None = None, unless: int | None = None) -> Stored | None:
        """Return the live generation, or the named one; None if it is `unless`. Raises BucketRefused, UnicodeDecodeError."""
        query = {"alt": "media", "generation": generation, "ifGenerationNotMatch": unless}
        answer, body = self._send("GET", f"{self._objects}/{quote(self._name, safe='')}", query)
        if answer.status == 304:
            return None
        return Stored(generation=int(answer.headers.get("x-goog-generation") or 0), text=body.decode("utf-8"))

    def changed(self) -> str | None:
        """Return the text; None if it is the one that was returned before. Raises BucketRefused, UnicodeDecodeError."""
        stored = self.read(unless=self._generation)
        self._generation = stored.generation if stored else self._generation
        return stored.text if stored else None

    def write(self, text: str, *, replaces: int, restores: int | None = None) -> int:
        """Store the text if the live generation is `replaces`, 0 for none; return the new one. Raises BucketRefused."""
        metadata = {} if restores is None else {_RESTORES: str(restores)}
        resource = json.dumps({"name": self._name, "metadata": metadata})
        boundary = "=a2a-hub="
        while boundary in text:
            boundary += "="
        parts = _PART.format(boundary, JSON, resource) + _PART.format(boundary, "application/toml", text)
        query = {"uploadType": "multipart", "ifGenerationMatch": replaces}
        kind = f'multipart/related; boundary="{boundary}"'
        _, body = self._send("POST", f"/upload{self._objects}", query, f"{parts}--{boundary}--\r\n".encode(), kind)
        return int(json.loads(body)["generation"])

    def before(self) -> tuple[int, int] | None:
        """Return the live generation, and the one to roll back to; None without one. Raises BucketRefused.

        After a rollback that is the one before the restored generation: a second rollback goes further back.
        """
        query = {"prefix": self._name, "versions": "true", "maxResults": _MAX_VERSIONS}
        items: list[dict[str, Any]] = json.loads(self._send("GET", self._objects, query)[1]).get("items", [])
        versions = {int(each["generation"]): each for each in items if each["name"] == self._name}
        live = max(versions, default=0)
        of = int((versions[live].get("metadata") or {}).get(_RESTORES, live)) if live else 0
        earlier = max((each for each in versions if each < of), default=None)
        return None if earlier is None else (live, earlier)

    def _send(
        self, method: str, path: str, query: dict[str, Any], body: bytes | None = None, kind: str = JSON
    ) -> tuple[ClientResponse, bytes]:
        url = f"{self._base}{path}?{urlencode({name: each for name, each in query.items() if each is not None})}"
        try:
            headers = {"authorization": f"Bearer {self._access_token()}"} | ({"content-type": kind} if body else {})
            answer, content = fetch(
                self._http, method, url, headers=headers, body=body, seconds=_SECONDS, max_bytes=_MAX_BYTES
            )
        except TokenUnavailable:
            raise BucketRefused("there are no credentials for Cloud Storage") from None
        except HttpFailure as failure:
            raise BucketRefused(f"Cloud Storage does not answer: {failure.detail}") from None
        if answer.status not in (200, 304):
            raise BucketRefused(f"Cloud Storage answers HTTP {answer.status} for {self.uri}", answer.status)
        return answer, content
