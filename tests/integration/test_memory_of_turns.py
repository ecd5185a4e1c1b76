"""The memory of a turn is free as soon as it is over: a request may have 10 MB, and garbage collection counts objects alone."""

import gc
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from a2a_hub.a2a.live_turn import LiveTurn
from a2a_hub.a2a.model import text_of
from a2a_hub.http.messages import Request, blocking, body_of
from a2a_hub.runtime.ids import random_hex
from tests.fakes.every_function import encoded, handler_of, headers_of, neighbours, settings_of


@pytest.mark.parametrize("store", ["none", "sqlite"])
@pytest.mark.parametrize("method", ["SendMessage", "SendStreamingMessage", "message/stream"])
def test_a_turn_that_is_over_needs_no_garbage_collector(tmp_path: Path, store: str, method: str) -> None:
    words, of_user_interface = random_hex(), method == "message/stream"
    message = {"messageId": "1", "role": "user" if of_user_interface else "ROLE_USER", "parts": [{"text": words}]}
    if of_user_interface:
        message = {**message, "kind": "message", "parts": [{"kind": "text", "text": words}]}
    body = encoded({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message}})
    headers = headers_of("hub") | {"a2a-version": "0.3" if of_user_interface else "1.0"}
    with neighbours() as near:
        stored = (
            {} if store == "none" else {"TASK_STORE": f"sqlite:{tmp_path / 'tasks.sqlite3'}", "TASK_UI_SECONDS": "600"}
        )
        handle = handler_of("hub", {**settings_of("hub", tmp_path, near), **stored})
        gc.collect()
        gc.disable()
        try:
            request = Request(method="POST", path="/", headers=headers, read_body=body_of(body))
            answer = blocking(handle(request))
            assert answer.status == 200
            if isinstance(answer.body, Iterator):
                assert list(answer.body)
            del request, answer
            deadline = time.monotonic() + 30
            while left := _turns(words):
                assert time.monotonic() < deadline, left
                del left
        finally:
            gc.enable()


def _turns(words: str) -> list[LiveTurn]:
    """Return the turns in memory that begin with this text: hubs of earlier tests of this process may still have others."""
    turns = [each for each in gc.get_objects() if isinstance(each, LiveTurn)]
    return [each for each in turns if text_of(each.sent.message) == words]
