"""A running hub, as an operator's tool calls it."""

import time
from dataclasses import dataclass
from typing import Any

from a2a_hub.a2a import protojson
from a2a_hub.a2a.errors import A2AError
from a2a_hub.http.client import HttpClient, HttpFailure, fetch
from a2a_hub.http.messages import JSON
from a2a_hub.runtime.ids import new_id
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
            answer, content = fetch(
                self._http,
                "POST",
                self._url + path,
                headers=self._headers,
                body=protojson.encode(body),
                seconds=60.0,
                max_bytes=16 << 20,
            )
        except HttpFailure as failure:
            raise CommandError(
                f"no answer from {self._url}: {failure.detail}. Is it running (make run), and is --url right?"
            ) from None
        if answer.status == 401:
            cause = "refused the token" if "authorization" in self._headers else "wants a token"
            raise CommandError(f"the hub {cause}: give one with --token or HUB_DEV_TOKEN")
        try:
            value = protojson.decode(content)
        except A2AError:
            value = None
        if answer.status != 200 or not isinstance(value, dict):
            doubt = ": is --url a hub's?" if answer.status in (200, 404, 405) else ""
            raise CommandError(f"{self._url}{path} answered HTTP {answer.status}{doubt}")
        return value, round((time.perf_counter() - started) * 1000, 1)
