"""What the hub remembers of a conversation: the last route, and the downstream's own ids for it.

Kept in this instance's memory and bounded: it makes a conversation better, and without it one goes on by the context id alone.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass

_MOST = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """`waiting_task_id` is the downstream's task that waits for the user's next message, None when none does."""

    route_id: str
    downstream_context_id: str | None = None
    waiting_task_id: str | None = None


class Conversations:
    """Conversations by owner and context id; the one unused for longest goes first."""

    def __init__(self, *, most: int = _MOST) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._conversations: OrderedDict[tuple[str, str], Conversation] = OrderedDict()

    def get(self, owner: str, context_id: str) -> Conversation | None:
        """What is known of the conversation."""
        with self._lock:
            return self._conversations.get((owner, context_id))

    def put(self, owner: str, context_id: str, conversation: Conversation) -> None:
        """Remembers the conversation as it is after a turn."""
        with self._lock:
            self._conversations[owner, context_id] = conversation
            self._conversations.move_to_end((owner, context_id))
            if len(self._conversations) > self._most:
                self._conversations.popitem(last=False)
