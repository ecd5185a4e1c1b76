"""The codec of A2A 0.3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from a2a_hub.a2a import operations as op
from a2a_hub.a2a import protojson
from a2a_hub.a2a.card import AgentCard
from a2a_hub.a2a.compat.v0_3.card import both_versions, to_compat_card
from a2a_hub.a2a.compat.v0_3.event import to_compat_result, to_core_event, to_core_task
from a2a_hub.a2a.compat.v0_3.request import to_compat_send, to_core_params
from a2a_hub.a2a.model import Binding, Event, Message, SendMessageRequest, Task, Version
from a2a_hub.a2a.operations import Operation, Rest
from a2a_hub.a2a.version_codec import VersionCodec
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
    notifies_with_tasks = True

    def method(self, operation: Operation) -> str | None:
        """See `VersionCodec.method`."""
        return operation.name if operation.extension else _METHODS.get(operation.name)

    def paths(self, operation: Operation) -> tuple[Rest, ...]:
        """See `VersionCodec.paths`."""
        if operation is op.GET_EXTENDED_AGENT_CARD:
            return (Rest("GET", "/v1/card"),)
        return tuple(Rest(rest.method, _PREFIX + rest.path) for rest in operation.rest)

    def write_result(self, operation: Operation, value: Event | Struct | None, binding: Binding) -> bytes:
        """See `VersionCodec.write_result`. None is null over JSON-RPC; a task is bare over HTTP+JSON."""
        rest = binding is Binding.HTTP_JSON
        if value is None:
            return b"{}" if rest else b"null"
        compat: Any = to_compat_result(value, binding)
        if rest and not operation.wraps and isinstance(value, Task | Message):
            compat = compat["task"]
        return protojson.encode(compat)

    def write_notification(self, value: Event) -> bytes:
        """See `VersionCodec.write_notification`. Both bindings send the same."""
        return protojson.encode(to_compat_result(value, Binding.JSONRPC))

    def write_send(self, request: SendMessageRequest, binding: Binding, tenant: str | None) -> Any:  # noqa: ARG002
        """See `VersionCodec.write_send`.

        Parts have no metadata in the proto of 0.3.0: agents made with the SDKs for Java, and early ones for Python, refuse what
        has some, such as every text that Gemini Enterprise sends.
        """
        if binding is Binding.HTTP_JSON:
            parts = tuple(replace(part, metadata=None) for part in request.message.parts)
            request = replace(request, message=replace(request.message, parts=parts))
        return to_compat_send(request, binding)

    def read_event(self, value: Any) -> Event:
        """See `VersionCodec.read_event`."""
        return super().read_event(to_core_event(value))

    def read_task(self, value: Any) -> Task:
        """See `VersionCodec.read_task`."""
        return super().read_task(to_core_task(value, "result"))

    def owns_event(self, value: Any) -> bool:
        """See `VersionCodec.owns_event`. LangGraph streams events of 0.3 whatever its card says; none of 1.0 has a `kind`."""
        return isinstance(value, dict) and "kind" in value

    def request_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """See `VersionCodec.request_headers`."""
        own = VersionCodec.extensions_header
        return {self.extensions_header if name == own else name: value for name, value in headers.items()}

    def url(self, base: str, operation: Operation, tenant: str | None) -> str:  # noqa: ARG002
        """See `VersionCodec.url`. An agent's URL may end with the version's prefix already."""
        return base.rstrip("/").removesuffix(_PREFIX) + self.paths(operation)[0].path

    def card(self, card: AgentCard, *, protocol_version_v0_3: str) -> Any:
        """See `VersionCodec.card`."""
        return to_compat_card(card, protocol_version=protocol_version_v0_3)

    def card_for_all(self, card: AgentCard, *, protocol_version_v0_3: str) -> Any:
        """See `VersionCodec.card_for_all`."""
        return both_versions(card, protocol_version=protocol_version_v0_3)

    def _core_params(self, operation: Operation, params: dict[str, Any], binding: Binding) -> dict[str, Any]:
        return to_core_params(operation, params, binding)

    def _check(self, request: Struct) -> None:
        """Accept requests that leave required fields empty, as 0.3's clients do."""
