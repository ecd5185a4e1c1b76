"""What agents say, written in 1.0's JSON, and the same in 0.3's: written by hand, apart from the product's own translation."""

import copy
from typing import Any

Json = dict[str, Any]


def text(value: str) -> Json:
    return {"text": value}


def data(value: Any) -> Json:
    return {"data": value}


def file(name: str, url: str) -> Json:
    return {"url": url, "filename": name, "mediaType": "application/pdf"}


def message(*parts: Json, context_id: str | None = None) -> Json:
    """An event: an answer in one message."""
    return {"message": _message(*parts) | ({"contextId": context_id} if context_id else {})}


def task(
    state: str,
    *artifacts: Json,
    says: str | None = None,
    id: str = "task-1",
    context_id: str = "agent-context",
) -> Json:
    """An event: a whole task. `state` as in `completed`; `says` is the text of its status."""
    value = {"id": id, "contextId": context_id, "status": _status(state, says)}
    return {"task": value | ({"artifacts": list(artifacts)} if artifacts else {})}


def status(state: str, says: str | None = None, *, context_id: str = "agent-context") -> Json:
    """An event: a status update of task-1."""
    return {"statusUpdate": {"taskId": "task-1", "contextId": context_id, "status": _status(state, says)}}


def of_a_later_version() -> Json:
    """An event that neither version has, with members as others have them."""
    return {"usageUpdate": {"taskId": "task-1", "contextId": "agent-context", "tokens": 17}}


def artifact(id: str, *parts: Json) -> Json:
    """An artifact, for `task` and `update`."""
    return {"artifactId": id, "parts": list(parts)}


def update(artifact: Json, *, append: bool = False, context_id: str = "agent-context") -> Json:
    """An event: an artifact update of task-1."""
    value = {"taskId": "task-1", "contextId": context_id, "artifact": artifact}
    return {"artifactUpdate": value | ({"append": True} if append else {})}


def card(url: str, *, version: str, binding: str, streaming: bool) -> Json:
    """The card of an agent that speaks one version over one binding."""
    value: Json = {
        "name": "A fake agent",
        "description": "Says what a test told it.",
        "version": "1",
        "capabilities": {"streaming": streaming},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "fake", "name": "Fake", "description": "Fake", "tags": []}],
    }
    if version == "0.3":
        return value | {"url": url, "protocolVersion": "0.3.0", "preferredTransport": binding}
    interface = {"url": url, "protocolBinding": binding, "protocolVersion": "1.0"}
    return value | {"supportedInterfaces": [interface]}


def _message(*parts: Json) -> Json:
    return {"messageId": "from-the-agent", "role": "ROLE_AGENT", "parts": list(parts)}


def _status(state: str, says: str | None) -> Json:
    name = "TASK_STATE_" + state.upper().replace("-", "_")
    return {"state": name} | ({"message": _message(text(says))} if says is not None else {})


def folded(events: list[Json]) -> Json:
    """The one result that these events come to."""
    result: Json = {}
    for event in copy.deepcopy(events):
        match event:
            case {"task": _} | {"message": _}:
                result = event
            case {"statusUpdate": update}:
                result["task"]["status"] = update["status"]
            case {"artifactUpdate": update}:
                artifacts = result["task"].setdefault("artifacts", [])
                new = update["artifact"]
                old = next((item for item in artifacts if item["artifactId"] == new["artifactId"]), None)
                if old is None:
                    artifacts.append(new)
                elif update.get("append"):
                    old["parts"] += new["parts"]
                else:
                    artifacts[artifacts.index(old)] = new
    return result


def in_v0_3_jsonrpc(event: Json) -> Json:
    """The event as 0.3 sends it over JSON-RPC: bare, told apart by `kind`."""
    match event:
        case {"message": value}:
            return _message_v0_3(value)
        case {"task": value}:
            return _task_v0_3(value)
        case {"statusUpdate": dict(value)}:
            state = _status_v0_3(value["status"])
            last = state["state"] not in ("submitted", "working")
            return value | {"kind": "status-update", "status": state, "final": last}
        case {"artifactUpdate": dict(value)}:
            return value | {"kind": "artifact-update", "artifact": _artifact_v0_3(value["artifact"])}
    kind, value = next(iter(event.items()))
    return {**value, "kind": kind}


def in_v0_3_rest(event: Json) -> Json:
    """The event as 0.3 sends it over HTTP+JSON: 1.0's wrapper, `content` for a message's parts."""
    return {name: _rest(value) for name, value in event.items()}


def _rest(value: Json) -> Json:
    value = dict(value)
    if "messageId" in value:
        value["content"] = [_rest_part(part) for part in value.pop("parts")]
    if "artifact" in value:
        value["artifact"] = _rest_artifact(value["artifact"])
    if "artifacts" in value:
        value["artifacts"] = [_rest_artifact(artifact) for artifact in value["artifacts"]]
    if "status" in value and "message" in value["status"]:
        value["status"] = value["status"] | {"message": _rest(value["status"]["message"])}
    return value


def _rest_artifact(value: Json) -> Json:
    return value | {"parts": [_rest_part(part) for part in value["parts"]]}


def _rest_part(part: Json) -> Json:
    match part:
        case {"text": _}:
            return part
        case {"data": value}:
            return {"data": {"data": value}}
    inner = {"fileWithUri": part["url"], "name": part["filename"], "mimeType": part["mediaType"]}
    return {"file": inner}


def _part_v0_3(part: Json) -> Json:
    match part:
        case {"text": value}:
            return {"kind": "text", "text": value}
        case {"data": value}:
            return {"kind": "data", "data": value}
    inner = {"uri": part["url"], "name": part["filename"], "mimeType": part["mediaType"]}
    return {"kind": "file", "file": inner}


def _message_v0_3(value: Json) -> Json:
    parts = [_part_v0_3(part) for part in value["parts"]]
    role = "user" if value.get("role") == "ROLE_USER" else "agent"
    return value | {"kind": "message", "role": role, "parts": parts}


def _status_v0_3(value: Json) -> Json:
    state = value["state"].removeprefix("TASK_STATE_").lower().replace("_", "-")
    inner = {"message": _message_v0_3(value["message"])} if "message" in value else {}
    return value | {"state": state} | inner


def _artifact_v0_3(value: Json) -> Json:
    return value | {"parts": [_part_v0_3(part) for part in value["parts"]]}


def _task_v0_3(value: Json) -> Json:
    artifacts = [_artifact_v0_3(item) for item in value.get("artifacts", [])]
    history = [_message_v0_3(item) for item in value.get("history", [])]
    told = {"artifacts": artifacts} | ({"history": history} if history else {})
    return value | {"kind": "task", "status": _status_v0_3(value["status"])} | told
