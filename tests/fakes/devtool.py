"""The development agent as it is wired, called in this process by a client of its extension, in each version and binding."""

import itertools
import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from a2a_hub.a2a.extensions.development_tool import URI
from a2a_hub.http.messages import Request, Response, blocking, body_of
from a2a_hub.language_models.model import LanguageModel
from functions.devtool import config
from functions.devtool.app import build
from tests.fakes.task_instance import until

WAYS = ("1.0 JSONRPC", "1.0 HTTP+JSON", "0.3 JSONRPC", "0.3 HTTP+JSON")
_ids = itertools.count(1)
_METHODS_0_3 = {
    "SendMessage": "message/send",
    "SendStreamingMessage": "message/stream",
    "GetTask": "tasks/get",
    "CancelTask": "tasks/cancel",
    "SubscribeToTask": "tasks/resubscribe",
}
_PATHS = {
    "SendMessage": ("POST", "/message:send"),
    "SendStreamingMessage": ("POST", "/message:stream"),
    "GetTask": ("GET", "/tasks/{id}"),
    "CancelTask": ("POST", "/tasks/{id}:cancel"),
}


class Refused(Exception):
    """The agent's error."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True)
class ReceivedTask:
    """A task, or a status update: `event` is the extension's own, `data` and `text` are what its message holds."""

    task_id: str
    context_id: str
    state: str
    event: dict[str, Any] | None
    data: dict[str, Any] | None
    text: str
    is_final: bool
    is_task: bool
    history: tuple[Any, ...] = ()

    @property
    def kind(self) -> str:
        return self.event["kind"] if self.event else ""


def workspace_in(folder: Path) -> Path:
    """A workspace with some files in it."""
    root = folder / "work"
    (root / "src").mkdir(parents=True)
    (root / "notes.txt").write_text("hello\nfoo bar\n")
    (root / "src" / "app.py").write_text("x = 1  # TODO\n")
    (root / "設計 メモ.md").write_text("こんにちは\n")
    return root


class Devtool:
    """One instance of the function, with the settings in `settings` beside those that it needs."""

    def __init__(self, folder: Path, *, model: LanguageModel | None = None, settings: Mapping[str, str] = {}) -> None:
        environ = {
            "TASK_STORE": f"sqlite:{folder / 'tasks.db'}",
            "TASK_CANCEL_POLL_SECONDS": "0.05",
            "ALLOW_ANONYMOUS": "true",
            "ANONYMOUS_SUBJECT": "hub",
            "DEVTOOL_WORKSPACES": str(folder),
            "DEVTOOL_COMMANDS": "sh,echo,cat",
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "PORT": "1",
        }
        self.handler = build(config.read(environ | dict(settings)), model=model)

    def client(self, way: str = WAYS[2], **options: Any) -> "Client":
        return Client(self, way, **options)


class Client:
    """Asks in one version over one binding. `extension` names it in the header; `workspace` goes with each first message."""

    def __init__(self, devtool: Devtool, way: str, *, extension: bool = True, workspace: Path | None = None) -> None:
        self._devtool = devtool
        self.version, _, self.binding = way.partition(" ")
        self._extension = extension
        self._workspace = workspace

    def stream(self, text: str = "", **options: Any) -> list[ReceivedTask]:
        """All events of a turn."""
        return list(self.open_stream(text, **options))

    def open_stream(self, text: str = "", **options: Any) -> Iterator[ReceivedTask]:
        """The events as they come."""
        return self._events(self._request("SendStreamingMessage", self._params(text, options)))

    def send(self, text: str = "", **options: Any) -> Any:
        """The result as it came; a task as a `ReceivedTask`."""
        value = self.call("SendMessage", self._params(text, options))
        return _told(value) if _is_task(value) else value

    def get(self, task_id: str) -> ReceivedTask:
        return _told(self.call("GetTask", {"id": task_id}))

    def settled(self, task_id: str) -> ReceivedTask:
        """The task when its turn has ended."""

        def look() -> ReceivedTask | None:
            task = self.get(task_id)
            return None if task.state in ("submitted", "working") else task

        return until(look)

    def cancel(self, task_id: str) -> ReceivedTask:
        return _told(self.call("CancelTask", {"id": task_id}))

    def decide(self, task_id: str, call_id: str, option: str, **options: Any) -> list[ReceivedTask]:
        """The turn that the decision begins."""
        data = {"tool_call_id": call_id, "selected_option_id": option} | options.pop("more", {})
        return self.stream(data=data, task_id=task_id, settings=None, **options)

    def method(self, name: str, params: dict[str, Any]) -> Any:
        """A JSON-RPC method by its own name."""
        body = {"jsonrpc": "2.0", "id": 1, "method": name, "params": params}
        return _result(json.loads(_whole(self.post("/", body))))

    def call(self, operation: str, params: dict[str, Any]) -> Any:
        response = self._request(operation, params)
        value = json.loads(_whole(response))
        return _result(value) if self.binding == "JSONRPC" or "error" in value else value

    def post(self, path: str, body: Any, *, verb: str = "POST", **headers: str) -> Response:
        headers = {"content-type": "application/json", "a2a-version": self.version} | headers
        if self._extension:
            headers["x-a2a-extensions" if self.version == "0.3" else "a2a-extensions"] = URI
        read = body_of(json.dumps(body).encode()) if body is not None else body_of(b"")
        return blocking(self._devtool.handler(Request(method=verb, path=path, headers=headers, read_body=read)))

    def _request(self, operation: str, params: dict[str, Any]) -> Response:
        if self.binding == "JSONRPC":
            method = _METHODS_0_3[operation] if self.version == "0.3" else operation
            return self.post("/", {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        verb, path = _PATHS[operation]
        path = ("/v1" if self.version == "0.3" else "") + path.format(**params)
        return self.post(path, params if verb == "POST" else None, verb=verb)

    def _params(self, text: str, options: dict[str, Any]) -> dict[str, Any]:
        over_json_rpc_0_3 = self.version == "0.3" and self.binding == "JSONRPC"
        message: dict[str, Any] = {"messageId": f"message-{next(_ids)}"}
        parts: list[dict[str, Any]] = []
        if text:
            parts.append({"kind": "text", "text": text} if over_json_rpc_0_3 else {"text": text})
        data = options.pop("data", None)
        if data is not None and self.version == "0.3":
            parts.append({"kind": "data", "data": data} if over_json_rpc_0_3 else {"data": {"data": data}})
        elif data is not None:
            parts.append({"data": data})
        if over_json_rpc_0_3:
            message |= {"kind": "message", "role": "user", "parts": parts}
        else:
            message |= {"role": "ROLE_USER", "content" if self.version == "0.3" else "parts": parts}
        for name, key in (("task_id", "taskId"), ("context_id", "contextId"), ("extensions", "extensions")):
            if options.get(name):
                message[key] = options[name]
        settings = {"workspace_path": str(self._workspace)} if self._workspace else None
        if (given := options.pop("settings", settings)) is not None:
            message["metadata"] = {URI: given}
        configuration = {"blocking": True} if self.version == "0.3" else {}
        return {"message": message, "configuration": configuration | options.pop("configuration", {})}

    def _events(self, response: Response) -> Iterator[ReceivedTask]:
        if isinstance(response.body, bytes):
            for line in response.body.splitlines():
                if line.strip():
                    _result(json.loads(line.removeprefix(b"data: ")))
            raise AssertionError("there is neither a stream nor an error")
        assert isinstance(response.body, Generator)
        with closing(response.body) as chunks:
            for chunk in chunks:
                if not chunk.startswith(b":"):
                    value = json.loads(chunk.removeprefix(b"data: "))
                    yield _told(_result(value) if self.binding == "JSONRPC" else value)


def waiting(events: Sequence[ReceivedTask]) -> tuple[str, dict[str, Any]]:
    """The task that waits for a decision, and the tool call that it asks about."""
    last = events[-1]
    assert last.state == "input-required", last
    assert last.data is not None
    return last.task_id, last.data


def calls(events: Sequence[ReceivedTask]) -> list[dict[str, Any]]:
    """The tool calls of the updates that tell of one."""
    return [event.data for event in events if event.kind == "TOOL_CALL_UPDATE" and event.data]


def kinds(events: Sequence[ReceivedTask]) -> list[str]:
    """Return what the updates are, with the status of their tool call, or the state of their task."""
    return [
        f"{event.kind} {event.data['status']}"
        if event.kind == "TOOL_CALL_UPDATE" and event.data
        else f"{event.kind} {event.state}"
        for event in events
        if not event.is_task
    ]


def _result(value: Any) -> Any:
    if "error" in value:
        raise Refused(value["error"]["message"])
    return value["result"]


def _whole(response: Response) -> bytes:
    assert isinstance(response.body, bytes), "a stream where an answer was asked for"
    return response.body


def _is_task(value: Any) -> bool:
    return "task" in value or value.get("kind") == "task"


def _told(value: Any) -> ReceivedTask:
    for member in ("task", "statusUpdate", "artifactUpdate"):
        value = value.get(member, value)
    is_task = "id" in value
    # An artifact comes while the work goes on.
    status = value.get("status") or {"state": "working", "message": value.get("artifact")}
    state = status["state"].removeprefix("TASK_STATE_").lower().replace("_", "-")
    said: Any = status.get("message") or status.get("update") or next(iter(value.get("artifacts", ())), {})
    parts = said.get("parts") or said.get("content") or []
    data = next((part["data"] for part in parts if "data" in part), None)
    if data is not None and set(data) == {"data"}:
        data = data["data"]
    return ReceivedTask(
        task_id=value["id"] if is_task else value["taskId"],
        context_id=value["contextId"],
        state="canceled" if state == "cancelled" else state,
        event=(value.get("metadata") or {}).get(URI),
        data=data,
        text="".join(part.get("text", "") for part in parts),
        is_final=bool(value.get("final")),
        is_task=is_task,
        history=tuple(value.get("history", ())),
    )
