"""A client made with the newest official SDK of A2A 1.x: `client.py URL TOKEN`.

One JSON object a line in, {"do", "binding", "cardVersion"?, …}; what came of it, or {"error"}, in a line out.
"""

import asyncio
import json
import sys
import uuid
from collections.abc import AsyncIterator
from typing import Any

import httpx
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.types import (
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    SubscribeToTaskRequest,
    Task,
    TaskPushNotificationConfig,
    TaskState,
)
from google.protobuf.json_format import MessageToDict, ParseDict


async def send(client: Client, asked: dict[str, Any]) -> dict[str, Any]:
    """The last of what came: of a stream, when `until` has come, after which the stream is cut."""
    message = Message(
        message_id=asked.get("messageId") or uuid.uuid4().hex,
        role=Role.ROLE_USER,
        parts=[Part(text=asked["text"])],
        task_id=asked.get("taskId"),
        context_id=asked.get("contextId"),
    )
    if "skill" in asked:
        ParseDict({"skill": asked["skill"]}, message.metadata)
    configuration = SendMessageConfiguration(
        return_immediately=not asked.get("waits", True),
        accepted_output_modes=asked.get("modes", ["text/plain"]),
    )
    events = client.send_message(SendMessageRequest(message=message, configuration=configuration))
    return await _read(events, until=asked.get("until"))


async def get(client: Client, asked: dict[str, Any]) -> dict[str, Any]:
    """The task as it is."""
    return _told(await client.get_task(GetTaskRequest(id=asked["taskId"])))


async def list_tasks(client: Client, asked: dict[str, Any]) -> dict[str, Any]:
    """The tasks of a context."""
    listed = await client.list_tasks(ListTasksRequest(context_id=asked["contextId"], include_artifacts=True))
    return {"tasks": [_told(task) for task in listed.tasks]}


async def cancel(client: Client, asked: dict[str, Any]) -> dict[str, Any]:
    """The task as it is then."""
    return _told(await client.cancel_task(CancelTaskRequest(id=asked["taskId"])))


async def subscribe(client: Client, asked: dict[str, Any]) -> dict[str, Any]:
    """Return what came from now on; that something has come is told in a line of its own."""
    events = client.subscribe(SubscribeToTaskRequest(id=asked["taskId"]))
    return await _read(events, begun=lambda: _write({"begun": True}))


async def configs(client: Client, asked: dict[str, Any]) -> dict[str, Any]:
    """A push notification config is made, read, listed and deleted."""
    task_id = asked["taskId"]
    made = await client.create_task_push_notification_config(
        TaskPushNotificationConfig(task_id=task_id, id="mine", url=asked["url"], token="receipt")
    )
    got = await client.get_task_push_notification_config(
        GetTaskPushNotificationConfigRequest(task_id=task_id, id=made.id)
    )
    told = {"got": [got.id, got.url, got.token]}
    listing = ListTaskPushNotificationConfigsRequest(task_id=task_id)
    before = await client.list_task_push_notification_configs(listing)
    deleting = DeleteTaskPushNotificationConfigRequest(task_id=task_id, id=made.id)
    await client.delete_task_push_notification_config(deleting)
    after = await client.list_task_push_notification_configs(listing)
    return told | {
        "listed": [config.id for config in before.configs],
        "left": [config.id for config in after.configs],
    }


_STEPS = {
    "send": send,
    "get": get,
    "list": list_tasks,
    "cancel": cancel,
    "subscribe": subscribe,
    "configs": configs,
}


async def _read(events: AsyncIterator[Any], *, until: str | None = None, begun: Any = None) -> dict[str, Any]:
    told: dict[str, Any] = {"kinds": [], "states": [], "text": ""}
    async for event in events:
        if begun and not told["kinds"]:
            begun()
        kind = event.WhichOneof("payload")
        told["kinds"].append(kind)
        told["contextId"] = getattr(event, kind).context_id
        match kind:
            case "task":
                told |= _told(event.task)
                told["states"].append(told["state"])
            case "status_update":
                told["state"] = TaskState.Name(event.status_update.status.state)
                told["states"].append(told["state"])
            case "artifact_update":
                told["text"] += _text(event.artifact_update.artifact.parts)
            case "message":
                told["text"] += _text(event.message.parts)
        if kind == until:
            break
    return told


def _told(task: Task) -> dict[str, Any]:
    return {
        "taskId": task.id,
        "contextId": task.context_id,
        "state": TaskState.Name(task.status.state),
        "text": "".join(_text(artifact.parts) for artifact in task.artifacts),
        "question": _text(task.status.message.parts),
    }


def _text(parts: Any) -> str:
    return "".join(part.text for part in parts)


async def answered(url: str, token: str, asked: dict[str, Any]) -> dict[str, Any]:
    """Resolves the card, and does what is asked."""
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=30) as http:
        version = {"A2A-Version": asked["cardVersion"]} if "cardVersion" in asked else {}
        card = await A2ACardResolver(http, url).get_agent_card(http_kwargs={"headers": version})
        config = ClientConfig(
            httpx_client=http,
            streaming=asked.get("streaming") or "until" in asked or asked["do"] == "subscribe",
            supported_protocol_bindings=[asked["binding"]],
        )
        told = await _STEPS[asked["do"]](ClientFactory(config).create(card), asked)
        return told | ({"card": MessageToDict(card)} if asked["do"] == "send" else {})


def _write(told: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


def main(url: str, token: str) -> None:
    """Answers line by line until the input ends."""
    for line in sys.stdin:
        try:
            told = asyncio.run(answered(url, token, json.loads(line)))
        except Exception as error:
            told = {"error": f"{type(error).__name__}: {error}"}
        _write(told)


if __name__ == "__main__":
    main(*sys.argv[1:])
