"""The events of a turn for one subscriber."""

from a2a_hub.a2a.agent import TryLater
from a2a_hub.a2a.live_turn import STORED_SOON, TurnState
from a2a_hub.a2a.model import Event, TaskStatusUpdateEvent
from a2a_hub.a2a.relay import EventSource, Wake
from a2a_hub.tasks.task_turn import TaskTurn
from a2a_hub.tasks.updates import failure

MOST_BEHIND_SECONDS = 2.0
"""The longest wait of a turn's end for the store, so that a client that asks for the task then finds it as it was shown."""


def events_of(turn: TaskTurn) -> EventSource:
    """Return the turn's events for one caller: those of its run, or of the log where somebody else has its task."""
    return turn.log() if turn.state is TurnState.WAITING else TurnEvents(turn)


class TurnEvents:
    """An `EventSource`; the event that ends the turn is held back until the store has it.

    When somebody else goes on with the task, the rest comes from the store's log.
    """

    def __init__(self, turn: TaskTurn) -> None:
        subscription = turn.relay.subscribe()
        assert subscription is not None, "a task's run is never abandoned"
        turn.attend()
        self._turn = turn
        self._subscription = subscription
        self._log: EventSource | None = None
        self._held_until = 0.0
        self._failed = self._left = False

    def poll(self) -> Event | None:
        """See `EventSource.poll`."""
        if self._log is not None:
            return self._log.poll()
        turn, subscription, event, end = self._turn, self._subscription, None, None
        try:
            event = turn.relay.event_at(subscription.position)
        except BaseException as error:
            end = error
        if turn.state is TurnState.WAITING and subscription.position + (event is None) > turn.shown:
            self.close()
            self._log = turn.log(resumes=True)
            self._log.on_ready(subscription.wake)
            return self._log.poll()
        if end is not None:
            return self._last(end)
        if event is None or self._is_early(event):
            return None
        subscription.position += 1
        return event

    def _is_early(self, event: Event) -> bool:
        settles = isinstance(event, TaskStatusUpdateEvent) and event.status.state.settled
        if not settles or self._turn.state not in STORED_SOON:
            return False
        scheduler = self._turn.parts.scheduler
        if not self._held_until:
            self._held_until = scheduler.clock() + MOST_BEHIND_SECONDS
            scheduler.run_later(MOST_BEHIND_SECONDS, lambda: self._subscription.wake())
        return scheduler.clock() < self._held_until

    def _last(self, end: BaseException) -> Event | None:
        if not isinstance(end, TryLater):
            raise end
        if self._failed:
            raise StopIteration
        if self._turn.state in STORED_SOON:
            return None
        self._failed = True
        return failure(
            self._turn.first, end.message, self._turn.parts.message_factory, reason=end.reason, retryable=True
        )

    def on_ready(self, wake: Wake) -> None:
        """See `EventSource.on_ready`."""
        (self._log or self._subscription).on_ready(wake)

    def close(self) -> None:
        """See `EventSource.close`."""
        self._subscription.close()
        if not self._left:
            self._left = True
            self._turn.leave()
        if self._log is not None:
            self._log.close()
