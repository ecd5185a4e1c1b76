"""The resume payload: everything another process needs to run a task's turn. The caller's token is never stored."""

from typing import Any, Self

import msgspec
from msgspec import Struct

from a2a_hub.a2a.call import Call, CurrentTask
from a2a_hub.a2a.model import Binding, SendMessageRequest, Task, Version
from a2a_hub.identity.principal import Principal


class ResumePayload(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A turn: the request as the agent gets it, and the parts of its call that an agent may see.

    `notes` are the agent's own. `began_at` is when the turn began, in seconds since the epoch, `tries` how often its agent was
    away since.
    """

    request: SendMessageRequest
    principal: Principal
    version: Version
    binding: Binding
    streaming: bool = False
    accepted_modes: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    traceparent: str | None = None
    for_ui: bool = True
    tenant: str = ""
    turn: int = 1
    notes: dict[str, Any] = {}
    began_at: float = 0.0
    tries: int = 0

    @classmethod
    def of(cls, request: SendMessageRequest, call: Call, *, began_at: float, tries: int) -> Self:
        """Return the payload of a call for an owner's task, with the agent's notes as they are now."""
        assert call.task is not None, "the payload belongs to a task"
        assert call.principal is not None, "only an owner's task is stored"
        shared = {name: getattr(call, name) for name in _OF_CALL}
        return cls(
            request=request, turn=call.task.turn, notes=call.task.notes, began_at=began_at, tries=tries, **shared
        )

    def call(self, task: Task, *, request_id: str, record: dict[str, Any]) -> Call:
        """Return the original call, for the task in its present state."""
        current = CurrentTask(id=task.id, before=task, turn=self.turn, notes=dict(self.notes))
        shared = {name: getattr(self, name) for name in _OF_CALL}
        return Call(request_id=request_id, record=record, task=current, **shared)


_OF_CALL = set(ResumePayload.__struct_fields__) & set(Call.__struct_fields__)
encode = msgspec.json.Encoder().encode
decode_resume_payload = msgspec.json.Decoder(ResumePayload).decode
"""Return the payload that `encode` made."""
