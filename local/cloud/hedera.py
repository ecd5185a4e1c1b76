"""A network of the Hedera Consensus Service: a consensus node (gRPC, for the Hiero SDK), and a mirror node (REST)."""

import base64
import hashlib
import importlib
import threading
import time
from concurrent import futures
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from a2a_hub.http.messages import Request, Response
from local.cloud.program import Faults, json_response
from local.ports import LOOPBACK

_ROLES = ("developer", "reviewer", "architect", "ba", "pm", "qa", "ux", "crm", "workspace", "coordinator")
_TOPICS = {role: f"0.0.{number}" for number, role in enumerate(_ROLES, start=1001)}
# Public: the account of a network on this machine. DER of an Ed25519 key (RFC 8410).
_SEED = hashlib.sha256(b"local hedera").digest()
KEY = "302e020100300506032b657004220420" + _SEED.hex()
_PUBLIC_KEY = Ed25519PrivateKey.from_private_bytes(_SEED).public_key()


def settings(*, node: str, mirror_url: str) -> dict[str, str]:
    """Return the settings of functions that use the network."""
    topics = ",".join(f"{role}={topic}" for role, topic in _TOPICS.items())
    account = {"HCS_OPERATOR": "0.0.1234", "HCS_OPERATOR_KEY": KEY, "HCS_TOPICS": topics}
    return account | {"HCS_NETWORK": f"{node}=0.0.3", "HCS_MIRROR_URL": mirror_url}


class Hedera:
    """The network, with a topic for each role of workers/routes.toml. Thread-safe. `latency` is that of both nodes."""

    def __init__(self) -> None:
        self.faults = Faults("hedera")
        self._lock = threading.Lock()
        self._topics: dict[str, list[dict[str, Any]]] = {topic: [] for topic in _TOPICS.values()}
        self._receipts: dict[bytes, str] = {}

    def handle(self, request: Request) -> Response:
        """Answer one request to the mirror node."""
        if (answer := self.faults.handle(request)) is not None:
            return answer
        self.faults.wait()
        topic = request.path.removeprefix("/api/v1/topics/").removesuffix("/messages")
        if "mirror-away" in self.faults or topic not in self._topics:
            return json_response({"_status": {"messages": []}}, status=503 if topic in self._topics else 404)
        least = int((request.parameter("sequencenumber") or "gt:0").removeprefix("gt:"))
        found = self._topics[topic][least:]
        if request.parameter("order") == "desc":
            found.reverse()
        found = found[: int(request.parameter("limit") or 25)] * (2 if "duplicates" in self.faults else 1)
        if "out-of-order" in self.faults:
            found.reverse()
        return json_response({"messages": found, "links": {"next": None}})

    def serve_node(self, port: int) -> None:
        """Start the consensus node on this port."""
        import grpc

        server = grpc.server(futures.ThreadPoolExecutor(8))
        for service, method, do, request in (
            ("ConsensusService", "submitMessage", self._submit, _proto("transaction", "Transaction")),
            ("CryptoService", "getTransactionReceipts", self._receipt, _proto("query", "Query")),
        ):
            handler = grpc.unary_unary_rpc_method_handler(
                do, request_deserializer=request.FromString, response_serializer=lambda it: it.SerializeToString()
            )
            server.add_generic_rpc_handlers(
                (grpc.method_handlers_generic_handler(f"proto.{service}", {method: handler}),)
            )
        server.add_insecure_port(f"{LOOPBACK}:{port}")
        server.start()
        # It would end with its last reference.
        self.node = server

    def _submit(self, request: Any, context: Any) -> Any:
        self.faults.wait()
        if "node-away" in self.faults:
            import grpc

            context.abort(grpc.StatusCode.UNAVAILABLE, "the node is away")
        return _proto("transaction_response", "TransactionResponse")(nodeTransactionPrecheckCode=self._checked(request))

    def _checked(self, request: Any) -> str:
        """Return the code of the precheck; after OK, the transaction has reached consensus."""
        signed = _proto("transaction_contents", "SignedTransaction").FromString(request.signedTransactionBytes)
        body = _proto("transaction", "TransactionBody").FromString(signed.bodyBytes)
        sent, topic = body.consensusSubmitMessage, f"0.0.{body.consensusSubmitMessage.topicID.topicNum}"
        try:
            _PUBLIC_KEY.verify(signed.sigMap.sigPair[0].ed25519, signed.bodyBytes)
        except (IndexError, InvalidSignature):
            return "INVALID_SIGNATURE"
        with self._lock:
            transaction = body.transactionID.SerializeToString()
            if transaction in self._receipts:
                return "DUPLICATE_TRANSACTION"
            self._receipts[transaction] = "SUCCESS" if topic in self._topics else "INVALID_TOPIC_ID"
            if topic in self._topics:
                self.add(topic, sent.message, payer=f"0.0.{body.transactionID.accountID.accountNum}")
        return "OK"

    def add(self, topic: str, message: bytes, *, payer: str) -> None:
        """Add a message to the topic."""
        place = {"consensus_timestamp": f"{time.time():.9f}", "topic_id": topic, "payer_account_id": payer}
        content = {"sequence_number": len(self._topics[topic]) + 1, "message": base64.b64encode(message).decode()}
        self._topics[topic].append(place | content)

    def _receipt(self, request: Any, _: object) -> Any:
        answer = _proto("response", "Response")()
        status = self._receipts.get(request.transactionGetReceipt.transactionID.SerializeToString(), "UNKNOWN")
        answer.transactionGetReceipt.receipt.status = _proto("response_code", "ResponseCodeEnum").Value(status)
        return answer


def _proto(module: str, name: str) -> Any:
    return getattr(importlib.import_module(f"hiero_sdk_python.hapi.services.{module}_pb2"), name)
