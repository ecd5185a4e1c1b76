"""The turns that run in this process: whoever waits for one, watches it or cancels it finds it here."""

import threading
import time
from collections.abc import Callable, Iterator

from msgspec import structs

from a2a_hub.a2a.agent import Canceller
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import Event, Task, TaskStatusUpdateEvent
from a2a_hub.a2a.relay import Relay, Subscription
from a2a_hub.runtime.threads import Threads
from a2a_hub.tasks.opened import Opened
from a2a_hub.tasks.updates import updates

_UNTOLD_SECONDS = 0.5
_LOOK_SECONDS = 0.01


class Run:
    """One turn under way. It goes on when its client leaves: a task's owner can come back to it."""

    def __init__(
        self,
        call: Call,
        source: Iterator[Event],
        *,
        tell: Callable[[Call], None],
        threads: Threads,
    ) -> None:
        """`tell` passes a cancellation on to whoever works for the run; `threads` is where that is waited for."""
        assert call.task is not None, "a run is a task's"
        self.call = call
        self._task_in_hand = call.task
        self._cancel_at_agent = tell
        self._threads = threads
        self._cancelling = threading.Lock()
        self.task_id = call.task.id
        self.relay: Relay[Event] = Relay(source, on_abandoned=lambda: None)
        self.stored = threading.Event()
        """Set when the task is in the store, or will not be."""
        self.recorded = threading.Event()
        """Set when no more of it will be stored."""
        self.stored_version = 0
        """How far the task's log is this run's."""
        self.given_up = False
        """Another run has the task: what this one says from now on is not what became of it."""
        self.instead = ""
        """The task of the other run, where it is another one."""

    def subscribe(self, *, idle_seconds: float) -> Subscription[Event]:
        """The run's events from the first on."""
        subscription = self.relay.subscribe(idle_seconds=idle_seconds)
        assert subscription is not None, "the run itself subscribes first, and never leaves"
        return subscription

    def cancel(self) -> None:
        """Ends the run in CANCELED, soon, and tells whoever works for it; called again, nothing changes."""
        if self._cancelling.acquire(blocking=False):
            self._threads.run(self._cancel)

    def _cancel(self) -> None:
        notes = self._task_in_hand.notes
        deadline = time.monotonic() + _UNTOLD_SECONDS
        # Until the agent has said what its task is, nobody can tell it to stop.
        while not notes and time.monotonic() < deadline and not self.relay.ended(_LOOK_SECONDS):
            pass
        # With the notes as they are now: the turn takes them back when it ends.
        then = structs.replace(self._task_in_hand, notes=dict(notes))
        self.call.cancellation.cancel()
        self._cancel_at_agent(structs.replace(self.call, task=then))

    def give_up(self, *, instead: str = "") -> None:
        """Ends the run, since another run has its task; or, with `instead`, has that task for the same request."""
        self.instead = instead
        self.given_up = True
        self.call.cancellation.cancel()


class Runs:
    """The runs of this process, by task and by request. `agent` is told of cancellations. Thread-safe."""

    def __init__(self, agent: Canceller, *, threads: Threads, timestamp: Callable[[], str]) -> None:
        self._agent = agent
        self._threads = threads
        self._timestamp = timestamp
        self._lock = threading.Lock()
        self._by_task: dict[str, Run] = {}
        self._by_key: dict[str, Run] = {}

    def of_task(self, task_id: str) -> Run | None:
        """The run of a task."""
        with self._lock:
            return self._by_task.get(task_id)

    def running(self, key: str) -> Run | None:
        """The run of a request."""
        with self._lock:
            return self._by_key.get(key)

    def start(self, key: str | None, opened: Opened, *, allows_message: bool) -> tuple[Run, bool]:
        """The run of the same request that is under way, and False; else a new one, started, and True.

        It is a task's from its first event on, unless it `allows_message` with a Message alone.
        """
        with self._lock:
            running = self._by_key.get(key) if key is not None else None
            if running is not None:
                return running, False
            run = self._run(opened, allows_message=allows_message)
            self._by_task[run.task_id] = run
            if key is not None:
                self._by_key[key] = run
        # This subscription is never closed, so that the run goes on when every client has left.
        run.subscribe(idle_seconds=0)
        run.relay.start(self._threads, on_end=lambda: self._forget(key, run))
        return run, True

    def _run(self, opened: Opened, *, allows_message: bool) -> Run:
        events = updates(
            opened.turn.events,
            opened.first,
            cancellation=opened.call.cancellation,
            timestamp=self._timestamp,
            allows_message=allows_message,
        )
        return Run(opened.call, events, tell=self._agent.cancel, threads=self._threads)

    def _forget(self, key: str | None, run: Run) -> None:
        with self._lock:
            if self._by_task.get(run.task_id) is run:
                del self._by_task[run.task_id]
            if key is not None and self._by_key.get(key) is run:
                del self._by_key[key]


class UntilRecorded(Iterator["Event | None"]):
    """A run's events; the one that ends the turn is held back until the store has it, for at most `seconds`.

    When another run has taken the task, the rest is that one's, as `follow` gives it.
    """

    def __init__(
        self,
        events: Subscription[Event],
        run: Run,
        *,
        seconds: float,
        follow: Callable[[], Iterator[Event | None]],
    ) -> None:
        self._events: Iterator[Event | None] = events
        self._run = run
        self._seconds = seconds
        self._follow = follow
        self._following = False

    def __next__(self) -> Event | None:
        try:
            event = next(self._events)
        except Exception:
            # StopIteration included: a run that was given up may just end.
            if self._following or not self._run.given_up:
                raise
            event = None
        if self._following:
            return event
        if isinstance(event, TaskStatusUpdateEvent) and event.status.state.settled:
            self._run.recorded.wait(self._seconds)
        if not self._run.given_up or isinstance(event, Task):
            return event
        _close(self._events)
        self._events, self._following = self._follow(), True
        return next(self._events)

    def close(self) -> None:
        """Leaves the run; idempotent."""
        _close(self._events)


def _close(events: Iterator[Event | None]) -> None:
    close = getattr(events, "close", None)
    if close is not None:
        close()
