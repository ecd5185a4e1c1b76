"""The turns under way in this process: their states, and joining identical requests.

Gemini Enterprise repeats requests: an identical one (same caller, operation and content) joins the turn under way. A turn that
has ended is not joined: a messageId may be reused for a new turn.
"""

import threading
import time
from collections.abc import Callable, Collection, Hashable
from enum import StrEnum
from typing import Any, Generic, Self, TypeVar

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import Event, Message, SendMessageRequest, Task
from a2a_hub.a2a.refusal import restarting
from a2a_hub.a2a.relay import Relay


class TurnState(StrEnum):
    """The state of a turn in this process (docs/architecture.md has the diagram)."""

    RECEIVED = "received"
    """The request was received; nothing runs yet."""
    RUNNING = "running"
    """The agent's events are read here; nothing is stored."""
    STORING = "storing"
    """The agent's events are read here; the task is being created in the store."""
    RECORDED = "recorded"
    """The agent's events are read here and appended to the task under a lease."""
    ENDING = "ending"
    """The agent has ended; the end is not stored yet."""
    FOLLOWING = "following"
    """Another process has the task (a worker, the runner, another instance), or nobody until the next attempt. Events come from
    the task's log.
    """
    SETTLED = "settled"
    """The result is known, and stored if the turn has a task."""
    REFUSED = "refused"
    """It never ran; the caller gets an error."""


_S = TurnState
_NEXT: dict[TurnState, frozenset[TurnState]] = {
    _S.RECEIVED: frozenset({_S.RUNNING, _S.STORING, _S.RECORDED, _S.FOLLOWING, _S.REFUSED}),
    _S.RUNNING: frozenset({_S.STORING, _S.SETTLED}),
    _S.STORING: frozenset({_S.RUNNING, _S.RECORDED, _S.ENDING, _S.FOLLOWING, _S.SETTLED}),
    _S.RECORDED: frozenset({_S.RUNNING, _S.ENDING, _S.FOLLOWING, _S.SETTLED}),
    _S.ENDING: frozenset({_S.FOLLOWING, _S.SETTLED}),
    _S.FOLLOWING: frozenset(),
    _S.SETTLED: frozenset(),
    _S.REFUSED: frozenset(),
}
OVER = frozenset({_S.FOLLOWING, _S.SETTLED, _S.REFUSED})
"""Nothing more happens to the turn in this process."""
ENDED = OVER | {_S.ENDING}
"""The agent's events are not read here, or no longer."""
BEING_RECORDED = frozenset({_S.STORING, _S.RECORDED, _S.ENDING})
"""A recording is still writing to the store."""
UNDER_WAY = BEING_RECORDED | {_S.RUNNING}
STORED_OR_NOT = frozenset(_S) - {_S.STORING, _S.ENDING}
"""Neither the creation nor the end of the turn's task waits to be stored."""
_STARTED = frozenset(_S) - {_S.RECEIVED}


class LiveTurn:
    """A turn under way, for the request as it was `sent`. Only `enter` changes its state, under a lock; of two threads, the
    first wins. With `hands_over`, it is handed over to another process in its current state, if one can resume it.

    `relay` has the events of its run; a turn that is answered in one piece has none, but a `result`.
    """

    # Shared by all turns without a stream; it is never started or read.
    relay = Relay[Event]()
    result: Task | Message

    def __init__(self, sent: SendMessageRequest, call: Call) -> None:
        self.sent = sent
        self.call = call
        self.state = TurnState.RECEIVED
        self.error: BaseException | None = None
        self.hands_over = False
        self._changed = threading.Condition()
        self._when_over: list[Callable[[Any], object]] = []

    def enter(self, state: TurnState, *, error: BaseException | None = None) -> bool:
        """Enter the state; return False if that is no transition from the current one."""
        with self._changed:
            if state not in _NEXT[self.state]:
                return False
            self.state, self.error = state, error
            self._changed.notify_all()
        if state in OVER:
            for callback in self._when_over:
                callback(self)
        self.relay.wake(is_last=state in OVER)
        return True

    def when_over(self, callback: Callable[[Self], object]) -> None:
        """Call `callback` with the turn as soon as it is over."""
        self._when_over.append(callback)

    def hand_over(self) -> None:
        """Hand the turn over to another process, now or as soon as it is recorded."""
        self.hands_over = True
        self.relay.wake()

    def wait(self, states: Collection[TurnState], seconds: float | None = None) -> bool:
        """Wait until the turn is in one of these states; False if `seconds` have passed before."""
        with self._changed:
            return self._changed.wait_for(lambda: self.state in states, seconds)

    def ended(self) -> None:
        """Settle the turn when its agent has ended, or wait in ENDING until the end is stored."""
        if not self.enter(TurnState.ENDING):
            self.enter(TurnState.SETTLED, error=self.relay.error)

    def abandon(self, error: BaseException | None = None) -> bool:
        """End the turn, because its callers have left or the process stops, and cancel its call; return False if it is already
        over.
        """
        ends = self.enter(TurnState.REFUSED, error=error) or self.enter(TurnState.SETTLED, error=error)
        if ends:
            self.call.cancellation.cancel()
        return ends


L = TypeVar("L", bound=LiveTurn)


class LiveTurns(Generic[L]):
    """The turns of this process by their requests. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turns: dict[L, Hashable] = {}
        self._by_key: dict[Hashable, L] = {}
        self.draining = False

    def claim(self, turn: L, *, joins: bool = True) -> L:
        """Return the identical turn under way, else register and return this one.

        Anonymous callers may be different people, and join nothing. Raises UNAVAILABLE during shutdown.
        """
        key = _key(turn) if joins else None
        with self._lock:
            if self.draining:
                raise restarting()
            other = self._by_key.get(key)
            if other is not None and other.state not in ENDED and other.sent == turn.sent:
                return other
            self._turns[turn] = key
            if key is not None:
                self._by_key[key] = turn
        turn.when_over(self._forget)
        return turn

    def begin(self, turn: L, start: Callable[[L], object]) -> tuple[L, bool]:
        """Return the identical turn under way and False, else start this one with `start` and return it and True. Raises the
        turn's error if it was refused.
        """
        claimed = self.claim(turn)
        if claimed is turn:
            try:
                start(turn)
            except BaseException as error:
                if not turn.abandon(error) and turn.error is not None:
                    raise turn.error from error
                raise
        else:
            claimed.wait(_STARTED)
        if claimed.state is TurnState.REFUSED and claimed.error is not None:
            raise claimed.error
        return claimed, claimed is turn

    def _forget(self, turn: L) -> None:
        with self._lock:
            key = self._turns.pop(turn)
            if self._by_key.get(key) is turn:
                del self._by_key[key]

    def __len__(self) -> int:
        return len(self._turns)

    @property
    def body_bytes(self) -> int:
        """The total size of their request bodies."""
        with self._lock:
            return sum(turn.call.body_bytes for turn in self._turns)

    def drain(self, *, seconds: float = 5.0) -> None:
        """Accept no more work, and hand over turns that others can resume. Turns that are not over after `seconds` are ended."""
        deadline = time.monotonic() + seconds
        with self._lock:
            self.draining = True
            turns = list(self._turns)
        for turn in turns:
            turn.hand_over()
        for turn in turns:
            if not turn.wait(OVER, max(0.0, deadline - time.monotonic())):
                turn.abandon(restarting())


def _key(turn: LiveTurn) -> Hashable | None:
    """Return the key of requests that are identical if their content is equal, too; None for an anonymous caller."""
    call, owner = turn.call, turn.call.owner
    return (owner, call.streaming, call.version, call.binding, turn.sent.message.message_id) if owner else None
