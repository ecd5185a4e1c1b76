"""Conversations: the last route, the agents' own context ids, and what the agents wait for.

They are stored in the task store if one is configured, so that every instance knows them, else in the process. During an outage
of the store, turns use the process's memory and continue without the stored state.

A context id that the hub mints can be continued by its owner only, on any instance and without a store: it holds 8 random bytes
and a digest of them with the owner. Agents get the caller's own id as it is; a foreign or made-up one becomes another id, always
the same for the same caller, so that a known id gives no access to another caller's conversation.

Anonymous callers are not one owner. An id that the hub minted for one is a capability: whoever has it continues the
conversation, and agents get a digest of it. Any other id of an anonymous caller means a new conversation with each message.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from a2a_hub.a2a.extensions.memory import MAX_BYTES
from a2a_hub.a2a.extensions.tool_updates import PendingTools
from a2a_hub.runtime.ids import random_hex
from a2a_hub.task_store.store import SharedState, TooLarge, Unavailable
from a2a_hub.telemetry.log import Log

CONVERSATION, RUNNING, EXECUTES, REPEATS = "conversation", "running", "executes", "repeats"
"""Names of notes in a turn's task: the conversation as the turn left it, the agent's own task while it runs, that the turn
executes a slash command, and how often its answer broke off.
"""
_MAX_ENTRIES = 10_000
_MAX_BYTES = 32_000_000
_MAX_NEW = 1000
_PAUSE_SECONDS = 5.0
_LONGEST_ID = 1000
_MAX_SURFACES = 50
_MAX_ARTIFACTS = 50


class ContextIds(NamedTuple):
    """The context id of a turn, and the one sent to agents, which is the conversation's key. Without `has_memory`, nothing is
    stored.
    """

    context_id: str
    downstream: str
    has_memory: bool = True


def mint_context(owner: str) -> str:
    """Return a new context id of this owner, in the form of a UUID (version 8, RFC 9562 §5.8)."""
    return _uuid(bytes.fromhex(random_hex()[:16]), owner)


def ids_of(owner: str, context_id: str) -> ContextIds:
    """Return the ids of a turn in a context of this owner."""
    try:
        head = bytes.fromhex(context_id[:18].replace("-", ""))
    except ValueError:
        head = b""
    if len(head) == 8 and _uuid(head, owner) == context_id:
        return ids_of_minted(owner, context_id)
    if not owner:
        return ContextIds(context_id, mint_context(owner), has_memory=False)
    return ContextIds(context_id, _digested(owner, context_id))


def ids_of_minted(owner: str, context_id: str) -> ContextIds:
    """Return the ids of a turn in a context that the hub minted for this owner."""
    return ContextIds(context_id, context_id if owner else _digested(owner, context_id))


def _digested(owner: str, context_id: str) -> str:
    digest = hashlib.sha256(f"{len(owner)}:{owner}:{context_id}".encode()).digest()
    return _uuid(digest[:8], owner)


def _uuid(head: bytes, owner: str) -> str:
    data = bytearray(head)
    data[6] = (data[6] & 0x0F) | 0x80
    data += hashlib.sha256(bytes(data) + owner.encode()).digest()[:8]
    data[8] = (data[8] & 0x3F) | 0x80
    digits = data.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


class Conversation(Struct, frozen=True, kw_only=True):
    """The state of a conversation after its last turn, whose route is `route_id`; "" if nothing depends on that.

    `waiting_task_id` is the agent's task that waits for the user's next message, `pending_tools` the tool calls for which it
    needs a decision, `transport_state` what the hub itself keeps with that task where the agent keeps nothing.

    `delivered_artifacts` are artifacts of that task, or of the open one, whose text the user has, by their ids: an agent that
    answers with its whole task repeats them.

    By route: `context_ids` are the ids that agents gave this conversation, `open_tasks` their idle tasks, which the next message
    continues, `memories` what they have the hub keep for their next turns.

    Revisions of the hub read what others wrote: fields are only ever added, each with a default.
    """

    route_id: str = field(default="", name="route")
    context_ids: Mapping[str, str] = field(default_factory=dict, name="contexts")
    waiting_task_id: str | None = field(default=None, name="waitingTask")
    pending_tools: PendingTools | None = field(default=None, name="pendingTools")
    transport_state: Mapping[str, Any] = field(default_factory=dict, name="transportState")
    open_tasks: Mapping[str, str] = field(default_factory=dict, name="openTasks")
    delivered_artifacts: Mapping[str, str] = field(default_factory=dict, name="told")
    memories: Mapping[str, Any] = field(default_factory=dict)
    surfaces: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """The surfaces of A2UI: the route of the agent that made each, and its task while that has not ended."""
    feedback: Mapping[str, str] = field(default_factory=dict)
    """The user's latest ratings, by the request id of the rated turn."""
    answered_by: str = field(default="", name="answeredBy")
    """The route whose agent was the last one that had an answer, among those that keep follow-ups."""
    stored_at: float = field(default=0.0, name="storedAt")

    def with_surfaces(self, surfaces: Iterable[str], route_id: str, task_id: str | None) -> Conversation:
        """Return the conversation with surfaces that an agent has made; of many, the last ones."""
        task = task_id if task_id and len(task_id) <= _LONGEST_ID else ""
        known = {**self.surfaces, **dict.fromkeys(surfaces, (route_id, task))}
        return replace(self, surfaces=dict(list(known.items())[-_MAX_SURFACES:]))

    def task_of_surface(self, surface: str | None, route_id: str) -> str | None:
        """Return the task that made a surface, if it is this route's and has not ended."""
        route, task = self.surfaces.get(surface or "", ("", ""))
        return task or None if route == route_id else None

    def after(
        self,
        route_id: str,
        *,
        last_route_id: str | None = None,
        context_id: str | None = None,
        hub_context_id: str | None = None,
        waiting_task_id: str | None = None,
        pending_tools: PendingTools | None = None,
        transport_state: Mapping[str, Any] | None = None,
        open_task_id: str | None = None,
        delivered_artifacts: Mapping[str, str] | None = None,
        memory: Any = None,
        has_answer: bool = True,
    ) -> Conversation:
        """Return the conversation after one more turn. Ids of absurd length and large memories are left out.

        The next turn takes up `last_route_id`, by default this route, and always this one while a task waits there. An agent that
        uses `hub_context_id` has no context id of its own.
        """
        context_ids = self.context_ids
        if context_id and len(context_id) <= _LONGEST_ID and context_ids.get(route_id, hub_context_id) != context_id:
            context_ids = {**context_ids, route_id: context_id}
        if waiting_task_id and len(waiting_task_id) > _LONGEST_ID:
            waiting_task_id = None
        open_tasks = {other: task_id for other, task_id in self.open_tasks.items() if other != route_id}
        if open_task_id and len(open_task_id) <= _LONGEST_ID:
            open_tasks[route_id] = open_task_id
        has_task = bool(waiting_task_id or open_task_id)
        memories = self.memories
        if memory is not None and len(msgspec.json.encode(memory)) <= MAX_BYTES:
            memories = {**memories, route_id: memory}
        return Conversation(
            route_id=route_id if last_route_id is None or has_task else last_route_id,
            answered_by=route_id if has_answer and last_route_id == route_id else self.answered_by,
            context_ids=context_ids,
            waiting_task_id=waiting_task_id,
            pending_tools=pending_tools if waiting_task_id else None,
            transport_state=transport_state or {} if waiting_task_id else {},
            open_tasks=open_tasks,
            delivered_artifacts=_bounded(delivered_artifacts or {}) if has_task else {},
            feedback=self.feedback,
            memories=memories,
            surfaces={
                surface: (route, task if route != route_id or has_task else "")
                for surface, (route, task) in self.surfaces.items()
            },
        )

    def task_of(self, route_id: str) -> str | None:
        """Return the task of this route's agent that the next message to it continues."""
        if self.waiting_task_id is not None and self.route_id == route_id:
            return self.waiting_task_id
        return self.open_tasks.get(route_id)

    def merged_with(self, later: Conversation | None) -> Conversation:
        """Return this conversation of one task, merged with the state of other agents from turns of other tasks."""
        if later is None:
            return self
        others = {route_id: task_id for route_id, task_id in later.open_tasks.items() if route_id != self.route_id}
        own = {self.route_id: self.open_tasks[self.route_id]} if self.route_id in self.open_tasks else {}
        return replace(
            self,
            context_ids={**self.context_ids, **later.context_ids},
            open_tasks=others | own,
            memories={**self.memories, **later.memories},
        )

    @classmethod
    def from_note(cls, note: Any) -> Conversation | None:
        """Return the conversation in a stored task's note; None without one."""
        return msgspec.convert(note, cls) if isinstance(note, dict) else None


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Conversation).decode


class ProcessMemory:
    """The memory of the process, bounded in number and bytes: the least recently stored conversation goes first. Thread-safe."""

    def __init__(
        self, *, clock: Callable[[], float], max_entries: int = _MAX_ENTRIES, max_bytes: int = _MAX_BYTES
    ) -> None:
        self._clock = clock
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._bytes = 0
        self._lock = threading.Lock()
        self._conversations: OrderedDict[tuple[str, str], tuple[bytes, float]] = OrderedDict()

    def conversation(self, owner: str, context_id: str) -> bytes | None:
        """See `SharedState.conversation`."""
        data, expires_at = self._conversations.get((owner, context_id), (None, 0.0))
        return data if expires_at > self._clock() else None

    def put_conversation(self, owner: str, context_id: str, data: bytes, *, expires_at: float) -> None:
        """See `SharedState.put_conversation`."""
        with self._lock:
            self._remove(owner, context_id)
            self._conversations[owner, context_id] = data, expires_at
            self._bytes += len(data)
            while len(self._conversations) > self._max_entries or self._bytes > self._max_bytes:
                self._bytes -= len(self._conversations.popitem(last=False)[1][0])

    def forget(self, owner: str, context_id: str) -> None:
        """Forget the conversation."""
        with self._lock:
            self._remove(owner, context_id)

    def _remove(self, owner: str, context_id: str) -> None:
        self._bytes -= len(self._conversations.pop((owner, context_id), (b"", 0.0))[0])


class Conversations:
    """The conversations in `store`, or without one in the process. `clock` gives seconds since the epoch. Thread-safe."""

    def __init__(
        self,
        store: SharedState | ProcessMemory | None,
        *,
        log: Log,
        ttl_seconds: float = 30 * 86_400.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.stopgap = ProcessMemory(clock=clock)
        self._turns = ProcessMemory(clock=clock)
        self._store = store or self.stopgap
        self._log = log
        self.ttl_seconds = ttl_seconds
        self.clock = clock
        self._away_until = 0.0
        self._new: dict[str, None] = {}

    def mint(self, owner: str) -> str:
        """Return a new context id; its first turn needs no read of the store."""
        if len(self._new) >= _MAX_NEW:
            self._new.clear()
        context_id = mint_context(owner)
        self._new[context_id] = None
        return context_id

    def open(self, owner: str, ids: ContextIds) -> TurnMemory:
        """Return the memory of one turn, after a single read of the store."""
        store = self.stopgap if self.clock() < self._away_until else self._store
        memory = TurnMemory(self, store if ids.has_memory else None, (owner, ids.downstream))
        is_new = self._new.pop(ids.context_id, self) is None
        if ids.has_memory and not is_new:
            memory.read()
        return memory

    def ids_of(self, owner: str, context_id: str | None) -> ContextIds:
        """Return the ids of a turn; one is minted if the caller gave none."""
        return ids_of(owner, context_id) if context_id else ids_of_minted(owner, self.mint(owner))

    def note_turn(self, owner: str, ids: ContextIds, request_id: str, route_id: str) -> None:
        """Remember the last turn, for a rating of its answer: in the process, since no turn should write to the store for it."""
        if ids.has_memory:
            data, expires_at = f"{request_id} {route_id}".encode(), self.clock() + self.ttl_seconds
            self._turns.put_conversation(owner, ids.downstream, data, expires_at=expires_at)

    def last_turn(self, owner: str, ids: ContextIds) -> tuple[str, str] | None:
        """Return the request id and the route of the last turn that this process had; None if it had none."""
        request_id, _, route_id = (self._turns.conversation(owner, ids.downstream) or b"").decode().partition(" ")
        return (request_id, route_id) if request_id else None

    def forget_waiting(self, owner: str, ids: ContextIds) -> None:
        """Forget the task that waits in this conversation, or that its next message would continue."""
        memory = self.open(owner, ids)
        if memory.conversation is not None:
            memory.save(memory.conversation.after(memory.conversation.route_id))

    def pause(self, reason: str) -> None:
        """Use the process's memory for some seconds, so that not every turn waits for an unavailable store."""
        self._away_until = self.clock() + _PAUSE_SECONDS
        self._log.line("WARNING", reason)


class TurnMemory:
    """The conversation of one turn: its state at the start (`conversation`), and as last stored. Without a `store`, there is no
    memory.
    """

    def __init__(
        self, conversations: Conversations, store: SharedState | ProcessMemory | None, key: tuple[str, str]
    ) -> None:
        self._conversations = conversations
        self._store = store
        self._key = key
        self._stored = Conversation()
        self.conversation: Conversation | None = None

    def read(self) -> None:
        """Read the conversation. During an outage of the store, the turn has that of the process instead, to its end."""
        assert self._store is not None, "there is a memory"
        stopgap = self._conversations.stopgap
        try:
            data = self._store.conversation(*self._key)
            if self._store is not stopgap:
                stopgap.forget(*self._key)
        except Unavailable:
            self._conversations.pause("Turns begin without memory: the task store does not answer")
            self._store = stopgap
            data = stopgap.conversation(*self._key)
        with suppress(msgspec.MsgspecError):
            self.conversation = self._stored = _decode(data or b"")

    def save(self, conversation: Conversation) -> None:
        """Store the conversation if anything of it has changed, or if it would soon expire."""
        if self._store is None:
            return
        now, ttl_seconds = self._conversations.clock(), self._conversations.ttl_seconds
        expires = self.conversation is not None and now - self._stored.stored_at > ttl_seconds / 10
        if not expires and replace(conversation, stored_at=self._stored.stored_at) == self._stored:
            return
        self._stored = replace(conversation, stored_at=now)
        data, expires_at = _encode(self._stored), now + ttl_seconds
        try:
            self._store.put_conversation(*self._key, data, expires_at=expires_at)
        except Unavailable:
            self._conversations.pause("A conversation is not stored: the task store does not answer")
            self._conversations.stopgap.put_conversation(*self._key, data, expires_at=expires_at)
        except TooLarge:
            # The task has what waits, if there is one.
            pass


def _bounded(artifacts: Mapping[str, str]) -> Mapping[str, str]:
    """Return the last artifacts, without those whose ids have an absurd length."""
    short = [(id_, digest) for id_, digest in artifacts.items() if len(id_) <= _LONGEST_ID]
    return dict(short[-_MAX_ARTIFACTS:])
