"""Open streams of one caller at hubs as real processes that share a store."""

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

from tests.fakes.agent_server import AgentServer, ReceivedMessage
from tests.fakes.agent_wire import Json, artifact, message, task, text
from tests.fakes.task_instance import until
from tests.integration.gates import TOKEN, Gate, function

_ROUTE = """
[[routes]]
id = "alpha"
name = "Agent"
description = "For tests."
url = "{url}"
boundary = "public"
protocol_version = "1.0"
binding = "JSONRPC"
default = true
"""
_MESSAGE = {"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "hello"}]}


def _stream(hub: Gate, number: int) -> tuple[http.client.HTTPConnection, bytes]:
    """An open stream, and its events until the agent has been asked, or all of a refusal's."""
    connection = http.client.HTTPConnection("127.0.0.1", hub.port, timeout=30)
    params = {"message": _MESSAGE | {"messageId": f"m-{number}"}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": params})
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    connection.request("POST", "/", body=body, headers=headers)
    response = connection.getresponse()
    begun = b""
    while b"artifact" not in begun and (line := response.readline()):
        begun += line
    return connection, begun


def test_hubs_with_one_store_count_the_open_streams_of_a_caller_together(tmp_path: Path) -> None:
    may_end = threading.Event()

    def script(said: ReceivedMessage) -> Iterator[Json]:
        yield message(text(said.text)) if may_end.is_set() else task("working", artifact("a", text("begun")))
        may_end.wait(60)

    (tmp_path / "routes.toml").touch()
    with AgentServer(script) as agent, ExitStack() as stack:
        (tmp_path / "routes.toml").write_text(_ROUTE.format(url=agent.url))
        settings = {
            "HUB_DEV_TOKEN": TOKEN,
            "IAM_CREDENTIALS": "none",
            "ROUTES_FILE": str(tmp_path / "routes.toml"),
            "TASK_STORE": f"sqlite:{tmp_path}/tasks.db",
            "QUOTA_STREAMS": "4",
        }
        stack.callback(may_end.set)
        first, second = (stack.enter_context(function("hub", tmp_path, **settings)) for _ in range(2))
        opened = [_stream(first, number) for number in range(5)]
        assert [b"Too many answers" in begun for _, begun in opened] == [False] * 4 + [True]
        # Each instance has one on credit.
        others = [_stream(second, number) for number in range(5, 8)]
        assert [b"Too many answers" in begun for _, begun in others][1:] == [True, True]
        opened[0][0].close()

        def again() -> bool:
            connection, begun = _stream(first, 9)
            with closing(connection):
                return b"Too many answers" not in begun

        assert until(again)
        for connection, _ in (*opened, *others):
            connection.close()
