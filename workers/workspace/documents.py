"""New documents."""

import json
from typing import Any

from workers.workspace.google import Api, Google
from workers.workspace.scopes import MAKE_FILES

_FIELDS = "id,webViewLink"
_BOUNDARY = "a-part-of-a-new-document"


def new_document(google: Google, title: str, text: str, *, task_id: str) -> dict[str, Any]:
    """The Google Doc with this title that was made for this task; made now, from Markdown, where there is none yet."""
    mark = {"a2aTask": task_id[:100]}
    quoted = title.replace("\\", "\\\\").replace("'", "\\'")
    query = f"appProperties has {{ key='a2aTask' and value='{mark['a2aTask']}' }} and name = '{quoted}' and trashed = false"
    found = google.get(Api.DRIVE, "/files", scope=MAKE_FILES, q=query, pageSize=1, fields=f"files({_FIELDS})")
    if found.get("files"):
        first: dict[str, Any] = found["files"][0]
        return first
    metadata = {"name": title, "mimeType": "application/vnd.google-apps.document", "appProperties": mark}
    parts = [
        ("application/json; charset=UTF-8", json.dumps(metadata)),
        ("text/markdown; charset=UTF-8", text),
    ]
    boundary = _BOUNDARY
    while boundary in text:
        boundary += "-"
    body = "".join(f"--{boundary}\r\nContent-Type: {kind}\r\n\r\n{content}\r\n" for kind, content in parts)
    whole = f"{body}--{boundary}--\r\n".encode()
    kind = f"multipart/related; boundary={boundary}"
    return google.upload("/files", whole, kind, scope=MAKE_FILES, uploadType="multipart", fields=_FIELDS)
