"""What an agent's log says of a request: its text only where LOG_TEXT asks for it."""

import itertools
import json
from collections.abc import Iterator

import pytest

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import SendMessageRequest
from a2a_hub.a2a.reply import Piece, Text
from a2a_hub.agents.function import agent_card, agent_function
from a2a_hub.http.messages import Request, blocking, body_of
from a2a_hub.telemetry.log import Log
from tests.contract.a2a.served import whole

_CARD = agent_card(name="Echo", description="Echo", version="1", url="http://127.0.0.1", skills=())


def _answer(_: SendMessageRequest, __: Call) -> Iterator[Piece]:
    yield Text("an answer in confidence")


@pytest.mark.parametrize("method", ["message/send", "message/stream"])
@pytest.mark.parametrize("with_text", [True, False])
def test_the_text_of_a_message_is_in_the_line_only_if_it_is_asked_for(method: str, with_text: bool) -> None:
    lines: list[bytes] = []
    ids = (f"id-{number}" for number in itertools.count())
    log = Log(lines.append, clock=lambda: 0.0, new_id=lambda: next(ids), function="echo", with_text=with_text)
    part = {"kind": "text", "text": "a question in confidence"}
    message = {"kind": "message", "messageId": "1", "role": "user", "parts": [part]}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message}}
    response = agent_function(_answer, card=_CARD, log=log)(
        Request(
            method="POST",
            path="/",
            headers={"content-type": "application/json"},
            read_body=body_of(json.dumps(body).encode()),
        )
    )
    assert b"an answer in confidence" in whole(blocking(response))
    (line,) = (json.loads(line) for line in lines)
    assert line.get("text") == ("a question in confidence" if with_text else None)
    assert "an answer" not in lines[0].decode()
