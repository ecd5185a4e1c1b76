"""Conversations: their context ids, and the hub's memory of the last route and the agents' own ids.

The memory is this instance's and bounded. Without it, a conversation continues by its context id alone.

A context id that the hub mints can be continued by its owner only, on any instance and without a store: it holds 8 random bytes
and a digest of them with the owner. Agents get the caller's own id as it is; a foreign or made-up one becomes another id, always
the same for the same caller, so that knowing an id opens nobody else's conversation.
"""

from __future__ import annotations

import hashlib
import threading
import uuid
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from a2a_hub.a2a.extensions.tool_updates import PendingTools
from a2a_hub.runtime.ids import random_hex

CONVERSATION, RUNNING, EXECUTES = "conversation", "running", "executes"
"""Names of notes in a turn's task: the conversation as the turn left it, the agent's own task while it runs, and that the turn
executes a slash command.
"""
_MOST = 10_000
_LONGEST_ID = 1000
_MOST_ARTIFACTS = 50


class Conversation(Struct, frozen=True, kw_only=True):
    """The state of a conversation after its last turn, whose route is `route_id`.

    `waiting_task_id` is the agent's task that waits for the user's next message, `pending_tools` the tool calls for which it
    needs a decision.

    `delivered_artifacts` are artifacts of that task, or of the open one, whose text the user has, by their ids: an agent that
    answers with its whole task repeats them.

    By route: `context_ids` are the ids that agents gave this conversation, `open_tasks` their idle tasks, which the next message
    continues.
    """

    route_id: str
    context_ids: Mapping[str, str] = {}
    waiting_task_id: str | None = None
    pending_tools: PendingTools | None = None
    open_tasks: Mapping[str, str] = {}
    delivered_artifacts: Mapping[str, str] = {}

    def after(
        self,
        route_id: str,
        *,
        context_id: str | None,
        waiting_task_id: str | None,
        pending_tools: PendingTools | None = None,
        open_task_id: str | None = None,
        delivered_artifacts: Mapping[str, str] | None = None,
    ) -> Conversation:
        """Return the conversation after one more turn. Ids of absurd length are left out."""
        context_ids = self.context_ids
        if context_id and len(context_id) <= _LONGEST_ID and context_ids.get(route_id) != context_id:
            context_ids = {**context_ids, route_id: context_id}
        if waiting_task_id and len(waiting_task_id) > _LONGEST_ID:
            waiting_task_id = None
        open_tasks = {other: task_id for other, task_id in self.open_tasks.items() if other != route_id}
        if open_task_id and len(open_task_id) <= _LONGEST_ID:
            open_tasks[route_id] = open_task_id
        has_task = waiting_task_id or open_task_id
        return Conversation(
            route_id=route_id,
            context_ids=context_ids,
            waiting_task_id=waiting_task_id,
            pending_tools=pending_tools if waiting_task_id else None,
            open_tasks=open_tasks,
            delivered_artifacts=_bounded(delivered_artifacts or {}) if has_task else {},
        )

    def task_of(self, route_id: str) -> str | None:
        """Return the task of this route's agent that the next message to it continues."""
        if self.waiting_task_id is not None and self.route_id == route_id:
            return self.waiting_task_id
        return self.open_tasks.get(route_id)

    def as_note(self) -> dict[str, Any]:
        """Return the conversation as a note for a stored task."""
        return {
            "route": self.route_id,
            "contexts": dict(self.context_ids),
            "waitingTask": self.waiting_task_id,
            "openTasks": dict(self.open_tasks),
            "pendingTools": msgspec.to_builtins(self.pending_tools),
            "told": dict(self.delivered_artifacts),
        }

    @classmethod
    def from_note(cls, note: Any) -> Conversation | None:
        """Return the conversation in a stored task's note; None without one."""
        if not isinstance(note, dict):
            return None
        pending = note.get("pendingTools")
        return cls(
            route_id=note["route"],
            context_ids=note["contexts"],
            waiting_task_id=note["waitingTask"],
            pending_tools=None if pending is None else msgspec.convert(pending, PendingTools),
            open_tasks=note.get("openTasks", {}),
            delivered_artifacts=note.get("told", {}),
        )


class Conversations:
    """Conversations by owner and downstream context id, bounded: the least recently used one goes first."""

    def __init__(self, *, most: int = _MOST) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._conversations: OrderedDict[tuple[str, str], Conversation] = OrderedDict()

    def get(self, owner: str, context_id: str) -> Conversation | None:
        """Return the conversation as its last turn left it."""
        with self._lock:
            return self._conversations.get((owner, context_id))

    def forget_waiting(self, owner: str, context_id: str) -> None:
        """Forget the task that waits in this conversation, or that its next message would continue."""
        with self._lock:
            conversation = self._conversations.get((owner, context_id))
            if conversation is not None:
                self._conversations[owner, context_id] = conversation.after(
                    conversation.route_id, context_id=None, waiting_task_id=None
                )

    def put(self, owner: str, context_id: str, conversation: Conversation) -> None:
        """Store the conversation as a turn left it."""
        with self._lock:
            self._conversations[owner, context_id] = conversation
            self._conversations.move_to_end((owner, context_id))
            if len(self._conversations) > self._most:
                self._conversations.popitem(last=False)


def mint_context(owner: str) -> str:
    """Return a new context id of this owner, in the form of a UUID (version 8, RFC 9562 §5.8)."""
    return _uuid(bytes.fromhex(random_hex()[:16]), owner)


def ids_of(owner: str, context_id: str | None) -> tuple[str, str]:
    """Return a turn's context id, minted if the caller gave none, and the one that downstream agents get."""
    if context_id is None:
        context_id = mint_context(owner)
        return context_id, context_id
    return context_id, for_downstream(owner, context_id)


def for_downstream(owner: str, context_id: str) -> str:
    """Return the context id of this owner's conversation for downstream agents."""
    try:
        head = uuid.UUID(context_id).bytes[:8]
    except ValueError:
        head = b""
    if head and _uuid(head, owner) == context_id:
        return context_id
    digest = hashlib.sha256(f"{len(owner)}:{owner}:{context_id}".encode()).digest()
    return _uuid(digest[:8], owner)


def _uuid(head: bytes, owner: str) -> str:
    data = bytearray(head)
    data[6] = (data[6] & 0x0F) | 0x80
    data += hashlib.sha256(bytes(data) + owner.encode()).digest()[:8]
    data[8] = (data[8] & 0x3F) | 0x80
    digits = data.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def _bounded(artifacts: Mapping[str, str]) -> Mapping[str, str]:
    """Return the last artifacts, without those whose ids have an absurd length."""
    short = [(id_, digest) for id_, digest in artifacts.items() if len(id_) <= _LONGEST_ID]
    return dict(short[-_MOST_ARTIFACTS:])
