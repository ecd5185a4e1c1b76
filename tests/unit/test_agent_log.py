"""An agent as a function: LOG_TEXT decides if the text of a request is logged; a turn has a deadline; files are not read."""

import itertools
import json
from collections.abc import Iterator
from typing import Any

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


def _asks(method: str, *others: dict[str, Any]) -> Request:
    part = {"kind": "text", "text": "a question in confidence"}
    message = {"kind": "message", "messageId": "1", "role": "user", "parts": [part, *others]}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message}}).encode()
    return Request(method="POST", path="/", headers={"content-type": "application/json"}, read_body=body_of(body))


@pytest.mark.parametrize("method", ["message/send", "message/stream"])
@pytest.mark.parametrize("with_text", [True, False])
def test_the_text_of_a_message_is_in_the_line_only_if_it_is_asked_for(method: str, with_text: bool) -> None:
    lines: list[bytes] = []
    ids = (f"id-{number}" for number in itertools.count())
    log = Log(lines.append, clock=lambda: 0.0, new_id=lambda: next(ids), function="echo", with_text=with_text)
    response = agent_function(_answer, card=_CARD, log=log)(_asks(method))
    assert b"an answer in confidence" in whole(blocking(response))
    (line,) = (json.loads(line) for line in lines)
    assert line.get("text") == ("a question in confidence" if with_text else None)
    assert "an answer" not in lines[0].decode()


@pytest.mark.parametrize("method", ["message/send", "message/stream"])
def test_an_answer_says_that_attached_files_were_not_read(method: str) -> None:
    log = Log(list[bytes]().append, clock=lambda: 0.0, new_id=lambda: "id", function="echo", with_text=False)
    handle = agent_function(_answer, card=_CARD, log=log)
    file = {"kind": "file", "file": {"name": "notes.txt", "mimeType": "text/plain", "bytes": "aGk="}}
    told = b"(I cannot read attached files, so this answer leaves them out: [notes.txt])"
    assert told in whole(blocking(handle(_asks(method, file))))
    assert b"attached" not in whole(blocking(handle(_asks(method))))


@pytest.mark.parametrize("method", ["message/send", "message/stream"])
def test_a_turn_has_its_time_from_its_beginning(method: str) -> None:
    left: list[float] = []

    def answer(_: SendMessageRequest, call: Call) -> Iterator[Piece]:
        left.append(call.cancellation.seconds_left)
        yield Text("an answer")

    log = Log(list[bytes]().append, clock=lambda: 0.0, new_id=lambda: "id", function="echo", with_text=False)
    handle = agent_function(answer, card=_CARD, log=log, seconds=500.0)
    for _ in range(2):
        whole(blocking(handle(_asks(method))))
    assert [0 < each <= 500 for each in left] == [True, True]
