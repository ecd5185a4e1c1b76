"""The keys with which receivers check notifications are open to everybody, at the hub's public address."""

import json
from pathlib import Path

from local.settings import key_pair
from tests.integration.gates import function, gate

PATH = "/.well-known/jwks.json"


def test_the_keys_are_open_to_everybody_through_the_gate(tmp_path: Path) -> None:
    _, public = key_pair()
    with (
        function("agent_card", tmp_path, WEBHOOK_PUBLIC_KEYS=public) as cards,
        gate(f"http://127.0.0.1:{cards.port}", tmp_path) as entrance,
    ):
        answer = entrance.ask("GET", PATH, body=None, headers={})
        assert answer.status == 200
        assert answer.headers["cache-control"] == "public, max-age=300"
        (key,) = json.loads(answer.body)["keys"]
        assert (key["kty"], key["alg"]) == ("EC", "ES256")
        assert answer.body == cards.ask("GET", PATH, body=None, headers={}).body
