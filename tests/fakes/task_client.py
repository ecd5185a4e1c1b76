"""A client of a hub that keeps tasks, in each version and binding; what it gives back is the same whatever the wire."""

import itertools
import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, cast

from tests.fakes.hub import TOKEN, Hub

_ids = itertools.count(1)
WAYS = ("1.0 JSONRPC", "1.0 HTTP+JSON", "0.3 JSONRPC", "0.3 HTTP+JSON")


class Refused(Exception):
    """The hub's error: its JSON-RPC code, or its HTTP status on the HTTP+JSON binding."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


@dataclass(frozen=True)
class Seen:
    """A task, or an event of one. `history` are the texts of its messages."""

    kind: str
    task_id: str
    context_id: str
    state: str | None = None
    said: str = ""
    text: str = ""
    history: list[str] = field(default_factory=list)


class TaskClient:
    """One caller, who can show more than text, so that tasks are tasks; `text_only` makes it a user interface."""

    def __init__(self, hub: Hub, way: str, *, token: str = TOKEN, text_only: bool = False) -> None:
        self._hub = hub
        self.version, _, self.binding = way.partition(" ")
        self._token = token
        self._modes: list[str] = [] if text_only else ["text/plain"]

    def send(self, text: str, **options: Any) -> Seen:
        """The task or message that answers."""
        return _seen(self.call("SendMessage", self._params(text, options)))

    def stream(self, text: str, **options: Any) -> list[Seen]:
        """All events."""
        return list(self.open_stream(text, **options))

    def open_stream(self, text: str, **options: Any) -> Iterator[Seen]:
        """The events as they come."""
        return self._opened("SendStreamingMessage", self._params(text, options))

    def subscribe(self, task_id: str) -> Iterator[Seen]:
        """The task's events from now on."""
        return self._opened("SubscribeToTask", {"id": task_id})

    def get(self, task_id: str, **fields: Any) -> Seen:
        """The task."""
        return _seen(self.call("GetTask", {"id": task_id} | fields))

    def cancel(self, task_id: str) -> Seen:
        """The task after its cancellation."""
        return _seen(self.call("CancelTask", {"id": task_id}))

    def list(self, **fields: Any) -> dict[str, Any]:
        """The page as it came. 0.3 has no such method over JSON-RPC."""
        return cast("dict[str, Any]", self.call("ListTasks", fields))

    def _params(self, text: str, options: dict[str, Any]) -> dict[str, Any]:
        v0_3_jsonrpc = self.version == "0.3" and self.binding == "JSONRPC"
        message: dict[str, Any] = {"messageId": options.pop("message_id", f"message-{next(_ids)}")}
        for name, key in (("task_id", "taskId"), ("context_id", "contextId"), ("skill", "")):
            value = options.pop(name, None)
            if value is not None and key:
                message[key] = value
            elif value is not None:
                message["metadata"] = {"skill": value}
        if v0_3_jsonrpc:
            message |= {"kind": "message", "role": "user", "parts": [{"kind": "text", "text": text}]}
        elif self.version == "0.3":
            message |= {"role": "ROLE_USER", "content": [{"text": text}]}
        else:
            message |= {"role": "ROLE_USER", "parts": [{"text": text}]}
        configuration: dict[str, Any] = {"acceptedOutputModes": self._modes}
        if options.pop("at_once", False):
            configuration |= {"blocking": False} if self.version == "0.3" else {"returnImmediately": True}
        elif self.version == "0.3":
            configuration["blocking"] = True
        webhook = options.pop("webhook", None)
        if webhook is not None:
            names = {"0.3 JSONRPC": "pushNotificationConfig", "0.3 HTTP+JSON": "pushNotification"}
            name = names.get(f"{self.version} {self.binding}", "taskPushNotificationConfig")
            configuration[name] = {"url": webhook}
        return {"message": message, "configuration": configuration | options}

    def call(self, operation: str, params: dict[str, Any]) -> Any:
        """The result of any operation as it came, with parameters in the form of 1.0."""
        if operation in _STREAMING:
            return list(self._opened(operation, params))
        status, value = self._answer(operation, params)
        if self.binding == "JSONRPC":
            if "error" in value:
                raise Refused(value["error"]["code"], value["error"]["message"])
            return value["result"]
        if status != 200:
            raise Refused(status, value["error"]["message"])
        return value

    def _answer(self, operation: str, params: dict[str, Any]) -> tuple[int, Any]:
        response = self._request(operation, params)
        assert isinstance(response.body, bytes), "a stream where an answer was asked for"
        return response.status, json.loads(response.body)

    def _request(self, operation: str, params: dict[str, Any]) -> Any:
        headers = {"a2a-version": self.version}
        if self.binding == "JSONRPC":
            method = operation
            if self.version == "0.3":
                method, params = _METHODS_0_3.get(operation, operation), _in_0_3(operation, params)
            body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            return self._hub.request("POST", "/", json.dumps(body).encode(), token=self._token, headers=headers)
        verb, path = _PATHS[operation]
        path = ("/v1" if self.version == "0.3" else "") + path.format(**params)
        if operation == _CREATE and self.version == "0.3":
            params = _in_0_3(operation, params)
        if verb == "POST":
            return self._hub.request(verb, path, json.dumps(params).encode(), token=self._token, headers=headers)
        query = {name: [_in_query(value)] for name, value in params.items() if name not in ("id", "taskId")}
        return self._hub.request(verb, path, token=self._token, headers=headers, query=query)

    def _opened(self, operation: str, params: dict[str, Any]) -> Iterator[Seen]:
        response = self._request(operation, params)
        if isinstance(response.body, bytes):
            (value,) = (json.loads(line.removeprefix(b"data: ")) for line in response.body.splitlines() if line.strip())
            error = value["error"]
            raise Refused(error["code"] if self.binding == "JSONRPC" else response.status, error["message"])
        return self._events(response.body)

    def _events(self, chunks: Any) -> Iterator[Seen]:
        with closing(chunks):
            for chunk in chunks:
                if not chunk.startswith(b":"):
                    value = json.loads(chunk.removeprefix(b"data: "))
                    if "error" in value:
                        raise Refused(value["error"]["code"], value["error"]["message"])
                    yield _seen(value["result"] if self.binding == "JSONRPC" else value)


_METHODS_0_3 = {
    "SendMessage": "message/send",
    "SendStreamingMessage": "message/stream",
    "GetTask": "tasks/get",
    "CancelTask": "tasks/cancel",
    "SubscribeToTask": "tasks/resubscribe",
    "CreateTaskPushNotificationConfig": "tasks/pushNotificationConfig/set",
    "GetTaskPushNotificationConfig": "tasks/pushNotificationConfig/get",
    "ListTaskPushNotificationConfigs": "tasks/pushNotificationConfig/list",
    "DeleteTaskPushNotificationConfig": "tasks/pushNotificationConfig/delete",
}
_PATHS = {
    "SendMessage": ("POST", "/message:send"),
    "SendStreamingMessage": ("POST", "/message:stream"),
    "GetTask": ("GET", "/tasks/{id}"),
    "ListTasks": ("GET", "/tasks"),
    "CancelTask": ("POST", "/tasks/{id}:cancel"),
    "SubscribeToTask": ("GET", "/tasks/{id}:subscribe"),
    "CreateTaskPushNotificationConfig": ("POST", "/tasks/{taskId}/pushNotificationConfigs"),
    "GetTaskPushNotificationConfig": ("GET", "/tasks/{taskId}/pushNotificationConfigs/{id}"),
    "ListTaskPushNotificationConfigs": ("GET", "/tasks/{taskId}/pushNotificationConfigs"),
    "DeleteTaskPushNotificationConfig": ("DELETE", "/tasks/{taskId}/pushNotificationConfigs/{id}"),
}
_STREAMING = ("SendStreamingMessage", "SubscribeToTask")
_CREATE = "CreateTaskPushNotificationConfig"


def _in_0_3(operation: str, params: dict[str, Any]) -> dict[str, Any]:
    """The parameters of an operation on push notification configs; others are the same in both versions."""
    if operation == _CREATE:
        made = {name: params[name] for name in ("id", "url") if name in params}
        return {"taskId": params["taskId"], "pushNotificationConfig": made}
    if operation.endswith(("PushNotificationConfig", "PushNotificationConfigs")):
        config = {"pushNotificationConfigId": params["id"]} if "id" in params else {}
        return {"id": params["taskId"], **config}
    return params


def _in_query(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _seen(value: Any) -> Seen:
    """A result or event of any version and binding."""
    for member in ("task", "message", "msg", "statusUpdate", "artifactUpdate"):
        if member in value:
            value = value[member]
            break
    if "status" in value and "id" in value:
        return Seen(
            kind="task",
            task_id=value["id"],
            context_id=value["contextId"],
            state=_state(value["status"]),
            said=_text(value["status"].get("message")),
            text="".join(_text(artifact) for artifact in value.get("artifacts", [])),
            history=[_text(message) for message in value.get("history", [])],
        )
    if "status" in value:
        return Seen(
            kind="status",
            task_id=value["taskId"],
            context_id=value["contextId"],
            state=_state(value["status"]),
            said=_text(value["status"].get("message")),
        )
    if "artifact" in value:
        return Seen("artifact", value["taskId"], value["contextId"], text=_text(value["artifact"]))
    return Seen("message", value.get("taskId", ""), value["contextId"], text=_text(value))


def _state(status: Any) -> str:
    return (
        cast("str", status["state"])
        .removeprefix("TASK_STATE_")
        .lower()
        .replace("_", "-")
        .replace("cancelled", "canceled")
    )


def _text(value: Any) -> str:
    if not value:
        return ""
    return "".join(part.get("text", "") for part in value.get("parts") or value.get("content") or [])
