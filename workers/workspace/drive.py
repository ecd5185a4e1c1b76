"""Files in Drive and the text in them."""

import json
from typing import Any

from workers.workspace import plain_text
from workers.workspace.failures import Cause, GoogleFailed, Unusable
from workers.workspace.google import MAKE_FILES, READ_FILES, Api, Google

_MAX_FILES = 10
_MAX_CHARACTERS = 30_000
_FIELDS = "id,name,mimeType,modifiedTime,webViewLink,owners(displayName)"
# Includes shared drives: https://developers.google.com/workspace/drive/api/guides/enable-shareddrives
_EVERYWHERE = {"supportsAllDrives": "true", "includeItemsFromAllDrives": "true"}
_GOOGLE_TYPE = "application/vnd.google-apps."
# The export formats of Google's own file types; of a spreadsheet, the first sheet only.
_EXPORTED = {"document": "text/markdown", "spreadsheet": "text/csv", "presentation": "text/plain"}
_NEW_FIELDS = "id,webViewLink"
_BOUNDARY = "a-part-of-a-new-document"


class Drive:
    """The readable files of the person."""

    def __init__(self, google: Google) -> None:
        self._google = google

    def find_files(self, words: str) -> dict[str, Any]:
        """Find files in Drive by words in their names or texts.

        Args:
            words: what to look for; empty for the files that were changed last.
        """
        words = plain_text.line(words).replace("\\", "\\\\").replace("'", "\\'")
        parameters: dict[str, Any] = {"pageSize": _MAX_FILES, "fields": f"files({_FIELDS})", **_EVERYWHERE}
        if words:
            parameters["q"] = f"trashed = false and (name contains '{words}' or fullText contains '{words}')"
        else:
            # A full-text search is ordered by relevance and accepts no other order.
            parameters |= {"q": "trashed = false", "orderBy": "modifiedTime desc"}
        found = self._google.get(Api.DRIVE, "/files", scope=READ_FILES, **parameters)
        return {"files": [_shown(file) for file in found.get("files", ())]}

    def read_file(self, file_id: str, start: int = 0) -> dict[str, Any]:
        """Read the text of a file in Drive: a Google Doc, Sheet, presentation, or a text file.

        Args:
            file_id: as find_files names it.
            start: the character to begin with; for the rest of a long file.
        """
        path = f"/files/{identifier(file_id)}"
        file = self._google.get(Api.DRIVE, path, scope=READ_FILES, fields=f"{_FIELDS},size", supportsAllDrives="true")
        kind = file.get("mimeType", "")
        if kind.startswith(_GOOGLE_TYPE):
            exported = _EXPORTED.get(kind.removeprefix(_GOOGLE_TYPE))
            if exported is None:
                raise Unusable(f"This is a file without text ({kind}).")
            text = self._google.text(Api.DRIVE, f"{path}/export", scope=READ_FILES, mimeType=exported)
        elif kind.startswith("text/") or kind in ("application/json", "application/xml"):
            text = self._google.text(Api.DRIVE, path, scope=READ_FILES, alt="media", supportsAllDrives="true")
        else:
            raise Unusable(f"A file of this kind ({kind}) cannot be read here; its address can be given.")
        start = max(0, int(start))
        end = start + _MAX_CHARACTERS
        return _shown(file) | {"text": text[start:end], **({"goes_on_at": end} if len(text) > end else {})}


def identifier(value: object) -> str:
    """Return a valid id, which can be part of a path. Raise GoogleFailed."""
    text = str(value).strip()
    if not text or not all(each.isascii() and (each.isalnum() or each in "-_") for each in text):
        raise GoogleFailed(Cause.NOT_FOUND)
    return text


def _shown(file: dict[str, Any]) -> dict[str, Any]:
    owners = ", ".join(owner.get("displayName", "") for owner in file.get("owners", ()))
    return {
        "file_id": file.get("id"),
        "name": file.get("name"),
        "kind": file.get("mimeType"),
        "changed": file.get("modifiedTime"),
        "owner": owners,
        "address": file.get("webViewLink"),
    }


def new_document(google: Google, title: str, text: str, *, task_id: str) -> dict[str, Any]:
    """Return the task's Google Doc with this title; create it from Markdown if there is none."""
    mark = {"a2aTask": task_id[:100]}
    quoted = title.replace("\\", "\\\\").replace("'", "\\'")
    query = (
        f"appProperties has {{ key='a2aTask' and value='{mark['a2aTask']}' }} and name = '{quoted}' and trashed = false"
    )
    found = google.get(Api.DRIVE, "/files", scope=MAKE_FILES, q=query, pageSize=1, fields=f"files({_NEW_FIELDS})")
    if found.get("files"):
        first: dict[str, Any] = found["files"][0]
        return first
    metadata = {"name": title, "mimeType": "application/vnd.google-apps.document", "appProperties": mark}
    parts = [("application/json; charset=UTF-8", json.dumps(metadata)), ("text/markdown; charset=UTF-8", text)]
    boundary = _BOUNDARY
    while boundary in text:
        boundary += "-"
    body = "".join(f"--{boundary}\r\nContent-Type: {kind}\r\n\r\n{content}\r\n" for kind, content in parts)
    whole = f"{body}--{boundary}--\r\n".encode()
    kind = f"multipart/related; boundary={boundary}"
    return google.upload("/files", whole, kind, scope=MAKE_FILES, uploadType="multipart", fields=_NEW_FIELDS)
