"""SendMessage and SendStreamingMessage where tasks are kept (A2A 1.0.1 §3.1.1, §3.1.2).

A short turn that is waited for touches no store. One that goes on, that is streamed, that asks something back, or that nobody
waits for, becomes a task of its owner.
"""

import contextlib
from collections.abc import Iterator

import msgspec

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.errors import UNAVAILABLE
from a2a_hub.a2a.fold import fold
from a2a_hub.a2a.model import Event, Message, Part, SendMessageRequest, Task
from a2a_hub.a2a.reply import Failure, MessageFactory, as_message, to_events
from a2a_hub.task_store.store import StoredTask, TaskStore, Unavailable
from a2a_hub.tasks.opened import Opened
from a2a_hub.tasks.opener import Opener
from a2a_hub.tasks.run import Run, UntilRecorded
from a2a_hub.tasks.settings import WaitLimits
from a2a_hub.tasks.starting import Starter
from a2a_hub.tasks.storing import Storing
from a2a_hub.tasks.subscription import TaskSubscription, settled, wait_until_settled
from a2a_hub.tasks.text_only import TextOnlyStream, TextOnlyView, UiTexts

# How long the end of a turn waits for the store, so that whoever asks for the task then finds it as it was shown.
_MOST_BEHIND_SECONDS = 2.0


class Sending:
    """Answers the two operations. `texts` is what a person reads."""

    def __init__(
        self,
        opener: Opener,
        starter: Starter,
        storing: Storing,
        store: TaskStore,
        *,
        wait_limits: WaitLimits,
        texts: UiTexts,
        message_factory: MessageFactory,
    ) -> None:
        self._opener = opener
        self._starter = starter
        self._storing = storing
        self._store = store
        self._wait_limits = wait_limits
        self._texts = texts
        self._message_factory = message_factory

    def send(self, request: SendMessageRequest, call: Call) -> Task | Message:
        """The turn's result, or the task as it is when patience ends. Raises A2AError."""
        message = request.message
        try:
            opened = self._opener.open(request, call)
            message = opened.request.message
            if opened.turn.immediate and opened.stored is None:
                return fold(opened.turn.events)
            running = self._starter.start(opened, stored=_must_be_stored(request))
        except Unavailable:
            if not call.for_ui:
                raise
            return fold(self._store_away(message, call))
        configuration = request.configuration
        if configuration is not None and configuration.return_immediately:
            # Whoever asks for this knows what a task is, and comes back for it.
            return running.task if isinstance(running, StoredTask) else self._stored_task(running, opened)
        if isinstance(running, StoredTask):
            answer = self._answer(self._settled(running, opened), opened)
        else:
            answer = self._answer(self._waited_for(running, opened), opened)
        if call.for_ui and isinstance(answer, Message):
            return self._text_only(opened).message(answer)
        return answer

    def stream(self, request: SendMessageRequest, call: Call, *, idle_seconds: float) -> Iterator[Event | None]:
        """The turn's events, None for `idle_seconds` without one. It has `close`. Raises A2AError."""
        if call.for_ui:
            idle_seconds = min(idle_seconds, self._wait_limits.ui_seconds)
        message = request.message
        try:
            opened = self._opener.open(request, call)
            message = opened.request.message
            running = self._starter.start(opened, stored=_must_be_stored(request))
        except Unavailable:
            if not call.for_ui:
                raise
            return self._store_away(message, call)
        events: Iterator[Event | None]
        if isinstance(running, StoredTask):
            events = self._following(
                running.task.id, first=running.task, after=running.version, idle_seconds=idle_seconds
            )
        else:
            if opened.stored is None and not opened.joined:
                self._storing.store_beside(running, opened)
            subscription = running.subscribe(idle_seconds=idle_seconds)
            events = UntilRecorded(
                subscription,
                running,
                seconds=_MOST_BEHIND_SECONDS,
                follow=lambda: self._following(
                    running.task_id, after=running.stored_version, idle_seconds=idle_seconds
                ),
            )
        if not call.for_ui:
            return events
        return TextOnlyStream(
            events,
            view=self._text_only(opened),
            seconds=self._wait_limits.ui_seconds,
            still_working=lambda task_id: self._still_working(opened, task_id),
            message_factory=self._message_factory,
        )

    def _text_only(self, opened: Opened) -> TextOnlyView:
        return TextOnlyView(
            with_data=opened.call.wants_data,
            empty_answer=lambda: self._texts.without_answer(opened.sent.message),
            before=opened.before,
        )

    def _following(
        self, task_id: str, *, after: int, idle_seconds: float, first: Task | None = None
    ) -> TaskSubscription:
        return TaskSubscription(
            self._store, task_id, first=first, after=after, idle_seconds=idle_seconds, ends_when_waiting=True
        )

    def _seconds(self, opened: Opened) -> float:
        return self._wait_limits.ui_seconds if opened.call.for_ui else self._wait_limits.blocking_seconds

    def _settled(self, stored: StoredTask, opened: Opened) -> Task:
        return wait_until_settled(self._store, stored, seconds=self._seconds(opened)).task

    def _stored_task(self, run: Run, opened: Opened) -> Task:
        """The task of a run that may be another request's."""
        stored = opened.stored or self._store.get(run.task_id, owner=opened.owner)
        return stored.task if stored else opened.first

    def _waited_for(self, run: Run, opened: Opened) -> Task | Message:
        """The run's result, stored from the moment that it takes long; or the task as it is when patience ends."""
        seconds = self._seconds(opened)
        first = min(self._wait_limits.store_seconds, seconds)
        if not run.relay.ended(first):
            if opened.stored is None and not opened.joined:
                self._storing.store_late(run, opened)
            run.relay.ended(seconds - first)
            # The turn may have ended while it was being stored: then that goes on behind it.
            run.stored.wait(_MOST_BEHIND_SECONDS)
        if opened.stored is not None or run.stored_version:
            run.recorded.wait(_MOST_BEHIND_SECONDS)
        if run.given_up:
            # Whoever joined the run has stored nothing.
            other = opened.stored or self._store.get(run.instead or run.task_id, owner=opened.owner)
            if other is not None:
                return self._settled(other, opened)
        events, ended = run.relay.events_after(0, 0)
        if ended and run.relay.error is not None:
            raise run.relay.error
        return fold(events) if events else opened.first

    def _answer(self, result: Task | Message, opened: Opened) -> Task | Message:
        if isinstance(result, Message):
            return result
        call = opened.call
        if call.for_ui and not settled(result):
            part = Part(text=self._still_working(opened, result.id))
            return self._message_factory.message(part, context_id=result.context_id)
        before = opened.before
        # A task that its client knows stays one.
        answers = opened.turn.as_message and result.status.state.terminal and before is None
        if opened.stored is None and not opened.joined and not (answers and settled(result)):
            # Somebody can ask for it, or answer it.
            self._storing.store_settled(opened, result)
        if settled(result) and (call.for_ui or answers):
            return as_message(result, before=before, message_id=self._message_factory.new_id())
        return result

    def _store_away(self, message: Message, call: Call) -> Iterator[Event]:
        """What a person reads, who can be shown no error, of a request that has to be stored."""
        call.record.update(severity="ERROR", outcome=UNAVAILABLE.reason)
        said = Failure(self._texts.store_away(message))
        call = msgspec.structs.replace(call, task=None)
        return to_events(
            iter((said,)),
            context_id=message.context_id or "",
            call=call,
            message_factory=self._message_factory,
        )

    def _still_working(self, opened: Opened, task_id: str) -> str:
        stored = None
        with contextlib.suppress(Unavailable):
            stored = self._store.get(task_id, owner=opened.owner)
        return self._texts.still_working(opened.request.message, stored.number if stored else None)


def _must_be_stored(request: SendMessageRequest) -> bool:
    configuration = request.configuration
    return configuration is not None and (
        configuration.return_immediately or configuration.task_push_notification_config is not None
    )
