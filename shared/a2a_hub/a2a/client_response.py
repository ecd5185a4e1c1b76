"""An agent's answer to one call: its JSON, its result or its error (A2A 1.0.1 §9.5, §11.6)."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from a2a_hub.a2a import errors, protojson
from a2a_hub.a2a.client_errors import ClientError, ClientFault, error_of_status
from a2a_hub.a2a.errors import A2AError
from a2a_hub.a2a.model import Binding, Event, Version
from a2a_hub.a2a.version_table import CODECS
from a2a_hub.http.client import Answer
from a2a_hub.http.messages import JSON

# An escape in JSON. The group is half of a pair of surrogates: programs in JavaScript cut texts, and so emojis, in two.
_ESCAPE = re.compile(rb"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)", re.DOTALL)
# Over HTTP+JSON, the official JavaScript SDK's 0.3 answers 201 to a message and 202 to a cancellation.
_SUCCEEDED = frozenset({200, 201, 202})


class Endpoint(Struct, frozen=True, kw_only=True):
    """The address of an agent, and the form of a call."""

    url: str
    version: Version
    binding: Binding
    streaming: bool
    tenant: str | None = None
    required_extensions: frozenset[str] = frozenset()


def json_of(answer: Answer) -> Any:
    """Return the JSON in the body. Raises ClientError."""
    if not _is_json(answer):
        answer.close()
        kind = answer.media_type if answer.media_type.isascii() and len(answer.media_type) < 60 else "unknown"
        raise ClientError(
            ClientFault.NOT_JSON, f"the answer is {kind or 'of no type'}, not JSON", status=answer.status
        )
    return decoded(answer.read())


def _is_json(answer: Answer) -> bool:
    return answer.media_type in (JSON, "application/json-rpc") or answer.media_type.endswith("+json")


def decoded(data: bytes) -> Any:
    """Return the JSON value, with U+FFFD for half a surrogate pair. Raises ClientError."""
    try:
        return protojson.decode(data)
    except A2AError:
        whole = _ESCAPE.sub(lambda escape: rb"\ufffd" if escape[1] else escape[0], data)
    try:
        return protojson.decode(whole)
    except A2AError:
        raise ClientError(ClientFault.NOT_JSON, "the answer is broken JSON") from None


def event_of(endpoint: Endpoint, value: Any) -> Event:
    """Return the event in a result or in one message of a stream. Raises ClientError."""
    result = result_of(endpoint, value)
    owner = next((codec for codec in CODECS.values() if codec.owns_event(result)), CODECS[endpoint.version])
    return owner.read_event(result)


def result_of(endpoint: Endpoint, value: Any) -> Any:
    """Return the result in a body. Raises ClientError."""
    if endpoint.binding is Binding.HTTP_JSON:
        if isinstance(value, dict) and isinstance(value.get("error"), dict):
            raise _rest_error(value["error"])
        return value
    if not isinstance(value, dict):
        raise ClientError(ClientFault.NOT_A2A, "the answer is no JSON-RPC response")
    if value.get("error") is not None:
        raise _rpc_error(value["error"])
    if "result" not in value:
        raise ClientError(ClientFault.NOT_A2A, "the answer has neither result nor error")
    return value["result"]


def _rpc_error(error: Any, status: int | None = None) -> ClientError:
    code = error.get("code") if isinstance(error, dict) else None
    if not isinstance(code, int):
        return ClientError(ClientFault.NOT_A2A, "the answer's error has no code")
    match code:
        case errors.METHOD_NOT_FOUND.code | errors.VERSION_NOT_SUPPORTED.code:
            fault, detail = ClientFault.WRONG_VERSION, "the agent does not speak this version"
        case errors.EXTENSION_SUPPORT_REQUIRED.code:
            fault, detail = ClientFault.EXTENSION_REQUIRED, "the agent requires an extension"
        case errors.INTERNAL.code:
            fault, detail = ClientFault.SERVER_ERROR, "the agent had an internal error"
        case _:
            fault, detail = ClientFault.REFUSED, "the agent refused the request"
    return ClientError(
        fault, f"{detail} (error {code})", status=status, code=code, fields=_fields(error.get("data"))
    )


def _fields(details: Any) -> tuple[str, ...]:
    """Return the fields in the BadRequest of an error's details (§9.5)."""
    return tuple(
        violation["field"]
        for detail in (details if isinstance(details, list) else ())
        if isinstance(detail, dict) and isinstance(detail.get("fieldViolations"), list)
        for violation in detail["fieldViolations"]
        if isinstance(violation, dict) and isinstance(violation.get("field"), str)
    )


def _rest_error(error: dict[str, Any], status: int | None = None) -> ClientError:
    """Return the error of an HTTP+JSON body, by its reason (§11.6), else by the HTTP status in it."""
    details = error.get("details")
    for detail in details if isinstance(details, list) else ():
        reason = detail.get("reason") if isinstance(detail, dict) else None
        for kind in errors.KINDS:
            if kind.a2a and kind.reason == reason:
                return _rpc_error({"code": kind.code}, status)
    code = error.get("code")
    if status is None and isinstance(code, int):
        status = code
    return error_of_status(status) if status is not None else _rpc_error(error)


def check(endpoint: Endpoint, answer: Answer) -> None:
    """Raises ClientError for an answer that is no success, or not in the encoding that was asked for."""
    if answer.status not in _SUCCEEDED:
        raise _status_error(endpoint, answer)
    if (answer.headers.get("content-encoding") or "identity").lower() != "identity":
        answer.close()
        raise ClientError(
            ClientFault.NOT_JSON, "the answer is compressed, though the hub asked that it not be"
        )


def _status_error(endpoint: Endpoint, answer: Answer) -> ClientError:
    """Return the error in the body if the agent understood the request, else the status's own."""
    status = answer.status
    if status in (400, 404, 405, 409) and _is_json(answer):
        try:
            value = protojson.decode(answer.read())
        except A2AError:
            value = None
        error = value.get("error") if isinstance(value, dict) else None
        if isinstance(error, dict) and endpoint.binding is Binding.HTTP_JSON:
            return _rest_error(error, status)
        if error is None:
            # 0.3 gives HTTP+JSON no form of errors; the official JavaScript SDK sends JSON-RPC's without an envelope.
            error = value
        if isinstance(error, dict) and "code" in error:
            return _rpc_error(error, status)
    answer.close()
    return error_of_status(status)
