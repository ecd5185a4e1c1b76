"""The protocol's versions: the version of a request (A2A 1.0.1 §3.6), and the form of a version on the wire.

`VersionCodec` is 1.0, whose types are the model's; other versions are subclasses in files of their own, and rows in
`a2a_hub.a2a.version_table`.
"""

import re
from collections.abc import Mapping
from itertools import groupby
from typing import Any, ClassVar
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import fields, replace

from a2a_hub.a2a import model, operations, protojson
from a2a_hub.a2a.card import AgentCard
from a2a_hub.a2a.errors import VERSION_NOT_SUPPORTED, A2AError, invalid_field
from a2a_hub.a2a.operations import Operation, Rest
from a2a_hub.http.messages import A2A_JSON, Request
from a2a_hub.runtime.ids import new_id

SUPPORTED = ", ".join(model.Version)
_BY_NAME = {version.value: version for version in model.Version}
_WITH_PATCH = r"(\d{1,4}\.\d{1,4})\.\d{1,6}"
_PUSH_CONFIG_NAMES = frozenset({"taskPushNotificationConfig", "task_push_notification_config"})
_MESSAGE_ID_NAMES = frozenset({"messageId", "message_id"})
_TASK_ID_NAMES = frozenset({"taskId", "task_id", "tenant"})


def named_in(request: Request) -> model.Version | None:
    """Return the version that `A2A-Version` names, as header or query parameter; None if there is none.

    Raises VERSION_NOT_SUPPORTED for a version, or two different ones, that cannot be served.
    """
    header = request.headers.get("a2a-version")
    if not header and not request.query:
        return None
    texts = (header, *request.parameters("A2A-Version"))
    versions = {_parse(text.strip()) for text in texts if text and text.strip()}
    if len(versions) > 1:
        raise not_supported("The A2A-Version header and query parameters name different versions")
    return versions.pop() if versions else None


def version_mismatch(subject: str) -> A2AError:
    """Return the error for a method or path (`subject`) that other versions have, but not the named one."""
    return not_supported(f"{subject} belongs to another version of A2A than the request names")


class VersionCodec:
    """The names, requests, results, cards and push notifications of a version, as both bindings and the client need them."""

    version = model.Version.V1_0
    media_type: ClassVar[str] = A2A_JSON
    """The version's own media type of HTTP+JSON answers and push notifications."""
    extensions_header: ClassVar[str] = "a2a-extensions"
    """The header that names the activated extensions."""
    has_tenants: ClassVar[bool] = True
    """True if every HTTP path also exists below a tenant."""
    streams_errors: ClassVar[bool] = False
    """True if errors of a JSON-RPC stream are events: Gemini Enterprise takes nothing else for `message/stream`."""
    ui_binding: ClassVar[model.Binding | None] = None
    """The binding over which callers count as user interfaces unless they are known as programs."""
    ends_stream_when_interrupted: ClassVar[bool] = False
    """True if a subscription ends when the task waits for its client."""
    push_config_field: ClassVar[str] = ""
    """The path of a push notification config in the request that creates it."""
    send_push_config_field: ClassVar[str] = "configuration.taskPushNotificationConfig."
    """The path of a push notification config in a send request."""
    default_push_config_id: ClassVar[str] = ""
    """The id of a config that has none; "" stands for a new one."""
    refuses_other_context: ClassVar[bool] = True
    """True if a message for a task must not name another context than the task's (§3.4.3); else the task's counts."""
    refuses_task_without_question: ClassVar[bool] = True
    """True if every message for a task that has ended, or is being worked on, is refused (§3.1.1); else a user interface's starts
    a new task in the same context.
    """
    shows_ended_task: ClassVar[bool] = False
    """True if a subscription to a task that has ended shows it; else it is refused (§3.1.6)."""
    notifies_with_tasks: ClassVar[bool] = False
    """True if a push notification holds the whole task instead of the event."""

    def method(self, operation: Operation) -> str | None:
        """Return the operation's JSON-RPC method, None if the version does not have it."""
        return operation.name

    def paths(self, operation: Operation) -> tuple[Rest, ...]:
        """Return the operation's HTTP methods and paths."""
        return operation.rest

    def read_request(
        self,
        operation: Operation,
        params: Any,
        binding: model.Binding = model.Binding.JSONRPC,
        *,
        completes: bool = False,
    ) -> Struct:
        """Return the request in a binding's decoded params. Raises INVALID_PARAMS with the field named.

        If it `completes`, a message without id or role, as user interfaces have sent them, gets these, and loses parts that are
        there twice in a row.
        """
        text = protojson.as_object(params, "params").get("text")
        core = self._core_params(operation, params, binding)
        if operation.request is model.SendMessageRequest and core.get("message") is None and isinstance(text, str):
            # Some clients send `params.text` and no message.
            core, completes = core | {"message": {"parts": [{"text": text}]}}, True
        if completes and isinstance(message := core.get("message"), dict):
            core = core | {"message": _completed(message)}
        nested = operation is operations.CREATE_PUSH_CONFIG and "url" not in params
        request = protojson.read(model.NestedPushConfig if nested else operation.request, core)
        if isinstance(request, model.SendMessageRequest):
            if isinstance(text, str) and not model.text_of(request.message):
                # Others send it beside a message that says nothing, or holds only files.
                parts = (*request.message.parts, model.Part(text=text))
                request = replace(request, message=replace(request.message, parts=parts))
            _check_message(request)
        self._check(request)
        if operation is operations.CREATE_PUSH_CONFIG and not core.get("taskId", core.get("task_id")):
            raise invalid_field("taskId", "is required")
        return request

    def write_result(self, operation: Operation, value: model.Event | Struct | None, binding: model.Binding) -> bytes:
        """Return the JSON of a result or a stream event. None is the result of an operation that has none."""
        if isinstance(value, model.NestedPushConfig):
            return protojson.encode(value.nested)
        return protojson.encode({} if value is None else model.wrapped(value) if operation.wraps else value)

    def write_notification(self, value: model.Event) -> bytes:
        """Return the body of a push notification (§4.3.3)."""
        return protojson.encode(model.wrapped(value))

    def write_send(self, request: model.SendMessageRequest, binding: model.Binding, tenant: str | None) -> Any:
        """Return the params of a send request to an agent."""
        return replace(request, tenant=tenant) if tenant else request

    def read_event(self, value: Any) -> model.Event:
        """Return the event in an agent's result. Raises INVALID_PARAMS."""
        return model.unwrapped(protojson.read(model.StreamResponse, value, "result"))

    def read_task(self, value: Any) -> model.Task:
        """Return the task in an agent's result. Raises INVALID_PARAMS."""
        return protojson.read(model.Task, value, "result")

    def read_part(self, value: Any) -> model.Part:
        """Return a part of an agent's message or artifact. Raises INVALID_PARAMS."""
        return protojson.read(model.Part, value, "part")

    def knows_event(self, value: Any) -> bool:
        """Return False for a stream event of a kind that a later version may have: ProtoJSON ignores unknown members."""
        return not isinstance(value, dict) or any(
            protojson.member(value, name) is not None for name in model.StreamResponse.__struct_encode_fields__
        )

    def owns_event(self, value: Any) -> bool:
        """Return True if an event has the form of this version and of no other, whatever the agent's card says."""
        return False

    def request_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Return the headers of a request to an agent."""
        return {**headers, "a2a-version": str(self.version)}

    def url(self, base: str, operation: Operation, tenant: str | None) -> str:
        """Return the HTTP+JSON URL of an operation below an agent's URL."""
        prefix = f"/{quote(tenant, safe='')}" if tenant else ""
        return base.rstrip("/") + prefix + operation.rest[0].path

    def card(self, card: AgentCard, *, protocol_version_v0_3: str) -> Any:
        """Return the strict card of this version."""
        return card

    def card_for_all(self, card: AgentCard, *, protocol_version_v0_3: str) -> Any:
        """Return one card that clients of this version and of all later ones can read."""
        return card

    def _core_params(self, operation: Operation, params: dict[str, Any], binding: model.Binding) -> dict[str, Any]:
        """Return the params in 1.0's JSON. Spellings of its release candidate are read where they are unambiguous."""
        configuration = params.get("configuration")
        if operation.request is model.SendMessageRequest and isinstance(configuration, dict):
            return params | {"configuration": _released_configuration(configuration)}
        if operation is operations.CREATE_PUSH_CONFIG:
            config = params.get("config", params.get("pushNotificationConfig"))
            if isinstance(config, dict):
                inner = config.get("pushNotificationConfig")
                inner = config if inner is None else protojson.as_object(inner, "config.pushNotificationConfig")
                return inner | {name: item for name, item in params.items() if name in _TASK_ID_NAMES}
        return params

    def _check(self, request: Struct) -> None:
        """Raise INVALID_PARAMS for a required field that is not set: a proto's unset string is "" (§5.7)."""
        if isinstance(request, model.SendMessageRequest):
            if not request.message.parts:
                raise invalid_field("message.parts", "must have at least one part")
            return
        for field in fields(request):
            if field.required and getattr(request, field.name) == "":
                raise invalid_field(field.encode_name, "must not be empty")


def _completed(message: dict[str, Any]) -> dict[str, Any]:
    given = {name: value for name, value in message.items() if value not in (None, "")}
    if isinstance(parts := given.get("parts"), list):
        given["parts"] = [part for part, _ in groupby(parts)]
    made_up = {} if given.keys() & _MESSAGE_ID_NAMES else {"messageId": new_id()}
    return {"role": model.Role.USER} | made_up | given


def _check_message(request: model.SendMessageRequest) -> None:
    if not request.message.message_id:
        raise invalid_field("message.messageId", "must not be empty")
    if request.message.role is model.Role.UNSPECIFIED:
        raise invalid_field("message.role", "must be ROLE_USER or ROLE_AGENT")
    configuration = request.configuration
    if configuration is not None and (configuration.history_length or 0) < 0:
        raise invalid_field("configuration.historyLength", "must not be negative")


def _released_configuration(candidate: dict[str, Any]) -> dict[str, Any]:
    renamed = dict(candidate)
    blocking = renamed.pop("blocking", None)
    if blocking is not None and not {"returnImmediately", "return_immediately"} & renamed.keys():
        if not isinstance(blocking, bool):
            raise invalid_field("configuration.blocking", "must be a boolean")
        renamed["returnImmediately"] = not blocking
    config = renamed.pop("pushNotificationConfig", renamed.pop("push_notification_config", None))
    if config is not None and not _PUSH_CONFIG_NAMES & renamed.keys():
        renamed["taskPushNotificationConfig"] = config
    return renamed


def _parse(text: str) -> model.Version:
    version = _BY_NAME.get(text)
    if version is None and (match := re.fullmatch(_WITH_PATCH, text)):
        version = _BY_NAME.get(match[1])
    if version is None:
        raise not_supported(f"This A2A version is not supported; supported are {SUPPORTED}")
    return version


def not_supported(message: str) -> A2AError:
    """Return the error for a version that is not spoken, which names those that are."""
    return A2AError(VERSION_NOT_SUPPORTED, message, metadata={"supportedVersions": SUPPORTED})
