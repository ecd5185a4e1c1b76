"""The codec of A2A 0.3, and its requests. Oddities: `historyLength` 0 means all, not none; an unset `blocking` waits, as 1.0's
unset `returnImmediately` does, but in a configuration over HTTP+JSON it is false: ProtoJSON leaves false out, and so do the
official clients.

`params.text` is no part of 0.3, yet some clients send nothing else: it stands in where no message has text.
"""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from a2a_hub.a2a import operations as op
from a2a_hub.a2a import protojson
from a2a_hub.a2a.card import AgentCard
from a2a_hub.a2a.compat.v0_3 import event
from a2a_hub.a2a.compat.v0_3.card import both_versions, to_compat_card
from a2a_hub.a2a.compat.v0_3.message import to_compat_message, to_core_message, to_core_part
from a2a_hub.a2a.errors import invalid_field
from a2a_hub.a2a.model import Binding, Event, Message, Part, SendMessageConfiguration, SendMessageRequest, Task, Version
from a2a_hub.a2a.operations import Operation, Rest
from a2a_hub.a2a.protojson import as_object, as_string, copied, member, written
from a2a_hub.a2a.versions import VersionCodec
from a2a_hub.http.messages import JSON

_METHODS = {
    op.SEND_MESSAGE.name: "message/send",
    op.SEND_STREAMING_MESSAGE.name: "message/stream",
    op.GET_TASK.name: "tasks/get",
    op.CANCEL_TASK.name: "tasks/cancel",
    op.SUBSCRIBE_TO_TASK.name: "tasks/resubscribe",
    op.CREATE_PUSH_CONFIG.name: "tasks/pushNotificationConfig/set",
    op.GET_PUSH_CONFIG.name: "tasks/pushNotificationConfig/get",
    op.LIST_PUSH_CONFIGS.name: "tasks/pushNotificationConfig/list",
    op.DELETE_PUSH_CONFIG.name: "tasks/pushNotificationConfig/delete",
    op.GET_EXTENDED_AGENT_CARD.name: "agent/getAuthenticatedExtendedCard",
}
# The operations of 0.3: it lists tasks over HTTP+JSON alone.
_WITH_PATHS = frozenset({*_METHODS, op.LIST_TASKS.name})
_PREFIX = "/v1"


class CodecV03(VersionCodec):
    """A2A 0.3 on the wire."""

    version = Version.V0_3
    media_type = JSON  # §3.2.3 knows no other.
    extensions_header = "x-a2a-extensions"
    has_tenants = False
    streams_errors = True
    ui_binding = Binding.JSONRPC
    ends_stream_when_interrupted = True
    push_config_field = "pushNotificationConfig."
    send_push_config_field = "configuration.pushNotificationConfig."
    default_push_config_id = "default"
    refuses_other_context = False
    refuses_task_without_question = False
    shows_ended_task = True
    notifies_with_tasks = True

    def method(self, operation: Operation) -> str | None:
        return operation.name if operation.extension else _METHODS.get(operation.name)

    def paths(self, operation: Operation) -> tuple[Rest, ...]:
        if operation is op.GET_EXTENDED_AGENT_CARD:
            return (Rest("GET", "/v1/card"),)
        if operation.name not in _WITH_PATHS:
            return ()
        return tuple(Rest(rest.method, _PREFIX + rest.path) for rest in operation.rest)

    def write_result(self, operation: Operation, value: Event | Struct | None, binding: Binding) -> bytes:
        """See `VersionCodec.write_result`. None is null over JSON-RPC; a task is bare over HTTP+JSON."""
        rest = binding is Binding.HTTP_JSON
        if value is None:
            return b"{}" if rest else b"null"
        compat: Any = event.to_compat_result(value, binding)
        if rest and not operation.wraps and isinstance(value, Task | Message):
            compat = compat["task"]
        return protojson.encode(compat)

    def write_notification(self, value: Event) -> bytes:
        """See `VersionCodec.write_notification`. Both bindings send the same."""
        return protojson.encode(event.to_compat_result(value, Binding.JSONRPC))

    def write_send(self, request: SendMessageRequest, binding: Binding, tenant: str | None) -> Any:
        """See `VersionCodec.write_send`.

        Parts have no metadata in the proto of 0.3.0: agents made with the SDKs for Java, and early ones for Python, refuse what
        has some, such as every text that Gemini Enterprise sends.
        """
        if binding is Binding.HTTP_JSON:
            parts = tuple(replace(part, metadata=None) for part in request.message.parts)
            request = replace(request, message=replace(request.message, parts=parts))
        return to_compat_send(request, binding)

    def read_event(self, value: Any) -> Event:
        return super().read_event(event.to_core_event(value))

    def read_task(self, value: Any) -> Task:
        return super().read_task(event.to_core_task(value, "result"))

    def read_part(self, value: Any) -> Part:
        return super().read_part(to_core_part(value, "part"))

    def knows_event(self, value: Any) -> bool:
        return not isinstance(value, dict) or event.knows_kind_of(value)

    def owns_event(self, value: Any) -> bool:
        """See `VersionCodec.owns_event`. LangGraph streams events of 0.3 whatever its card says; none of 1.0 has a `kind`."""
        return isinstance(value, dict) and "kind" in value

    def request_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        own = VersionCodec.extensions_header
        return {self.extensions_header if name == own else name: value for name, value in headers.items()}

    def url(self, base: str, operation: Operation, tenant: str | None) -> str:
        """See `VersionCodec.url`. An agent's URL may end with the version's prefix already."""
        return base.rstrip("/").removesuffix(_PREFIX) + self.paths(operation)[0].path

    def card(self, card: AgentCard, *, protocol_version_v0_3: str) -> Any:
        return to_compat_card(card, protocol_version=protocol_version_v0_3)

    def card_for_all(self, card: AgentCard, *, protocol_version_v0_3: str) -> Any:
        return both_versions(card, protocol_version=protocol_version_v0_3)

    def _core_params(self, operation: Operation, params: dict[str, Any], binding: Binding) -> dict[str, Any]:
        if operation.request is SendMessageRequest:
            return to_core_send(params, binding)
        translate = _PARAMS.get(operation.name)
        return translate(params) if translate else params

    def _check(self, request: Struct) -> None:
        """Accept requests that leave required fields empty, as 0.3's clients do."""


def to_core_send(value: Any, binding: Binding = Binding.JSONRPC) -> dict[str, Any]:
    """Return 0.3's MessageSendParams as 1.0's SendMessageRequest JSON."""
    params = as_object(value, "params")
    core = copied(params, "metadata")
    # `message` is `request` in 0.3's proto, and the official 1.x client writes it so when it speaks 0.3 over HTTP+JSON.
    message = next((params[name] for name in ("message", "request") if params.get(name) is not None), None)
    if message is not None:
        core["message"] = to_core_message(message, "message")
    if params.get("configuration") is not None:
        core["configuration"] = to_core_configuration(params["configuration"], "configuration", binding)
    return core


def to_core_configuration(value: Any, path: str, binding: Binding) -> dict[str, Any]:
    """Return 0.3's MessageSendConfiguration as 1.0 JSON."""
    configuration = as_object(value, path)
    core = _without_unlimited(copied(configuration, "acceptedOutputModes", "historyLength"))
    blocking = configuration.get("blocking", False if binding is Binding.HTTP_JSON else None)
    if blocking is not None:
        if not isinstance(blocking, bool):
            raise invalid_field(f"{path}.blocking", "must be a boolean")
        core["returnImmediately"] = not blocking
    for name in ("pushNotificationConfig", "pushNotification"):
        if (config := member(configuration, name)) is not None:
            core["taskPushNotificationConfig"] = event.to_core_push_config(config, f"{path}.{name}")
    return core


def _without_unlimited(core: dict[str, Any]) -> dict[str, Any]:
    length = core.get("historyLength")
    if length == "0" or (length == 0 and not isinstance(length, bool)):
        del core["historyLength"]
    return core


def to_compat_send(request: SendMessageRequest, binding: Binding) -> dict[str, Any]:
    """Return a 1.0 SendMessageRequest as 0.3's MessageSendParams, for a downstream agent that speaks 0.3."""
    configuration = to_compat_configuration(request.configuration, binding) if request.configuration else None
    message = to_compat_message(request.message, binding)
    return written(request, tenant=None, message=message, configuration=configuration)


def to_compat_configuration(configuration: SendMessageConfiguration, binding: Binding) -> dict[str, Any]:
    compat: dict[str, Any] = {"blocking": not configuration.return_immediately}
    if configuration.accepted_output_modes is not None:
        compat["acceptedOutputModes"] = configuration.accepted_output_modes
    if configuration.history_length:
        compat["historyLength"] = configuration.history_length
    if configuration.task_push_notification_config is not None:
        name = "pushNotification" if binding is Binding.HTTP_JSON else "pushNotificationConfig"
        compat[name] = event.to_compat_push_config(configuration.task_push_notification_config)
    return compat


def _to_core_task_query(value: Any) -> dict[str, Any]:
    return _without_unlimited(copied(as_object(value, "params"), "id", "historyLength", "metadata"))


def _to_core_push_query(value: Any) -> dict[str, Any]:
    """Return the ids of a task and a config. 0.3's params have `id` and an optional `pushNotificationConfigId`; paths name them
    as 1.0.
    """
    params = as_object(value, "params")
    if "task_id" in params:
        return copied(params, "task_id", "id")
    if params.get("id") is None:
        raise invalid_field("id", "is required")
    return {
        "taskId": as_string(params["id"], "id"),
        "id": as_string(params.get("pushNotificationConfigId") or "", "pushNotificationConfigId"),
    }


def _to_core_push_delete(value: Any) -> dict[str, Any]:
    core = _to_core_push_query(value)
    if not core.get("id"):
        raise invalid_field("pushNotificationConfigId", "is required")
    return core


def _to_core_push_create(value: Any) -> dict[str, Any]:
    core = event.to_core_task_push_config(value, "")
    if isinstance(value, dict) and "task_id" in value:
        core["taskId"] = value["task_id"]
    return core


_PARAMS: dict[str, Callable[[Any], dict[str, Any]]] = {
    op.GET_TASK.name: _to_core_task_query,
    op.CREATE_PUSH_CONFIG.name: _to_core_push_create,
    op.GET_PUSH_CONFIG.name: _to_core_push_query,
    op.LIST_PUSH_CONFIGS.name: _to_core_push_query,
    op.DELETE_PUSH_CONFIG.name: _to_core_push_delete,
}
