"""A client made with the newest official SDK of A2A 1.x: `client.py URL TOKEN`, then one JSON object a line in, one out.

In: {"binding", "streaming", "text", "cardVersion"?, "contextId"?, "skill"?}.
Out: {"card", "kinds", "states", "text", "contextId"}, or {"error"}.
"""

import asyncio
import json
import sys
import uuid
from typing import Any

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import Message, Part, Role, SendMessageRequest, TaskState
from google.protobuf.json_format import MessageToDict, ParseDict


async def answered(url: str, token: str, asked: dict[str, Any]) -> dict[str, Any]:
    """Resolves the card, sends the message, and says what came back."""
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=30) as http:
        version = {"A2A-Version": asked["cardVersion"]} if "cardVersion" in asked else {}
        card = await A2ACardResolver(http, url).get_agent_card(http_kwargs={"headers": version})
        config = ClientConfig(
            httpx_client=http, streaming=asked["streaming"], supported_protocol_bindings=[asked["binding"]]
        )
        client = ClientFactory(config).create(card)
        message = Message(
            message_id=uuid.uuid4().hex,
            role=Role.ROLE_USER,
            parts=[Part(text=asked["text"])],
            context_id=asked.get("contextId"),
        )
        if "skill" in asked:
            ParseDict({"skill": asked["skill"]}, message.metadata)
        told: dict[str, Any] = {"card": MessageToDict(card), "kinds": [], "states": [], "text": ""}
        async for event in client.send_message(SendMessageRequest(message=message)):
            _note(event, told)
        return told


def _note(event: Any, told: dict[str, Any]) -> None:
    kind = event.WhichOneof("payload")
    told["kinds"].append(kind)
    told["contextId"] = getattr(event, kind).context_id
    match kind:
        case "message":
            told["text"] += "".join(part.text for part in event.message.parts)
        case "artifact_update":
            told["text"] += "".join(part.text for part in event.artifact_update.artifact.parts)
        case "task" | "status_update":
            told["states"].append(TaskState.Name(getattr(event, kind).status.state))


def main(url: str, token: str) -> None:
    """Answers line by line until the input ends."""
    for line in sys.stdin:
        try:
            told = asyncio.run(answered(url, token, json.loads(line)))
        except Exception as error:
            told = {"error": f"{type(error).__name__}: {error}"}
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
