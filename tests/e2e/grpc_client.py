"""A client of A2A over gRPC made with the official stubs: `grpc_client.py ADDRESS`.

One JSON object a line in, {"method", "request", "token"?, "metadata"?, "messages"?}. "a|b" in metadata are two values of a name.
A line out: {"messages"}, or {"code", "details", "reasons"}.
With `messages`, it leaves a stream after so many.
"""

import itertools
import json
import sys
from typing import Any

import grpc
from a2a.types import a2a_pb2, a2a_pb2_grpc
from google.protobuf import json_format
from google.rpc import error_details_pb2, status_pb2


def called(stub: Any, asked: dict[str, Any]) -> dict[str, Any]:
    """Return what came of one call."""
    method = a2a_pb2.DESCRIPTOR.services_by_name["A2AService"].methods_by_name[asked["method"]]
    request = json_format.ParseDict(asked["request"], getattr(a2a_pb2, method.input_type.name)())
    metadata = [(name, value) for name, values in asked.get("metadata", {}).items() for value in values.split("|")]
    if token := asked.get("token"):
        metadata.append(("authorization", f"Bearer {token}"))
    try:
        answer = getattr(stub, asked["method"])(request, metadata=metadata, timeout=asked.get("seconds", 60))
        messages = list(itertools.islice(answer, asked.get("messages"))) if method.server_streaming else [answer]
        if method.server_streaming:
            answer.cancel()
        return {"messages": [json_format.MessageToDict(message) for message in messages]}
    except grpc.RpcError as problem:
        status, info = status_pb2.Status(), error_details_pb2.ErrorInfo()
        status.ParseFromString(dict(problem.trailing_metadata() or ()).get("grpc-status-details-bin", b""))
        reasons = [info.reason for detail in status.details if detail.Unpack(info)]
        return {"code": problem.code().name, "details": problem.details(), "reasons": reasons}


def main(address: str) -> None:
    """Answer each line."""
    with grpc.insecure_channel(address) as channel:
        stub = a2a_pb2_grpc.A2AServiceStub(channel)
        for line in sys.stdin:
            sys.stdout.write(json.dumps(called(stub, json.loads(line))) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
