"""From a binding's decoded input to the 1.0 request, through compat for 0.3, with the rules that both bindings share."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from a2a_hub.a2a import operations, protojson
from a2a_hub.a2a.compat.v0_3.dialect import Dialect
from a2a_hub.a2a.compat.v0_3.request import to_core_params
from a2a_hub.a2a.errors import invalid_field
from a2a_hub.a2a.model import Part, Role, SendMessageRequest
from a2a_hub.a2a.operations import Operation
from a2a_hub.a2a.text import text_of
from a2a_hub.a2a.versions import Version
from a2a_hub.runtime.ids import new_id

_PUSH_CONFIG_NAMES = frozenset({"taskPushNotificationConfig", "task_push_notification_config"})


def read_params(
    operation: Operation, version: Version, params: Any, dialect: Dialect = Dialect.JSONRPC
) -> msgspec.Struct:
    """The request. Raises INVALID_PARAMS with the field named."""
    if not isinstance(params, dict):
        raise invalid_field("params", "must be an object")
    text = params.get("text")
    of_0_3 = version is Version.V0_3
    core = to_core_params(operation, params, dialect) if of_0_3 else _accept_candidate(operation, params)
    if operation.request is SendMessageRequest and core.get("message") is None and isinstance(text, str):
        core = core | {"message": _message_of(text)}
    request = protojson.read(operation.request, core)
    if isinstance(request, SendMessageRequest):
        if isinstance(text, str) and not text_of(request.message):
            request = _with_part(request, text)
        _check_message(request, version)
    elif not of_0_3:
        _check_set(request)
    if operation is operations.CREATE_PUSH_CONFIG and not core.get("taskId", core.get("task_id")):
        raise invalid_field("taskId", "is required")
    return request


def _check_set(request: msgspec.Struct) -> None:
    """What is required is set: "" is what a proto's string is when it is not (A2A 1.0.1 §5.7)."""
    for field in msgspec.structs.fields(request):
        if field.required and getattr(request, field.name) == "":
            raise invalid_field(field.encode_name, "must not be empty")


def _check_message(request: SendMessageRequest, version: Version) -> None:
    message = request.message
    if not message.message_id:
        raise invalid_field("message.messageId", "must not be empty")
    if message.role is Role.UNSPECIFIED:
        raise invalid_field("message.role", "must be ROLE_USER or ROLE_AGENT")
    configuration = request.configuration
    if configuration is not None and (configuration.history_length or 0) < 0:
        raise invalid_field("configuration.historyLength", "must not be negative")
    if not message.parts and version is Version.V1_0:
        raise invalid_field("message.parts", "must have at least one part")


def _message_of(text: str) -> dict[str, Any]:
    """Some clients send `params.text` and no message."""
    return {"messageId": new_id(), "role": Role.USER.value, "parts": [{"text": text}]}


def _with_part(request: SendMessageRequest, text: str) -> SendMessageRequest:
    """Others send `params.text` beside a message that says nothing, or holds only files."""
    parts = (*request.message.parts, Part(text=text))
    return replace(request, message=replace(request.message, parts=parts))


def _accept_candidate(operation: Operation, params: dict[str, Any]) -> dict[str, Any]:
    """Spellings of the 1.0 release candidate that cannot be confused with the released ones."""
    configuration = params.get("configuration")
    if operation.request is SendMessageRequest and isinstance(configuration, dict):
        renamed = dict(configuration)
        blocking = renamed.pop("blocking", None)
        if blocking is not None and not {"returnImmediately", "return_immediately"} & renamed.keys():
            if not isinstance(blocking, bool):
                raise invalid_field("configuration.blocking", "must be a boolean")
            renamed["returnImmediately"] = not blocking
        config = renamed.pop("pushNotificationConfig", renamed.pop("push_notification_config", None))
        if config is not None and not _PUSH_CONFIG_NAMES & renamed.keys():
            renamed["taskPushNotificationConfig"] = config
        return params | {"configuration": renamed}
    if operation is operations.CREATE_PUSH_CONFIG:
        config = params.get("config", params.get("pushNotificationConfig"))
        if isinstance(config, dict):
            inner: dict[str, Any] = config.get("pushNotificationConfig", config)
            return inner | {
                name: item for name, item in params.items() if name in ("taskId", "task_id", "tenant")
            }
    return params
