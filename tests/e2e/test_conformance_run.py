"""The hub as the conformance kits find it, with push notifications from end to end, in both versions."""

import contextlib
import json
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.webhook_receiver import Receiver

ROOT = Path(__file__).resolve().parents[2]


@contextlib.contextmanager
def _hub(kit: str) -> Iterator[str]:
    command = [sys.executable, "-m", "tests.conformance", "--port", "0", "--kit", kit]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            ready, _, url = process.stdout.readline().strip().partition(" ")
            assert ready == "ready"
            yield url
        finally:
            process.send_signal(signal.SIGTERM)


def _call(url: str, method: str, params: Any, version: str) -> Any:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    headers = {"content-type": "application/json", "a2a-version": version}
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer:
        return json.load(answer)["result"]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


def test_the_kit_for_1_0_is_notified(receiver: Receiver) -> None:
    config = {"url": receiver.url, "authentication": {"scheme": "Bearer", "credentials": "kits-own"}}
    message = {
        "messageId": "tck-artifact-text-1",
        "role": "ROLE_USER",
        "parts": [{"text": "hello"}],
    }
    params = {"message": message, "configuration": {"taskPushNotificationConfig": config}}
    with _hub("1.0") as url:
        task = _call(url, "SendMessage", params, "1.0")["task"]
        receiver.await_sequences([1, 2, 3])
    assert {received.headers["authorization"] for received in receiver.received} == {"Bearer kits-own"}
    first, artifact, last = receiver.events
    assert first["task"]["id"] == artifact["artifactUpdate"]["taskId"] == task["id"]
    assert last["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"


def test_the_kit_for_0_3_is_notified(receiver: Receiver) -> None:
    message = {
        "kind": "message",
        "messageId": "tck-artifact-text-1",
        "role": "user",
        "parts": [{"kind": "text", "text": "hello"}],
    }
    config = {"url": receiver.url, "token": "kits-token"}
    params = {"message": message, "configuration": {"pushNotificationConfig": config}}
    with _hub("0.3") as url:
        task = _call(url, "message/send", params, "0.3")
        receiver.await_sequences([1, 2, 3])
    assert {received.headers["x-a2a-notification-token"] for received in receiver.received} == {"kits-token"}
    assert {(event["kind"], event["id"]) for event in receiver.events} == {("task", task["id"])}
    assert [event["status"]["state"] for event in receiver.events] == ["submitted", "submitted", "completed"]
