"""Conversations in tests: agents that echo or ask something back, and one turn, whichever way it is asked."""

from typing import Any

import pytest

from tests.fakes.agent_server import ReceivedMessage
from tests.fakes.agent_wire import Json, artifact, message, status, task, text
from tests.fakes.hub import Hub, streamed_text, text_of

WAYS = pytest.mark.parametrize("way", ["send", "send 1.0", "stream", "query"])


def echo(said: ReceivedMessage) -> list[Json]:
    return [message(text(said.text))]


def asks_for_a_date(said: ReceivedMessage) -> list[Json]:
    """Asks back once for each task."""
    context_id = said.context_id or ""
    if said.task_id is None:
        return [
            task("working", context_id=context_id),
            status("input-required", "For which day?", context_id=context_id),
        ]
    assert said.task_id == "task-1"
    return [task("completed", artifact("a", text(f"Booked: {said.text}")), context_id=context_id)]


def turn(hub: Hub, way: str, asked: str, context_id: str | None = None, **options: Any) -> tuple[str, str]:
    """The context id and the text that came back."""
    match way:
        case "query":
            fields = {"contextId": context_id} if context_id else {}
            record = hub.query(asked, **fields, **options)
            return record["contextId"], record["answer"]
        case "stream":
            events = hub.stream(asked, context_id=context_id, **options)
            return events[-1]["contextId"], streamed_text(events)
    version = "1.0" if way == "send 1.0" else "0.3"
    answer = hub.send(asked, context_id=context_id, version=version, **options)
    return answer["contextId"], text_of(answer)
