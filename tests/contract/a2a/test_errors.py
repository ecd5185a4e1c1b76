"""Each error in the form of either binding, with the codes and statuses of A2A 1.0.1 §5.4, §9.5 and §11.6."""

import json

import pytest

from a2a_hub.a2a import errors
from a2a_hub.a2a.bindings import jsonrpc, rest
from a2a_hub.a2a.errors import A2AError, ErrorKind, invalid_field
from tests.contract.a2a.schemas import faults_v0_3

# reason → (JSON-RPC code, HTTP status, google.rpc code), as the specification's table has them.
SPECIFIED = {
    "TASK_NOT_FOUND": (-32001, 404, "NOT_FOUND"),
    "TASK_NOT_CANCELABLE": (-32002, 400, "FAILED_PRECONDITION"),
    "PUSH_NOTIFICATION_NOT_SUPPORTED": (-32003, 400, "FAILED_PRECONDITION"),
    "UNSUPPORTED_OPERATION": (-32004, 400, "FAILED_PRECONDITION"),
    "CONTENT_TYPE_NOT_SUPPORTED": (-32005, 400, "INVALID_ARGUMENT"),
    "INVALID_AGENT_RESPONSE": (-32006, 500, "INTERNAL"),
    "EXTENDED_AGENT_CARD_NOT_CONFIGURED": (-32007, 400, "FAILED_PRECONDITION"),
    "EXTENSION_SUPPORT_REQUIRED": (-32008, 400, "FAILED_PRECONDITION"),
    "VERSION_NOT_SUPPORTED": (-32009, 400, "FAILED_PRECONDITION"),
}
STANDARD = {
    "PARSE_ERROR": (-32700, 400),
    "INVALID_REQUEST": (-32600, 400),
    "METHOD_NOT_FOUND": (-32601, 404),
    "INVALID_PARAMS": (-32602, 400),
    "INTERNAL": (-32603, 500),
}
# The content type of a request is refused by HTTP's own status; the reason is the same.
OF_THE_SPECIFICATION = [kind for kind in errors.KINDS if kind.a2a and kind is not errors.UNSUPPORTED_MEDIA_TYPE]
EACH_KIND = pytest.mark.parametrize("kind", errors.KINDS, ids=lambda kind: f"{kind.reason}-{kind.http_status}")


def test_every_error_of_the_specification_is_there_with_its_codes() -> None:
    assert {kind.reason: (kind.code, kind.http_status, kind.status) for kind in OF_THE_SPECIFICATION} == SPECIFIED
    found = {kind.reason: (kind.code, kind.http_status) for kind in errors.KINDS if kind.reason in STANDARD}
    assert found == STANDARD


@EACH_KIND
def test_an_error_over_jsonrpc_names_its_reason(kind: ErrorKind) -> None:
    response = json.loads(jsonrpc.write_error("r-1", A2AError(kind, metadata={"taskId": "t"})))
    assert (response["jsonrpc"], response["id"], response["error"]["code"]) == ("2.0", "r-1", kind.code)
    (info,) = response["error"]["data"]
    assert info == {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": kind.reason,
        "domain": "a2a-protocol.org",
        "metadata": {"taskId": "t"},
    }
    assert faults_v0_3("JSONRPCErrorResponse", response) == []


@EACH_KIND
def test_an_error_over_rest_is_a_google_rpc_status(kind: ErrorKind) -> None:
    body = json.loads(rest.write_error(A2AError(kind)))
    assert body["error"]["code"] == kind.http_status
    assert body["error"]["status"] == kind.status
    assert body["error"]["message"]
    if kind.a2a:
        assert body["error"]["details"][0]["reason"] == kind.reason


def test_a_wrong_field_is_a_violation_with_its_name() -> None:
    (detail,) = invalid_field("message.parts", "is required").details()
    assert detail == {
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        "fieldViolations": [{"field": "message.parts", "description": "is required"}],
    }
