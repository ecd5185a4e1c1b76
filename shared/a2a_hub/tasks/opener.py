"""Opens turns: which task a request goes on with, whether it may, and that the same request is under way already."""

from a2a_hub.a2a.agent import Agent, Turn
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.errors import PAYLOAD_TOO_LARGE, UNSUPPORTED_OPERATION, A2AError
from a2a_hub.a2a.model import Event, SendMessageRequest, Task, TaskState, TaskStatus
from a2a_hub.a2a.reply import MessageFactory
from a2a_hub.task_store.store import (
    HUB,
    LeaseLost,
    StoredTask,
    TaskEnded,
    TaskStore,
    TooLarge,
    Unavailable,
    WrongVersion,
)
from a2a_hub.tasks.opened import Opened
from a2a_hub.tasks.push_configs import PushConfigs
from a2a_hub.tasks.recorder import find_appended
from a2a_hub.tasks.task_resolution import NewTaskPolicy, before_turn, resolve_task
from a2a_hub.tasks.updates import status_update


class Opener:
    """Opens turns. Of one that goes on with a task, the client's message is in the task's log then."""

    def __init__(
        self,
        agent: Agent,
        store: TaskStore,
        configs: PushConfigs,
        *,
        message_factory: MessageFactory,
        new_task_policy: NewTaskPolicy,
    ) -> None:
        self._agent = agent
        self._store = store
        self._configs = configs
        self._message_factory = message_factory
        self._new_task_policy = new_task_policy

    def open(self, sent: SendMessageRequest, call: Call) -> Opened:
        """The turn, with its task in hand; nothing runs yet. Raises A2AError."""
        request, call, prior = resolve_task(
            sent,
            call,
            store=self._store,
            agent=self._agent,
            new_id=self._message_factory.new_id,
            new_task_policy=self._new_task_policy,
        )
        if prior is None:
            turn = self._agent.send(request, call)
            assert call.task is not None, "in_hand puts one there"
            status = TaskStatus(state=TaskState.SUBMITTED, timestamp=self._message_factory.timestamp())
            message = request.message
            first = Task(id=call.task.id, context_id=message.context_id, status=status, history=(message,))
            return Opened(sent, request, call, turn, first)
        turn = Turn(events=iter(()), role=prior.role)
        opened = Opened(sent, request, call, turn, prior.task, before=prior.task)
        if not prior.task.status.state.interrupted:
            return self._joined(opened)
        if prior.role == HUB:
            opened.turn = self._agent.send(request, call)
        return self._answered(opened, prior)

    def _answered(self, opened: Opened, prior: StoredTask) -> Opened:
        push = self._configs.with_message(opened.webhook, opened.call.version, task_id=prior.task.id)
        state = TaskState.SUBMITTED if opened.turn.role else TaskState.WORKING
        # In this order, since the new status puts the question before the answer.
        events: list[Event] = [
            status_update(prior.task, state, self._message_factory.timestamp()),
            opened.request.message,
        ]
        try:
            opened.stored = self._store.append(
                prior.task.id,
                events,
                expected_version=prior.version,
                payload=opened.payload(),
                request_key=opened.key(),
                push=push,
            )
        except (WrongVersion, TaskEnded, LeaseLost):
            return self._joined(opened)
        except TooLarge:
            raise too_large() from None
        except Unavailable:
            opened.stored = find_appended(self._store, prior, events)
            if opened.stored is None:
                raise
        opened.first = opened.stored.task
        return opened

    def _joined(self, opened: Opened) -> Opened:
        """The turn of the same request, which works on the task. Raises A2AError where another one does."""
        task_id = opened.first.id
        other = self._store.running(opened.owner, opened.key())
        if other is None or other.task.id != task_id:
            raise A2AError(
                UNSUPPORTED_OPERATION,
                "The task is being worked on and takes no message before it asks for one",
                metadata={"taskId": task_id},
            )
        opened.join(other, before=before_turn(self._store, other))
        return opened


def too_large() -> A2AError:
    """The store keeps no task of this size."""
    return A2AError(PAYLOAD_TOO_LARGE, "The task would grow larger than a task may be")
