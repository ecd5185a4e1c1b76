"""What the hub remembers of a conversation: the last route, and the downstream's own ids for it.

Kept in this instance's memory and bounded: it makes a conversation better, and without it one goes on by the context id alone.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    from a2a_hub.a2a.extensions.tool_updates import PendingTools

_MOST = 10_000
_LONGEST_ID = 1000
_MOST_TOLD = 50


class Conversation(Struct, frozen=True, kw_only=True):
    """`route_id` is the route of the last turn, `waiting_task_id` its agent's task that waits for the user's next message.

    `pending_tools` are the tool calls that this task waits for a decision on, where it waits for that.

    `told` are the artifacts of that task, or of the one that can be gone on with, whose text the user has, by their ids: an
    agent that answers with its whole task names them again.

    By route: `context_ids` are the ids that agents gave this conversation, `open_tasks` those of their tasks that have answered,
    ask nothing, and can be gone on with.
    """

    route_id: str
    context_ids: Mapping[str, str] = {}
    waiting_task_id: str | None = None
    pending_tools: PendingTools | None = None
    open_tasks: Mapping[str, str] = {}
    told: Mapping[str, str] = {}

    def after(
        self,
        route_id: str,
        *,
        context_id: str | None,
        waiting_task_id: str | None,
        pending_tools: PendingTools | None = None,
        open_task_id: str | None = None,
        told: Mapping[str, str] | None = None,
    ) -> Conversation:
        """The conversation after one more turn. An id of absurd length is not remembered."""
        context_ids = self.context_ids
        if context_id and len(context_id) <= _LONGEST_ID and context_ids.get(route_id) != context_id:
            context_ids = {**context_ids, route_id: context_id}
        if waiting_task_id and len(waiting_task_id) > _LONGEST_ID:
            waiting_task_id = None
        open_tasks = {other: task_id for other, task_id in self.open_tasks.items() if other != route_id}
        if open_task_id and len(open_task_id) <= _LONGEST_ID:
            open_tasks[route_id] = open_task_id
        return Conversation(
            route_id=route_id,
            context_ids=context_ids,
            waiting_task_id=waiting_task_id,
            pending_tools=pending_tools if waiting_task_id else None,
            open_tasks=open_tasks,
            told=_bounded(told or {}) if waiting_task_id or open_task_id else {},
        )

    def task_of(self, route_id: str) -> str | None:
        """The task of this route's agent that the next message to it goes on with."""
        if self.waiting_task_id is not None and self.route_id == route_id:
            return self.waiting_task_id
        return self.open_tasks.get(route_id)

    def as_note(self) -> dict[str, Any]:
        """As it is kept with a task."""
        return {
            "route": self.route_id,
            "contexts": dict(self.context_ids),
            "waitingTask": self.waiting_task_id,
            "openTasks": dict(self.open_tasks),
            "pendingTools": msgspec.to_builtins(self.pending_tools),
            "told": dict(self.told),
        }


def noted(note: Any) -> Conversation | None:
    """The conversation that was kept with a task."""
    if not isinstance(note, dict):
        return None
    return Conversation(
        route_id=note["route"],
        context_ids=note["contexts"],
        waiting_task_id=note["waitingTask"],
        pending_tools=_pending(note.get("pendingTools")),
        open_tasks=note.get("openTasks", {}),
        told=note.get("told", {}),
    )


def _bounded(told: Mapping[str, str]) -> Mapping[str, str]:
    """The last ones, those with ids of absurd length left out."""
    short = [(id_, what) for id_, what in told.items() if len(id_) <= _LONGEST_ID]
    return dict(short[-_MOST_TOLD:])


def _pending(note: Any) -> PendingTools | None:
    if note is None:
        return None
    from a2a_hub.a2a.extensions.tool_updates import PendingTools

    return msgspec.convert(note, PendingTools)


class Conversations:
    """Conversations by owner and the id that downstream agents get; the one unused for longest goes first."""

    def __init__(self, *, most: int = _MOST) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._conversations: OrderedDict[tuple[str, str], Conversation] = OrderedDict()

    def get(self, owner: str, context_id: str) -> Conversation | None:
        """What is known of the conversation."""
        with self._lock:
            return self._conversations.get((owner, context_id))

    def forget_waiting(self, owner: str, context_id: str) -> None:
        """The task that waited in this conversation, or could be gone on with, is no more."""
        with self._lock:
            known = self._conversations.get((owner, context_id))
            if known is not None:
                self._conversations[owner, context_id] = known.after(
                    known.route_id, context_id=None, waiting_task_id=None
                )

    def put(self, owner: str, context_id: str, conversation: Conversation) -> None:
        """Remembers the conversation as it is after a turn."""
        with self._lock:
            self._conversations[owner, context_id] = conversation
            self._conversations.move_to_end((owner, context_id))
            if len(self._conversations) > self._most:
                self._conversations.popitem(last=False)
