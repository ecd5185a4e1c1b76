"""The console's pages and files, and its security headers."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from html import escape
from pathlib import Path

from a2a_hub.http.dispatch import Public
from a2a_hub.http.messages import NO_PERMISSIONS, Request, Response

_STATIC = Path(__file__).with_name("static")
_TYPES = {".css": "text/css", ".js": "text/javascript", ".json": "application/json", ".svg": "image/svg+xml"}
_CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_HEADERS = {
    "content-security-policy": _CSP,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": NO_PERMISSIONS,
    "referrer-policy": "no-referrer",
    "strict-transport-security": "max-age=31536000",
    "x-content-type-options": "nosniff",
}


def guarded(headers: Mapping[str, str], *, is_file: bool) -> dict[str, str]:
    """Add the security headers to a response's. Only the console's own files may be cached."""
    return {**headers, **_HEADERS, "cache-control": "no-cache" if is_file else "no-store"}


def redirect(place: str, *, cookie: str | None = None) -> Response:
    """Return a redirection to a place, read with GET."""
    return Response(status=303, headers={"location": place, **({"set-cookie": cookie} if cookie else {})})


def console_page(*, csrf: str, hub: str, name: str) -> Response:
    """Return the console for a person who is signed in; everything else on the page is filled in by its script."""
    return _page("index.html", csrf=csrf, hub=hub, name=name)


def sign_in_page(*, csrf: str, ways: Sequence[str], problem: str | None, cookie: str) -> Response:
    """Return the page with these ways to sign in."""
    key = f"problem.{problem}" if problem else ""
    text = json.loads(_template("en.json")).get(key, "")
    page = _page("sign_in.html", csrf=csrf, ways=" ".join(ways), problem=key, text=text)
    return Response(headers={**page.headers, "set-cookie": cookie}, body=page.body)


def _page(file: str, /, **values: str) -> Response:
    html = _template(file)
    for key, value in values.items():
        html = html.replace(f"{{{{{key}}}}}", escape(value))
    return Response(headers={"content-type": "text/html; charset=utf-8"}, body=html.encode())


@cache
def _template(name: str) -> str:
    return (_STATIC / name).read_text("utf-8")


def files() -> Iterator[Public]:
    """Yield the endpoints of the files in `static`, which are public."""
    for path in sorted(_STATIC.iterdir()):
        if path.suffix in _TYPES:
            content = path.read_bytes()
            etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
            headers = {"content-type": f"{_TYPES[path.suffix]}; charset=utf-8", "etag": etag}
            yield Public(f"/static/{path.name}", partial(_file, content, headers), exact=True)


def _file(content: bytes, headers: Mapping[str, str], request: Request) -> Response:
    is_known = request.headers.get("if-none-match") == headers["etag"]
    return Response(status=304 if is_known else 200, headers=headers, body=b"" if is_known else content)
