"""What the log says of a request to an agent: what was asked for and how it ended, never with which token or words."""

import json
from typing import Any

import pytest

from tests.contract.a2a.served import SECRET, WAYS, Served, Way, served, whole

TOKEN = "ya29.a0AfH6SMB-token-of-ada"
WORDS = "my salary is 5 million yen"
HEADERS = {
    "authorization": f"Bearer {TOKEN}",
    "x-serverless-authorization": f"Bearer {TOKEN}",
    "x-api-key": TOKEN,
    "cookie": f"session={TOKEN}",
}


def _lines(agent: Served) -> list[dict[str, Any]]:
    return [json.loads(line) for line in agent.log_lines]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_request_is_one_line_that_says_what_was_asked_for(way: Way) -> None:
    agent = served(project="my-project")
    trace = "0af7651916cd43dd8448eb211c80319c"
    response = agent.send("POST", way.path, way.body(way.params()), traceparent=f"00-{trace}-b7ad6b7169203331-01")
    whole(response)
    (line,) = _lines(agent)
    expected = {
        "severity": "INFO",
        "function": "echo",
        "operation": "SendStreamingMessage" if way.streaming else "SendMessage",
        "version": way.version.value,
        "binding": "HTTP+JSON" if way.rest else "JSONRPC",
        "outcome": "answered",
        "logging.googleapis.com/trace": f"projects/my-project/traces/{trace}",
    }
    assert {name: line.get(name) for name in expected} == expected
    assert line["requestId"]
    assert line["ms"] >= 0
    assert line["httpRequest"]["requestUrl"] == way.path


@pytest.mark.parametrize("text", [WORDS, "crash", "fail"])
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_no_token_and_no_text_is_in_the_log_of_an_answer(way: Way, text: str) -> None:
    agent = served()
    params = way.params(text)
    params["message"]["metadata"] = {"note": WORDS}
    whole(agent.send("POST", way.path, way.body(params), query={"access_token": [TOKEN]}, headers=HEADERS))
    _assert_silent(agent)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_no_token_and_no_text_is_in_the_log_of_a_refusal(way: Way) -> None:
    agent = served()
    message = way.params(WORDS)["message"]
    bodies: list[Any] = [
        way.body({"message": message | {"role": WORDS}}),
        way.body({"message": message | {"messageId": [TOKEN]}}),
        way.body({"message": message | {"taskId": TOKEN}}),
        way.body({"message": message | {"kind": WORDS, way.parts: [{"kind": WORDS}]}}),
        way.body({WORDS: TOKEN}),
        {"jsonrpc": WORDS, "id": TOKEN, "method": WORDS},
        json.dumps(WORDS).encode()[:-1],
    ]
    for body in bodies:
        whole(agent.send("POST", way.path, body, headers=HEADERS))
    whole(agent.send("POST", way.path, way.body(way.params(WORDS)), headers=HEADERS, a2a_version=TOKEN))
    assert len(agent.log_lines) == len(bodies) + 1
    assert all(line["outcome"] == "refused" for line in _lines(agent))
    _assert_silent(agent)


def test_a_failure_inside_is_an_error_with_its_stack_and_the_id_that_the_caller_got() -> None:
    agent = served()
    way = Way(WAYS[0].version, rest=False)
    error = json.loads(whole(agent.send("POST", "/", way.body(way.params("crash")))))["error"]
    stack, line = _lines(agent)
    assert (stack["severity"], line["severity"], line["outcome"]) == ("ERROR", "ERROR", "failed")
    assert "RuntimeError" in stack["stack_trace"]
    assert error["data"][0]["metadata"]["requestId"] == stack["requestId"] == line["requestId"]


def _assert_silent(agent: Served) -> None:
    written = b"".join(agent.log_lines).decode()
    assert TOKEN not in written
    assert WORDS not in written
    assert SECRET not in written
