"""Sending a message in the form in which nearly every client sends it, read in one step: text parts, and nothing unusual.

Whatever has another member, type or value is None here and goes the general way, which tells what is wrong with it; what is
read here is what the general way would read (tests/unit/a2a/test_plain_send.py).
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from a2a_hub.a2a.model import Message, Part, Role, SendMessageConfiguration, SendMessageRequest
from a2a_hub.a2a.protojson import MAX_DEPTH

_ROLES = {"user": Role.USER, "agent": Role.AGENT, "ROLE_USER": Role.USER, "ROLE_AGENT": Role.AGENT}
_Id = Annotated[str, Meta(min_length=1)]


class _Plain(Struct, forbid_unknown_fields=True, kw_only=True, rename="camel"):
    """Nothing but these members."""


class _Part(_Plain, kw_only=True):
    text: str
    metadata: dict[str, Any] | None = None


class _PartV03(_Part, kw_only=True):
    kind: Literal["text"]


class _Message(_Plain, kw_only=True):
    message_id: _Id
    context_id: str | None = None
    task_id: str | None = None
    metadata: dict[str, Any] | None = None


class _MessageV03(_Message, kw_only=True):
    role: Literal["user", "agent"]
    parts: list[_PartV03]
    kind: Literal["message"] | None = None


class _MessageV10(_Message, kw_only=True):
    role: Literal["ROLE_USER", "ROLE_AGENT"]
    parts: Annotated[list[_Part], Meta(min_length=1)]


class _ConfigurationV03(_Plain, kw_only=True):
    accepted_output_modes: tuple[str, ...] | None = None
    blocking: bool | None = None


class _ConfigurationV10(_Plain, kw_only=True):
    accepted_output_modes: tuple[str, ...] | None = None
    return_immediately: bool | None = None


class _ParamsV03(_Plain, kw_only=True):
    message: _MessageV03
    configuration: _ConfigurationV03 | None = None
    metadata: dict[str, Any] | None = None


class _ParamsV10(_Plain, kw_only=True):
    message: _MessageV10
    configuration: _ConfigurationV10 | None = None
    metadata: dict[str, Any] | None = None


class _Envelope(_Plain, kw_only=True, tag_field="method"):
    jsonrpc: Literal["2.0"]
    id: str | int | float | None = None


class _SendV03(_Envelope, kw_only=True, tag="message/send"):
    params: _ParamsV03


class _StreamV03(_Envelope, kw_only=True, tag="message/stream"):
    params: _ParamsV03


class _SendV10(_Envelope, kw_only=True, tag="SendMessage"):
    params: _ParamsV10


class _StreamV10(_Envelope, kw_only=True, tag="SendStreamingMessage"):
    params: _ParamsV10


_decoder = msgspec.json.Decoder(_SendV03 | _StreamV03 | _SendV10 | _StreamV10)
_METHODS = {type_: str(type_.__struct_config__.tag) for type_ in (_SendV03, _StreamV03, _SendV10, _StreamV10)}


def read(body: bytes) -> tuple[str | int | float | None, str, SendMessageRequest] | None:
    """The id, method and request of a JSON-RPC request of that form; None for any other body."""
    if body.count(b"{") + body.count(b"[") > MAX_DEPTH:
        return None
    try:
        envelope = _decoder.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    params = envelope.params
    message = params.message
    request = SendMessageRequest(
        message=Message(
            message_id=message.message_id,
            role=_ROLES[message.role],
            parts=tuple([Part(text=part.text, metadata=part.metadata) for part in message.parts]),
            context_id=message.context_id,
            task_id=message.task_id,
            metadata=message.metadata,
        ),
        configuration=_configuration(params.configuration),
        metadata=params.metadata,
    )
    return envelope.id, _METHODS[type(envelope)], request


def _configuration(given: _ConfigurationV03 | _ConfigurationV10 | None) -> SendMessageConfiguration | None:
    if given is None:
        return None
    match given:
        case _ConfigurationV03(blocking=blocking):
            at_once = blocking is False
        case _ConfigurationV10(return_immediately=return_immediately):
            at_once = return_immediately is True
    return SendMessageConfiguration(
        accepted_output_modes=given.accepted_output_modes or (), return_immediately=at_once
    )
