"""A running hub and the stand-ins of its local cloud, as an operator's tool calls them."""

from __future__ import annotations

import contextlib
import json
import time
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from a2a_hub.a2a import protojson
from a2a_hub.a2a.errors import A2AError
from a2a_hub.http.client import HttpClient, HttpFailure
from a2a_hub.http.messages import JSON
from a2a_hub.runtime.ids import new_id
from hubctl.connection import exchange
from hubctl.main import CommandError


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply on one path. `kinds` are the kinds of the parts of the message."""

    text: str
    milliseconds: float
    kinds: tuple[str, ...] = ("text",)
    record: dict[str, Any] | None = None


class LiveHub:
    """A hub at a URL, called with one token."""

    def __init__(self, url: str, *, token: str | None) -> None:
        self._url = url.rstrip("/")
        self._http = HttpClient()
        self._headers = {"content-type": JSON, "accept": JSON}
        if token:
            self._headers["authorization"] = f"Bearer {token}"

    def send(self, text: str) -> Reply:
        """Send the question as Gemini Enterprise does: 0.3 JSON-RPC, no accepted output modes. Raises CommandError."""
        message = {
            "kind": "message",
            "role": "user",
            "messageId": new_id(),
            "parts": [{"kind": "text", "text": text, "metadata": {"is_user_input": True}}],
        }
        params = {"message": message, "configuration": {"acceptedOutputModes": [], "blocking": True}, "metadata": {}}
        value, milliseconds = self._post("/", {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": params})
        try:
            if "error" in value:
                raise CommandError(f"the hub answered with an error: {value['error']['message']}")
            parts = value["result"]["parts"]
            text = "".join(part.get("text", "") for part in parts)
            return Reply(text, milliseconds, tuple(part["kind"] for part in parts))
        except (KeyError, TypeError, AttributeError):
            raise self._no_hub("/") from None

    def query(self, text: str, *, context_id: str | None = None) -> Reply:
        """Send the question on the inspection path, in a conversation if one is given. Raises CommandError."""
        body = {"query": text} | ({"contextId": context_id} if context_id else {})
        value, milliseconds = self._post("/tools/query", body)
        if not isinstance(value.get("answer"), str):
            raise self._no_hub("/tools/query")
        return Reply(value["answer"], milliseconds, record=value)

    def _no_hub(self, path: str) -> CommandError:
        return CommandError(f"what answers at {self._url}{path} is no hub: is --url right?")

    def _post(self, path: str, body: Any) -> tuple[dict[str, Any], float]:
        started = time.perf_counter()
        try:
            answer = exchange(self._http, "POST", self._url + path, headers=self._headers, body=protojson.encode(body))
        except HttpFailure as failure:
            raise CommandError(
                f"no answer from {self._url}: {failure.detail}. Is it running (make run), and is --url right?"
            ) from None
        if answer.status == 401:
            cause = "refused the token" if "authorization" in self._headers else "wants a token"
            raise CommandError(f"the hub {cause}: give one with --token or HUB_DEV_TOKEN")
        try:
            value = protojson.decode(answer.body)
        except A2AError:
            value = None
        if answer.status != 200 or not isinstance(value, dict):
            doubt = ": is --url a hub's?" if answer.status in (200, 404, 405) else ""
            raise CommandError(f"{self._url}{path} answered HTTP {answer.status}{doubt}")
        return value, round((time.perf_counter() - started) * 1000, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One case; see evaluation/paper_cases.toml."""

    id: str
    paper: str
    stand_in: str | None = None
    fault: str | None = None
    route: str | None = None
    status: int | None = None
    unread: bool = False
    note: str = ""


def read_cases(path: Path) -> tuple[Case, ...]:
    """Return the cases in a file. Raises OSError, tomllib.TOMLDecodeError, TypeError or KeyError."""
    return tuple(Case(**table) for table in tomllib.loads(path.read_text(encoding="utf-8"))["cases"])


class LocalCloud:
    """The stand-ins of a run over the local cloud, by name."""

    def __init__(self, urls: Mapping[str, str]) -> None:
        self._urls = urls
        self._http = HttpClient()

    @classmethod
    def of_run(cls, file: Path) -> LocalCloud:
        """Return the stand-ins whose addresses a run wrote down. Raises CommandError where it has none."""
        try:
            return cls(json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError):
            raise CommandError(
                f"there is no local cloud at {file}: start one with make run CLOUD=local, and name its file with --cloud"
            ) from None

    @contextlib.contextmanager
    def broken(self, case: Case) -> Iterator[None]:
        """Switch the case's fault on, and off again afterwards. Raises CommandError."""
        if case.stand_in is None or case.fault is None:
            yield
            return
        if case.stand_in not in self._urls:
            raise CommandError(f"the local cloud has no {case.stand_in}")
        url = f"{self._urls[case.stand_in]}/__faults/{case.fault}"
        self._switch("POST", url)
        try:
            yield
        finally:
            self._switch("DELETE", url)

    def _switch(self, method: str, url: str) -> None:
        try:
            answer = exchange(self._http, method, url, headers={}, seconds=10.0)
        except HttpFailure as failure:
            raise CommandError(f"the local cloud does not answer: {failure.detail}") from None
        if answer.status != 204:
            raise CommandError(f"the local cloud does not know this fault: HTTP {answer.status}")
