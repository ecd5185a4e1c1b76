"""SendMessage and SendStreamingMessage where no task is kept: the turn lives as long as somebody waits for it."""

from collections.abc import Callable
from contextlib import suppress

from a2a_hub.a2a.agent import Agent
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.errors import PUSH_NOTIFICATION_NOT_SUPPORTED, TASK_NOT_FOUND, A2AError
from a2a_hub.a2a.fold import fold
from a2a_hub.a2a.live_turn import LiveTurn, LiveTurns, TurnState
from a2a_hub.a2a.model import Message, SendMessageRequest, Task
from a2a_hub.a2a.relay import Abandoned, EventSource, Relay
from a2a_hub.runtime.threads import Threads


class Unstored:
    """Answers the two operations for an agent that keeps no tasks, and for callers who own none. `turns` are those under way."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self.turns = LiveTurns[LiveTurn]()
        self._threads = Threads("relay")

    def send(self, request: SendMessageRequest, call: Call) -> Task | Message:
        """See `Sending.send`."""
        turn, is_new = self._begin(LiveTurn(request, call), self._answer)
        if not is_new:
            turn.wait((TurnState.SETTLED,))
        # The agent has told a person what happened.
        if turn.error is not None and not (is_new and call.for_ui):
            raise turn.error
        return turn.result

    def stream(self, request: SendMessageRequest, call: Call) -> EventSource:
        """See `Sending.stream`. The turn ends when its last subscriber leaves."""
        while True:
            turn = LiveTurn(request, call)
            turn.relay = Relay(on_left=turn.abandon, ends_when_left=True)
            # Before it starts: whoever joins it and leaves at once is not its last subscriber.
            events = turn.relay.subscribe()
            turn, is_new = self._begin(turn, self._stream)
            with suppress(Abandoned):
                return events if is_new else turn.relay.subscribe()

    def _begin(self, turn: LiveTurn, start: Callable[[LiveTurn], None]) -> tuple[LiveTurn, bool]:
        """Return the request's turn, and True if it is this one, and so was started. Raises A2AError."""
        request, configuration = turn.sent, turn.sent.configuration
        if configuration is not None and configuration.task_push_notification_config is not None:
            raise A2AError(PUSH_NOTIFICATION_NOT_SUPPORTED)
        if request.message.task_id:
            raise A2AError(TASK_NOT_FOUND, metadata={"taskId": request.message.task_id[:200]})
        return self.turns.begin(turn, start)

    def _answer(self, turn: LiveTurn) -> None:
        events = self._agent.send(turn.sent, turn.call).events
        if turn.enter(TurnState.RUNNING):
            turn.result = fold([*events])
            turn.enter(TurnState.SETTLED)

    def _stream(self, turn: LiveTurn) -> None:
        events = self._agent.send(turn.sent, turn.call).events
        if turn.enter(TurnState.RUNNING):
            turn.relay.start(events, self._threads, on_end=turn.ended)
