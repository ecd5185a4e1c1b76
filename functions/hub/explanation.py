"""The `route` extension of the hub: why an answer is as it is, in the metadata of its last event (docs/api.md)."""

import time
from collections.abc import Callable, Iterator
from typing import Any

from msgspec.structs import replace

from a2a_hub.a2a.model import Event, Message, Task, TaskStatusUpdateEvent
from a2a_hub.routing.hub_card import ROUTE_EXTENSION
from functions.hub.turn import TurnRecord


def explained(
    events: Iterator[Event],
    turn: TurnRecord,
    *,
    for_operator: bool,
    clock: Callable[[], float] = time.perf_counter,
) -> Iterator[Event]:
    """Yield the events; the one that ends the turn comes after its agent has ended, with the explanation in its metadata.

    Only that `for_operator` has the sentences that the verifier dropped.
    """
    started = clock()
    last: Message | Task | TaskStatusUpdateEvent | None = None
    for event in events:
        if last is not None:
            yield last
            last = None
        if isinstance(event, Message) or (
            isinstance(event, Task | TaskStatusUpdateEvent) and event.status.state.settled
        ):
            last = event
        else:
            yield event
    if last is not None:
        explanation = _explanation(turn, total_ms=round((clock() - started) * 1000, 3))
        lists = (data.get("dropped") for data in turn.data if for_operator)
        if dropped := [each for dropped in lists if isinstance(dropped, list) for each in dropped]:
            explanation["dropped"] = dropped
        yield replace(last, metadata={**(last.metadata or {}), ROUTE_EXTENSION: explanation})


def _explanation(turn: TurnRecord, *, total_ms: float) -> dict[str, Any]:
    route, choice = turn.route, turn.choice
    endpoint = turn.downstream.endpoint if turn.downstream else None
    values = {
        "requestId": turn.incoming.request_id,
        "route": route.id if route else None,
        "rule": choice.rule if choice else None,
        "words": choice.words if choice else None,
        "reason": turn.reason,
        "agent": route.name if route else None,
        "agentJa": route.name_ja if route else None,
        "boundary": route.boundary.kind if route else None,
        "version": endpoint.version if endpoint else None,
        "binding": endpoint.binding if endpoint else None,
        "declined": turn.declined,
        "citations": turn.citations,
        "error": turn.failure.kind if turn.failure else None,
        "timings": {"routingMs": turn.routing_ms, "downstreamMs": turn.downstream_ms, "totalMs": total_ms},
    }
    return {name: value for name, value in values.items() if value}
