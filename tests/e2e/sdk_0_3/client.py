"""A client made with the official SDK of A2A 0.3: `client.py URL TOKEN`, then one JSON object a line in, one out.

In: {"binding", "streaming", "text", "contextId"?, "skill"?}. Out: {"card", "kinds", "states", "text", "contextId"}, or {"error"}.
"""

import asyncio
import json
import sys
import uuid
from typing import Any

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import Message, Part, Role, Task, TextPart, TransportProtocol


async def answered(url: str, token: str, asked: dict[str, Any]) -> dict[str, Any]:
    """Resolves the card, sends the message, and says what came back."""
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=30) as http:
        card = await A2ACardResolver(http, url).get_agent_card()
        config = ClientConfig(
            httpx_client=http,
            streaming=asked["streaming"],
            supported_transports=[TransportProtocol(asked["binding"])],
        )
        client = ClientFactory(config).create(card)
        message = Message(
            message_id=uuid.uuid4().hex,
            role=Role.user,
            parts=[Part(root=TextPart(text=asked["text"]))],
            context_id=asked.get("contextId"),
            metadata={"skill": asked["skill"]} if "skill" in asked else None,
        )
        told: dict[str, Any] = {
            "card": card.model_dump(mode="json", exclude_none=True),
            "kinds": [],
            "states": [],
        }
        async for event in client.send_message(message):
            if isinstance(event, Message):
                told |= {"kinds": [event.kind], "text": _text(event.parts), "contextId": event.context_id}
            else:
                task, update = event
                told["kinds"].append(update.kind if update else task.kind)
                told["states"].append(task.status.state.value)
                told |= {"text": _text_of(task), "contextId": task.context_id}
        return told


def _text_of(task: Task) -> str:
    return "".join(_text(artifact.parts) for artifact in task.artifacts or [])


def _text(parts: list[Part]) -> str:
    return "".join(part.root.text for part in parts if isinstance(part.root, TextPart))


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
