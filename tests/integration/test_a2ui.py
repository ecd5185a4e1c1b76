"""A2UI through the hub: surfaces reach those who activate it, their text everybody else, and actions the agent they belong to."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.agent_server import AgentServer
from tests.fakes.agent_wire import Json, artifact, status, task, text, update
from tests.fakes.hub import Hub, route, streamed_text, text_of

_URI = "https://a2ui.org/a2a-extension/a2ui/v"
# As the specification's samples have them.
_0_8 = [
    {
        "surfaceUpdate": {
            "surfaceId": "booking",
            "components": [
                {"id": "root", "component": {"Column": {"children": {"explicitList": ["title", "ok"]}}}},
                {"id": "title", "component": {"Text": {"text": {"literalString": "Book a table"}, "usageHint": "h1"}}},
                {"id": "ok-text", "component": {"Text": {"text": {"literalString": "確定"}}}},
                {"id": "ok", "component": {"Button": {"child": "ok-text", "action": {"name": "confirm"}}}},
            ],
        }
    },
    {"beginRendering": {"surfaceId": "booking", "root": "root"}},
]
_0_9 = [
    [
        {
            "version": "v0.9",
            "createSurface": {
                "surfaceId": "booking",
                "catalogId": "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json",
            },
        },
        {
            "version": "v0.9",
            "updateComponents": {
                "surfaceId": "booking",
                "components": [
                    {"id": "root", "component": "Column", "children": ["title", "ok"]},
                    {"id": "title", "component": "Text", "text": "Book a table", "variant": "h1"},
                    {"id": "ok-text", "component": "Text", "text": "確定"},
                    {"id": "ok", "component": "Button", "child": "ok-text", "action": {"event": {"name": "confirm"}}},
                ],
            },
        },
    ]
]
_ACTIONS = {
    "0.8": {"userAction": {"name": "confirm", "surfaceId": "booking", "sourceComponentId": "ok", "context": {}}},
    "0.9": [{"version": "v0.9", "action": {"name": "confirm", "surfaceId": "booking", "sourceComponentId": "ok"}}],
}
versions = pytest.mark.parametrize(("version", "surfaces"), [("0.8", _0_8), ("0.9", _0_9)], ids=["0.8", "0.9"])


def _part(value: Any) -> Json:
    return {"data": value, "metadata": {"mimeType": "application/json+a2ui"}}


def _hub(url: str, version: str, folder: Path | None = None, **changes: Any) -> Hub:
    settings = {"TASK_STORE": f"sqlite:{folder / 'tasks.db'}"} if folder else {}
    agent = route("alpha", url, extensions=(f"{_URI}{version}",), **changes)
    return Hub(agent, route("beta", "http://127.0.0.1:9", default=True), settings=settings)


def _shown(events: list[Any]) -> list[Any]:
    """The parts of A2UI in a stream of 0.3."""
    parts = [part for event in events if event["kind"] == "artifact-update" for part in event["artifact"]["parts"]]
    return [part["data"] for part in parts if part.get("metadata") == {"mimeType": "application/json+a2ui"}]


def _click(version: str, value: Any = None) -> Json:
    """A click as Gemini Enterprise sends it: data alone, accepting no modes."""
    part = {"kind": "data", "data": value or _ACTIONS[version], "metadata": {"mimeType": "application/json+a2ui"}}
    return {"parts": [part], "headers": {"x-a2a-extensions": f"{_URI}{version}"}}


@pytest.mark.parametrize("stored", [False, True])
@versions
def test_a_user_interface_that_activates_it_gets_the_parts_in_order_beside_their_text(
    version: str, surfaces: list[Any], tmp_path: Path, stored: bool
) -> None:
    with AgentServer(
        lambda _: [task("working"), update(artifact("a", *map(_part, surfaces))), status("completed")]
    ) as agent:
        hub = _hub(agent.url, version, tmp_path if stored else None)
        headers = {"x-a2a-extensions": f"{_URI}{version}"}
        streamed = hub.stream("alpha", headers=headers)
        sent = hub.send("alpha again", headers=headers)
        plain = hub.stream("alpha plain")
        plain_sent = hub.send("alpha plain again")
    assert [json.dumps(each) for each in _shown(streamed)] == [json.dumps(each) for each in surfaces]
    assert streamed[-1]["final"] is True
    texts = [
        part["text"]
        for event in streamed
        if event["kind"] == "artifact-update"
        for part in event["artifact"]["parts"]
        if part["kind"] == "text"
    ]
    assert "".join(texts) == "Book a table\n確定"
    assert [part["kind"] for part in sent["parts"]] == ["text", *["data"] * len(surfaces)]
    assert streamed_text(plain) == text_of(plain_sent) == "Book a table\n確定"
    activated = [asked.headers.get("a2a-extensions") for asked in agent.asked]
    assert activated == [f"{_URI}{version}"] * 2 + [None] * 2


_TRACKS: dict[str, list[Any]] = {
    "0.8": [
        {
            "surfaceUpdate": {
                "surfaceId": "tracks",
                "components": [
                    {"id": "name", "component": {"Text": {"text": {"path": "/name"}, "usageHint": "h3"}}},
                    {"id": "title", "component": {"Text": {"text": {"path": "title"}}}},
                ],
            }
        },
        {
            "dataModelUpdate": {
                "surfaceId": "tracks",
                "contents": [
                    {"key": "name", "valueString": "集中"},
                    {
                        "key": "list",
                        "valueMap": [{"key": "1", "valueMap": [{"key": "title", "valueString": "Weightless"}]}],
                    },
                ],
            }
        },
        {"dataModelUpdate": {"surfaceId": "other", "contents": [{"key": "name", "valueString": "Not this one"}]}},
    ],
    "0.9": [
        [
            {
                "version": "v0.9",
                "updateComponents": {
                    "surfaceId": "tracks",
                    "components": [
                        {"id": "name", "component": "Text", "text": {"path": "/name"}},
                        {"id": "title", "component": "Text", "text": {"path": "title"}},
                        {
                            "id": "count",
                            "component": "Text",
                            "text": {"call": "formatString", "args": {"value": "${/count} of ${/none}"}},
                        },
                        {
                            "id": "on",
                            "component": "Text",
                            "text": {"call": "formatDate", "args": {"value": {"path": "/on"}}},
                        },
                    ],
                },
            },
            {"version": "v0.9", "updateDataModel": {"surfaceId": "tracks", "value": {"name": "before", "count": 1.5}}},
            {"version": "v0.9", "updateDataModel": {"surfaceId": "tracks", "path": "/name", "value": "集中"}},
            {
                "version": "v0.9",
                "updateDataModel": {"surfaceId": "tracks", "path": "/list", "value": [{"title": "Weightless"}]},
            },
            {"version": "v0.9", "updateDataModel": {"surfaceId": "tracks", "path": "/on", "value": "2026-01-31"}},
        ]
    ],
}


@pytest.mark.parametrize(
    ("version", "said"), [("0.8", "集中\nWeightless"), ("0.9", "集中\nWeightless\n1.5 of \n2026-01-31")]
)
def test_texts_that_show_the_data_of_a_surface_are_said_to_others(version: str, said: str) -> None:
    with AgentServer(lambda _: [task("completed", artifact("a", *map(_part, _TRACKS[version])))]) as agent:
        hub = _hub(agent.url, version)
        assert text_of(hub.send("alpha")) == streamed_text(hub.stream("alpha")) == said


def test_a_person_gets_images_of_listed_hosts_alone_and_a_program_all(tmp_path: Path) -> None:
    def image(url: str) -> Json:
        component = {"id": "root", "component": {"Image": {"url": {"literalString": url}}}}
        return {"surfaceUpdate": {"surfaceId": "booking", "components": [component]}}

    evil = image("https://evil.example/?q=secret")
    with AgentServer(lambda _: [task("working"), update(artifact("a", _part(evil))), status("completed")]) as agent:
        hub = _hub(agent.url, "0.8", tmp_path, passes_tasks=True)
        person = hub.stream("alpha", headers={"x-a2a-extensions": f"{_URI}0.8"})
        how: dict[str, Any] = {"version": "1.0", "modes": ["text/plain", "application/json"]}
        program = hub.send("alpha", headers={"a2a-extensions": f"{_URI}0.8"}, **how)["task"]
    assert _shown(person) == [image("about:blank")]
    assert program["artifacts"][0]["parts"] == [_part(evil)]


@versions
def test_a_program_gets_the_agents_own_parts_only_if_it_activates_it(version: str, surfaces: list[Any]) -> None:
    with AgentServer(
        lambda _: [task("working"), update(artifact("a", *map(_part, surfaces))), status("completed")]
    ) as agent:
        hub = _hub(agent.url, version, passes_tasks=True)
        how: dict[str, Any] = {"version": "1.0", "modes": ["text/plain", "application/json"]}
        active = hub.send("alpha", headers={"a2a-extensions": f"{_URI}{version}"}, **how)["task"]
        plain = hub.send("alpha", **how)["task"]
    assert active["artifacts"][0]["parts"] == [_part(each) for each in surfaces]
    assert plain["artifacts"][0]["parts"] == [{"text": "Book a table\n確定"}]


@pytest.mark.parametrize("version", ["0.8", "0.9"])
def test_a_click_reaches_the_agent_and_the_task_that_made_its_surface(version: str, tmp_path: Path) -> None:
    surfaces = _0_8 if version == "0.8" else _0_9

    def answer(received: Any) -> Iterator[Json]:
        yield task("working")
        if received.text != "alpha":
            yield update(artifact("b", text("Booked.")))
            yield status("completed")
        else:
            yield update(artifact("a", *map(_part, surfaces)))
            yield status("input-required", "Which table?")

    with AgentServer(answer) as agent:
        hub = _hub(agent.url, version, tmp_path)
        asked = hub.stream("alpha", headers={"x-a2a-extensions": f"{_URI}{version}"})
        context_id = asked[-1]["contextId"]
        done = hub.stream("", context_id=context_id, **_click(version))
    assert streamed_text(done) == "Booked."
    assert done[-1]["final"] is True
    first, click = (asked.json["params"]["message"] for asked in agent.asked)
    assert click["parts"][0]["data"] == _ACTIONS[version]
    assert click["contextId"] == "agent-context"
    assert click["taskId"] == "task-1"
    assert "taskId" not in first


def test_a_click_in_the_middle_of_a_stream_reaches_the_task_that_runs(tmp_path: Path) -> None:
    clicked = threading.Event()

    def answer(received: Any) -> Iterator[Json]:
        yield task("working")
        if received.text != "alpha":
            clicked.set()
            yield update(artifact("b", text("Seen.")))
        else:
            yield update(artifact("a", *map(_part, _0_8)))
            assert clicked.wait(20)
            yield update(artifact("c", text("Done.")))
        yield status("completed")

    with AgentServer(answer) as agent:
        hub = _hub(agent.url, "0.8", tmp_path)
        stream = hub.open("alpha", headers={"x-a2a-extensions": f"{_URI}0.8"})
        events = (json.loads(chunk.removeprefix(b"data: "))["result"] for chunk in stream.chunks if chunk[:1] != b":")
        seen = []
        for event in events:
            seen.append(event)
            if len(_shown(seen)) == len(_0_8) and not clicked.is_set():
                answer_to_click = hub.stream("", context_id=event["contextId"], **_click("0.8"))
    assert streamed_text(answer_to_click) == "Seen."
    assert answer_to_click[-1]["final"] is seen[-1]["final"] is True
    assert agent.asked[1].json["params"]["message"]["taskId"] == "task-1"


@pytest.mark.parametrize(
    "value", [{"userAction": {"surfaceId": "nobody's"}}, {"userAction": 1}, {"x": 1}, [1], [{"action": []}]]
)
def test_an_action_on_no_surface_of_this_conversation_is_an_ordinary_message(value: Any) -> None:
    with AgentServer() as agent:
        hub = _hub(agent.url, "0.8")
        told = streamed_text(hub.stream("", **_click("0.8", value)))
    assert told
    assert not agent.asked
