"""A client made with the official SDK of A2A 0.3: `client.py URL TOKEN`.

One JSON object a line in, {"do", "binding", …}; what came of it, or {"error"}, in a line out.
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
    GetTaskPushNotificationConfigParams,
    Message,
    Part,
    PushNotificationConfig,
    Role,
    Task,
    TaskIdParams,
    TaskPushNotificationConfig,
    TaskQueryParams,
    TextPart,
    TransportProtocol,
)


async def send(client: Client, asked: dict[str, Any]) -> dict[str, Any]:
    """The last of what came: of a stream, when `until` has come, after which the stream is cut."""
    message = Message(
        message_id=asked.get("messageId") or uuid.uuid4().hex,
        role=Role.user,
        parts=[Part(root=TextPart(text=asked["text"]))],
        task_id=asked.get("taskId"),
        context_id=asked.get("contextId"),
        metadata={"skill": asked["skill"]} if "skill" in asked else None,
    )
    return await _read(client.send_message(message), until=asked.get("until"))


async def get(client: Client, asked: dict[str, Any]) -> dict[str, Any]:
    """The task as it is."""
    return _told(await client.get_task(TaskQueryParams(id=asked["taskId"])))


async def cancel(client: Client, asked: dict[str, Any]) -> dict[str, Any]:
    """The task as it is then."""
    return _told(await client.cancel_task(TaskIdParams(id=asked["taskId"])))


async def subscribe(client: Client, asked: dict[str, Any]) -> dict[str, Any]:
    """Return what came from now on; that something has come is told in a line of its own."""
    events = client.resubscribe(TaskIdParams(id=asked["taskId"]))
    return await _read(events, begun=lambda: _write({"begun": True}))


async def configs(client: Client, asked: dict[str, Any]) -> dict[str, Any]:
    """A push notification config is made and read; this SDK does no more."""
    config = PushNotificationConfig(id="mine", url=asked["url"], token="receipt")
    task_id = asked["taskId"]
    made = await client.set_task_callback(TaskPushNotificationConfig(task_id=task_id, push_notification_config=config))
    assert made.push_notification_config.id
    got = await client.get_task_callback(
        GetTaskPushNotificationConfigParams(id=task_id, push_notification_config_id=made.push_notification_config.id)
    )
    read = got.push_notification_config
    return {"got": [read.id, read.url, read.token]}


_STEPS = {"send": send, "get": get, "cancel": cancel, "subscribe": subscribe, "configs": configs}


async def _read(events: AsyncIterator[Any], *, until: str | None = None, begun: Any = None) -> dict[str, Any]:
    told: dict[str, Any] = {"kinds": [], "states": [], "text": ""}
    async for event in events:
        if begun and not told["kinds"]:
            begun()
        if isinstance(event, Message):
            kind = event.kind
            told["text"] += _text(event.parts)
            told["contextId"] = event.context_id
        else:
            task, update = event
            kind = update.kind if update else task.kind
            told |= _told(task)
            told["states"].append(told["state"])
        told["kinds"].append(kind)
        if kind == until:
            break
    return told


def _told(task: Task) -> dict[str, Any]:
    return {
        "taskId": task.id,
        "contextId": task.context_id,
        "state": task.status.state.value,
        "text": "".join(_text(artifact.parts) for artifact in task.artifacts or []),
        "question": _text(task.status.message.parts) if task.status.message else "",
    }


def _text(parts: list[Part]) -> str:
    return "".join(part.root.text for part in parts if isinstance(part.root, TextPart))


async def answered(url: str, token: str, asked: dict[str, Any]) -> dict[str, Any]:
    """Resolves the card, and does what is asked."""
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=30) as http:
        card = await A2ACardResolver(http, url).get_agent_card()
        config = ClientConfig(
            httpx_client=http,
            streaming=asked.get("streaming") or "until" in asked or asked["do"] == "subscribe",
            polling=not asked.get("waits", True),
            supported_transports=[TransportProtocol(asked["binding"])],
            accepted_output_modes=asked.get("modes", ["text/plain"]),
        )
        told = await _STEPS[asked["do"]](ClientFactory(config).create(card), asked)
        return told | ({"card": card.model_dump(mode="json", exclude_none=True)} if asked["do"] == "send" else {})


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
