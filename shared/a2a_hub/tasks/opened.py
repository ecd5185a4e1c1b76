"""A turn that can start, with everything that is known of it."""

import hashlib
from dataclasses import dataclass

import msgspec

from a2a_hub.a2a.agent import Turn
from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import SendMessageRequest, Task, TaskPushNotificationConfig
from a2a_hub.task_store.store import StoredTask
from a2a_hub.tasks.resume_payload import encode_resume_payload


@dataclass(slots=True)
class Opened:
    """`sent` is the request as it came, `request` the same with ids of ours; `first` is the task before the turn.

    `before` is the task before its client answered it, None for a new one. `stored` is the task as it was stored last, None while
    it is not; `joined` says that the same request was under way, `other` its task where that runs elsewhere.
    """

    sent: SendMessageRequest
    request: SendMessageRequest
    call: Call
    turn: Turn
    first: Task
    before: Task | None = None
    stored: StoredTask | None = None
    joined: bool = False
    other: StoredTask | None = None

    @property
    def owner(self) -> str:
        """Whose task it is."""
        assert self.call.principal is not None, "without an owner nothing is kept"
        return self.call.principal.subject

    @property
    def webhook(self) -> TaskPushNotificationConfig | None:
        """Where the client wants to be told of the task."""
        configuration = self.request.configuration
        return configuration.task_push_notification_config if configuration else None

    def join(self, other: StoredTask, *, before: Task | None) -> None:
        """The same request is under way in `other`, which was `before` when it came."""
        self.joined, self.other, self.before = True, other, before

    def payload(self) -> bytes:
        """What somebody else needs to run the turn, with the agent's notes as they are now."""
        return encode_resume_payload(self.request, self.call, as_message=self.turn.as_message)

    def key(self) -> str:
        """What makes two requests the same: caller, operation, and everything that was sent."""
        call = self.call
        digest = hashlib.blake2b(digest_size=20)
        for text in (self.owner, call.version, call.binding, "stream" if call.streaming else "send"):
            digest.update(text.encode() + b"\n")
        digest.update(_encode(self.sent))
        return digest.hexdigest()


_encode = msgspec.json.Encoder().encode
