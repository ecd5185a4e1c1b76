"""The events of a turn for one subscriber."""

from a2a_hub.a2a.live_turn import BEING_RECORDED, TurnState
from a2a_hub.a2a.model import Event
from a2a_hub.a2a.relay import EventSource, Wake
from a2a_hub.tasks.task_turn import TaskTurn
from a2a_hub.tasks.updates import settles

MOST_BEHIND_SECONDS = 2.0
"""The longest wait of a turn's end for the store, so that a client that asks for the task then finds it as it was shown."""


class TurnEvents:
    """An `EventSource`: the events of the turn's run, and those of the task's log as soon as the turn follows it.

    The event that ends the turn is held back until the store has it.
    """

    def __init__(self, turn: TaskTurn) -> None:
        self._turn = turn
        self._subscription = turn.relay.subscribe()
        self._log: EventSource | None = None
        self._held_until = 0.0

    def poll(self) -> Event | None:
        """See `EventSource.poll`."""
        # What the run says after it has lost its task is not shown.
        turn, state, subscription = self._turn, self._turn.state, self._subscription
        if state is TurnState.FOLLOWING and self._log is None:
            self.close()
            self._log = turn.log(seen=subscription.position)
            self._log.on_ready(subscription.wake)
        if self._log is not None:
            return self._log.poll()
        event = turn.relay.event_at(subscription.position)
        if event is None or (state in BEING_RECORDED and self._is_early(event)):
            return None
        subscription.position += 1
        return event

    def _is_early(self, event: Event) -> bool:
        """Return True for a turn's end that the store does not have. Until then, that of an agent that is away is none."""
        if not settles(event):
            return False
        scheduler = self._turn.parts.scheduler
        if not self._held_until:
            self._held_until = scheduler.clock() + MOST_BEHIND_SECONDS
            scheduler.run_later(MOST_BEHIND_SECONDS, lambda: self._subscription.wake())
        return self._turn.away is not None or scheduler.clock() < self._held_until

    def on_ready(self, wake: Wake) -> None:
        """See `EventSource.on_ready`."""
        (self._log or self._subscription).on_ready(wake)

    def close(self) -> None:
        """See `EventSource.close`."""
        self._subscription.close()
        if self._log is not None:
            self._log.close()
