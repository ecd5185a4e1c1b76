"""A caller of the hub with nothing but the standard library, so that nothing of the project's reads what it checks."""

import contextlib
import http.client
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

TIMEOUT_SECONDS = 30.0


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A whole response; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, decoded."""
        return json.loads(self.body)

    @property
    def media_type(self) -> str:
        """The content type without its parameters."""
        return self.headers.get("content-type", "").partition(";")[0]

    def events(self) -> list[Any]:
        """The body as the data of its server-sent events, decoded."""
        return list(events_in(iter(self.body.splitlines(keepends=True))))


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Sends requests to one port of this machine; None for `token` sends no credential."""

    port: int
    token: str | None = None

    def get(self, path: str, **headers: str) -> Answer:
        """The answer to a GET; in the names of `headers`, an underscore stands for a hyphen."""
        return self.request("GET", path, headers={name.replace("_", "-"): headers[name] for name in headers})

    def post(self, path: str, body: object, headers: Mapping[str, str] | None = None) -> Answer:
        """The answer to a POST of JSON, or of bytes as they are."""
        return self.request("POST", path, body=body, headers=headers)

    def request(
        self, method: str, path: str, *, body: object = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """The answer, read to its end."""
        with self.opened(method, path, body=body, headers=headers) as response:
            received = {name.lower(): value for name, value in response.getheaders()}
            return Answer(status=response.status, headers=received, body=response.read())

    @contextlib.contextmanager
    def opened(
        self, method: str, path: str, *, body: object = None, headers: Mapping[str, str] | None = None
    ) -> Iterator[http.client.HTTPResponse]:
        """A response whose headers have arrived; its connection is closed afterwards, however much was read."""
        sent = {"Content-Type": "application/json"} if body is not None else {}
        if self.token is not None:
            sent["Authorization"] = f"Bearer {self.token}"
        content: Any = body
        if isinstance(body, dict | list | str):
            content = json.dumps(body).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_SECONDS)
        with contextlib.closing(connection):
            connection.request(method, path, body=content, headers={**sent, **(headers or {})})
            yield connection.getresponse()


def events_in(lines: Iterator[bytes]) -> Iterator[Any]:
    """The data of each server-sent event as it arrives, decoded (WHATWG HTML §9.2.6)."""
    data: list[str] = []
    for line in lines:
        text = line.decode("utf-8").rstrip("\r\n")
        if text.startswith("data:"):
            data.append(text[5:].removeprefix(" "))
        elif not text and data:
            yield json.loads("\n".join(data))
            data = []
    assert not data, "the stream ended inside an event"
