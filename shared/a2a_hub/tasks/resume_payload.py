"""The resume payload: everything another process needs to run a task's turn. The caller's token is never stored."""

from typing import Any

import msgspec
from msgspec import Struct

from a2a_hub.a2a.call import Call, CurrentTask
from a2a_hub.a2a.model import Binding, SendMessageRequest, Task, Version
from a2a_hub.http.messages import Cancellation
from a2a_hub.identity.principal import Principal

_encode = msgspec.json.Encoder().encode


class ResumePayload(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A turn: the request as the agent gets it, and the parts of its call that an agent may see.

    `as_message` is True if the turn's result is a Message rather than a Task. `notes` are the agent's own.
    """

    request: SendMessageRequest
    principal: Principal
    version: Version
    binding: Binding
    streaming: bool = False
    accepted_modes: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    traceparent: str | None = None
    as_message: bool = True
    keeps_ui_contract: bool = True
    turn: int = 1
    notes: dict[str, Any] = {}

    def call(self, task: Task, *, request_id: str, record: dict[str, Any]) -> Call:
        """Return the original call, for the task in its present state."""
        return Call(
            request_id=request_id,
            principal=self.principal,
            version=self.version,
            binding=self.binding,
            streaming=self.streaming,
            accepted_modes=self.accepted_modes,
            extensions=self.extensions,
            traceparent=self.traceparent,
            cancellation=Cancellation(),
            record=record,
            keeps_ui_contract=self.keeps_ui_contract,
            task=CurrentTask(id=task.id, before=task, turn=self.turn, notes=dict(self.notes)),
        )


def encode_resume_payload(request: SendMessageRequest, call: Call, *, as_message: bool) -> bytes:
    """Return the encoded payload of a call with a task."""
    assert call.task is not None, "the payload belongs to a task"
    assert call.principal is not None, "only an owner's task is stored"
    return _encode(
        ResumePayload(
            request=request,
            principal=call.principal,
            version=call.version,
            binding=call.binding,
            streaming=call.streaming,
            accepted_modes=call.accepted_modes,
            extensions=call.extensions,
            traceparent=call.traceparent,
            as_message=as_message,
            keeps_ui_contract=call.keeps_ui_contract,
            turn=call.task.turn,
            notes=call.task.notes,
        )
    )


def decode_resume_payload(payload: bytes) -> ResumePayload:
    """Return the payload that `encode_resume_payload` encoded."""
    return _decode(payload)


_decode = msgspec.json.Decoder(ResumePayload).decode
