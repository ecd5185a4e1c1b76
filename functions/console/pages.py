"""The console's pages and files, and the headers with which everything leaves it."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
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
    """Return a response's headers with those that keep its content where it belongs. Only the console's own files are kept."""
    return {**headers, **_HEADERS, "cache-control": "no-cache" if is_file else "no-store"}


def redirect(place: str, *, cookie: str | None = None) -> Response:
    """Return a redirection to a place, read with GET."""
    return Response(status=303, headers={"location": place, **({"set-cookie": cookie} if cookie else {})})


class Pages:
    """The two pages, written with the values that they show; everything else on them is filled in by their script."""

    def __init__(self) -> None:
        self._console, self._sign_in = ((_STATIC / name).read_text("utf-8") for name in ("index.html", "sign_in.html"))
        self._texts: Mapping[str, str] = json.loads((_STATIC / "en.json").read_text("utf-8"))

    def console(self, *, csrf: str, hub: str, name: str) -> Response:
        """Return the console for a person who is signed in."""
        return _page(self._console, csrf=csrf, hub=hub, name=name)

    def sign_in(self, *, csrf: str, ways: Sequence[str], problem: str | None, cookie: str) -> Response:
        """Return the page with these ways to sign in."""
        key = f"problem.{problem}" if problem else ""
        shown = {"csrf": csrf, "ways": " ".join(ways), "problem": key, "text": self._texts.get(key, "")}
        page = _page(self._sign_in, **shown)
        return Response(headers={**page.headers, "set-cookie": cookie}, body=page.body)


def _page(template: str, **values: str) -> Response:
    for name, value in values.items():
        template = template.replace(f"{{{{{name}}}}}", escape(value))
    return Response(headers={"content-type": "text/html; charset=utf-8"}, body=template.encode())


def files() -> Iterator[Public]:
    """Yield the endpoints of the files in `static`, which everybody may read."""
    for path in sorted(_STATIC.iterdir()):
        if path.suffix in _TYPES:
            yield Public(f"/static/{path.name}", _File(path).send, exact=True)


class _File:
    def __init__(self, path: Path) -> None:
        self._content = path.read_bytes()
        self._headers = {
            "content-type": f"{_TYPES[path.suffix]}; charset=utf-8",
            "etag": f'"{hashlib.sha256(self._content).hexdigest()[:32]}"',
        }

    def send(self, request: Request) -> Response:
        if request.headers.get("if-none-match") == self._headers["etag"]:
            return Response(status=304, headers=self._headers)
        return Response(headers=self._headers, body=self._content)
