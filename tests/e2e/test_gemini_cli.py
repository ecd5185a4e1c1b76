"""Gemini CLI's own A2A server behind the hub: people in a text field decide on its tool calls, programs by its own data."""

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.gemini_cli_server import GeminiCli, gemini_cli
from tests.e2e.hubs import Hub, running

_numbers = itertools.count(1)
_EXTENSION = "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md"
_ROUTES = """
[[routes]]
id = "coding"
name = "Gemini CLI"
description = "Writes files and runs commands."
url = "{url}"
boundary = "public"
keywords = ["coding"]
passes_tasks = true
extensions = ["{extension}"]
allow_clients = ["developer"]
default = true
"""


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GeminiCli]:
    with gemini_cli(tmp_path_factory.mktemp("gemini-cli")) as cli:
        yield cli


@pytest.fixture(scope="module")
def coding(cli: GeminiCli, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    """A run whose only route is Gemini CLI."""
    table = tmp_path_factory.mktemp("routes") / "routes.toml"
    table.write_text(_ROUTES.format(url=cli.url, extension=_EXTENSION))
    with running("local.run", ROUTES_FILE=str(table)) as hub:
        yield hub


@pytest.mark.parametrize(("way", "allow"), [("message/send", "はい"), ("message/stream", "1")])
def test_a_file_is_written_when_a_person_allows_it(cli: GeminiCli, coding: Hub, way: str, allow: str) -> None:
    file = cli.workspace / f"{way.replace('/', '-')}.txt"
    context_id, asked = said(coding, way, f"お願いします: write {file.name}")
    assert asked.startswith(
        f"エージェント「Gemini CLI」がファイル {file} の変更を求めています：\n\n    @@ -0,0 +1,1 @@\n    +written\n"
    )
    assert not file.exists()
    _, again = said(coding, way, "どうしようかな", context_id)
    assert "判断できなかったため、まだ何も実行していません" in again
    assert said(coding, way, allow, context_id)[1].startswith("Done: ")
    assert file.read_text() == "written\n"


@pytest.mark.parametrize("way", ["message/send", "message/stream"])
def test_nothing_is_run_when_a_person_rejects_it_and_the_conversation_goes_on(
    cli: GeminiCli, coding: Hub, way: str
) -> None:
    file = cli.workspace / f"rejected-{way.replace('/', '-')}"
    context_id, asked = said(coding, way, f"Please run touch {file}")
    assert f"wants to run this command:\n\n    touch {file}\n\n1. Allow once\n" in asked
    assert said(coding, way, "No, cancel.", context_id)[1] == "Rejected: this was not done."
    assert not file.exists()
    assert said(coding, way, "thanks", context_id)[1] == "Gemini read: thanks"


def test_a_program_sees_all_updates_and_decides_by_data(cli: GeminiCli, coding: Hub) -> None:
    file = cli.workspace / "by-a-program.txt"
    text = {"kind": "text", "text": f"write {file.name}"}
    asked = events(coding, "message/stream", text, {}, accepts_data=True)
    (call_id,) = {call["request"]["callId"] for call in calls(asked)}
    assert calls(asked)[-1]["status"] == "awaiting_approval"
    decision = {"kind": "data", "data": {"callId": call_id, "outcome": "proceed_once"}}
    ids = {"taskId": asked[-1]["taskId"], "contextId": asked[-1]["contextId"]}
    done = events(coding, "message/stream", decision, ids, accepts_data=True)
    assert calls(done)[-1]["status"] == "success"
    assert (done[-1]["status"]["state"], done[-1]["final"]) == ("input-required", True)
    assert [event for event in done[:-1] if event.get("final")] == []
    assert file.read_text() == "written\n"


def said(hub: Hub, way: str, text: str, context_id: str | None = None) -> tuple[str, str]:
    """The conversation, and what a person reads; it is text alone."""
    told = events(hub, way, {"kind": "text", "text": text}, {"contextId": context_id} if context_id else {})
    last = told[-1]
    messages = [event.get("artifact") for event in told]
    messages.append(last["status"].get("message") if "status" in last else last)
    parts = [part for message in messages if message for part in message["parts"]]
    assert {part["kind"] for part in parts} == {"text"}
    return last["contextId"], "".join(part["text"] for part in parts)


def events(
    hub: Hub, way: str, part: dict[str, Any], ids: dict[str, str], *, accepts_data: bool = False
) -> list[dict[str, Any]]:
    """All that the hub answers to one message, as 0.3 over JSON-RPC."""
    message = {"kind": "message", "role": "user", "messageId": f"cli-{next(_numbers)}", "parts": [part]} | ids
    modes = ["text/plain", "application/json"] if accepts_data else []
    params = {"message": message, "configuration": {"acceptedOutputModes": modes}}
    body = {"jsonrpc": "2.0", "id": 1, "method": way, "params": params}
    headers = {"X-A2A-Extensions": _EXTENSION} if accepts_data else {}
    answer = hub.caller().post("/", body, headers)
    told = answer.events() if way == "message/stream" else [answer.json]
    return [each["result"] for each in told]


def calls(told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The tool calls of the updates."""
    messages = [event["status"].get("message") for event in told if "status" in event]
    return [part["data"] for message in messages if message for part in message["parts"] if part["kind"] == "data"]
