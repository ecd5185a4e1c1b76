"""Cards signed and verified by the official SDK: `signatures.py`, one JSON object a line in and out.

{"card", "jwk"} in: {"valid"} out. With {"sign": true} and a private `jwk`: {"card"} with its signature.
"""

import json
import sys
from typing import Any

from a2a.types import AgentCard
from a2a.utils.signing import SignatureVerificationError, create_agent_card_signer, create_signature_verifier
from google.protobuf.json_format import MessageToDict, ParseDict
from jwt.api_jwk import PyJWK


def answer(asked: dict[str, Any]) -> dict[str, Any]:
    """Return what the SDK says."""
    card, key = ParseDict(asked["card"], AgentCard()), PyJWK(asked["jwk"], algorithm="ES256")
    if asked.get("sign"):
        header = {"kid": "theirs", "alg": "ES256", "jku": None, "typ": "JOSE"}
        return {"card": MessageToDict(create_agent_card_signer(key, header)(card))}
    try:
        create_signature_verifier(lambda *_: key, ["ES256"])(card)
    except SignatureVerificationError:
        return {"valid": False}
    return {"valid": True}


if __name__ == "__main__":
    for line in sys.stdin:
        sys.stdout.write(json.dumps(answer(json.loads(line))) + "\n")
        sys.stdout.flush()
