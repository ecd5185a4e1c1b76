"""A development tool that calls the hub: what the `development-tool` extension sends, in both versions, and what it hears."""

import itertools
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.e2e.callers import Caller, events_in

URI = "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md"
_HEADERS = {
    "0.3": {"X-A2A-Extensions": URI},
    "1.0": {"A2A-Extensions": URI, "A2A-Version": "1.0"},
}
_STREAM = {"0.3": "message/stream", "1.0": "SendStreamingMessage"}
_FOLLOW = {"0.3": "tasks/resubscribe", "1.0": "SubscribeToTask"}
_GET = {"0.3": "tasks/get", "1.0": "GetTask"}
_KINDS = {"task": "task", "status-update": "statusUpdate", "artifact-update": "artifactUpdate"}
_numbers = itertools.count(1)


@dataclass(frozen=True, kw_only=True)
class Update:
    """A status update: the kind that its metadata name, its state without the version's spelling, its text and its data."""

    kind: str
    state: str
    text: str
    data: Any
    final: bool | None


@dataclass(frozen=True, kw_only=True)
class DevelopmentTool:
    """An editor, say, that speaks `version` of A2A."""

    caller: Caller
    version: str

    def call(self, method: str, params: Any) -> Any:
        """The whole answer to a request of JSON-RPC."""
        body = {"jsonrpc": "2.0", "id": next(_numbers), "method": method, "params": params}
        return self.caller.post("/", body, _HEADERS[self.version]).json

    def send(self, *parts: Any, metadata: Any = None, **ids: str) -> tuple[str, str, list[Update]]:
        """The task's id, its context's, and every status update until the stream ends."""
        message: dict[str, Any] = {"messageId": str(uuid.uuid4()), "extensions": [URI], **ids}
        if self.version == "0.3":
            message |= {"kind": "message", "role": "user"}
            message["parts"] = [{"kind": next(iter(part)), **part} for part in parts]
        else:
            message |= {"role": "ROLE_USER", "parts": list(parts)}
        if metadata is not None:
            message["metadata"] = metadata
        accepted = {"acceptedOutputModes": ["text/plain", "application/json"]}
        events = list(self._stream(_STREAM[self.version], {"message": message, "configuration": accepted}))
        ids_of = [_ids_of(name, event) for name, event in events]
        assert len(set(ids_of)) == 1
        return *ids_of[0], [_update(event) for name, event in events if name == "statusUpdate"]

    def follow(self, task_id: str) -> list[Update]:
        """Every status update of a task from now on, until its stream ends; where it has ended, its last state."""
        events = list(self._stream(_FOLLOW[self.version], {"id": task_id}))
        return [_update(event) for name, event in events if name == "statusUpdate"]

    def task(self, task_id: str) -> Any:
        """The task as it is."""
        return self.call(_GET[self.version], {"id": task_id})["result"]

    def _stream(self, method: str, params: Any) -> Iterator[tuple[str, Any]]:
        body = {"jsonrpc": "2.0", "id": next(_numbers), "method": method, "params": params}
        with self.caller.opened("POST", "/", body=body, headers=_HEADERS[self.version]) as response:
            for answer in events_in(iter(response)):
                if "error" in answer:
                    # A task that has ended has no events any more.
                    return
                result = answer["result"]
                if self.version == "0.3":
                    yield _KINDS[result["kind"]], result
                else:
                    yield next(iter(result.items()))


def _ids_of(name: str, event: Any) -> tuple[str, str]:
    return event["id" if name == "task" else "taskId"], event["contextId"]


def _update(event: Any) -> Update:
    status = event["status"]
    parts = status.get("message", {}).get("parts", [])
    return Update(
        kind=event.get("metadata", {}).get(URI, {}).get("kind", ""),
        state=status["state"].removeprefix("TASK_STATE_").lower().replace("_", "-"),
        text="".join(part.get("text", "") for part in parts),
        data=next((part["data"] for part in parts if "data" in part), None),
        final=event.get("final"),
    )
