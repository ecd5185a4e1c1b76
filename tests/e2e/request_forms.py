"""The eight forms in which a message can be sent: version × binding × with or without a stream, and how each is read."""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.contract.a2a.schemas import faults, faults_v0_3
from tests.e2e.callers import Answer, Caller

_message_numbers = itertools.count(1)


@dataclass(frozen=True, kw_only=True)
class FormAnswer:
    """What a caller was told: the text of the answer, and the conversation it belongs to."""

    text: str
    context_id: str
    data: list[Any]


@dataclass(frozen=True, kw_only=True)
class Form:
    """One way to send a message. `method` is the JSON-RPC method, None for the HTTP+JSON binding."""

    name: str
    version: str
    path: str
    streams: bool
    method: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def ask(
        self,
        caller: Caller,
        text: str,
        *,
        context_id: str | None = None,
        skill: str | None = None,
        output_modes: Iterable[str] = (),
    ) -> FormAnswer:
        """Sends `text`; the answer is valid in this form and has been read."""
        params = self.params(text, context_id=context_id, skill=skill, output_modes=output_modes)
        return self.told(caller.post(self.path, self.body(params), self.headers))

    def params(
        self,
        text: str,
        *,
        context_id: str | None = None,
        skill: str | None = None,
        output_modes: Iterable[str] = (),
    ) -> dict[str, Any]:
        """The parameters of a send, as this form writes them."""
        message: dict[str, Any] = {"messageId": f"message-{next(_message_numbers)}"}
        configuration: dict[str, Any] = {"acceptedOutputModes": list(output_modes)}
        match self.version, self.method:
            case "0.3", str():
                message |= {"kind": "message", "role": "user", "parts": [{"kind": "text", "text": text}]}
                configuration |= {"blocking": True}
            case "0.3", None:
                message |= {"role": "ROLE_USER", "content": [{"text": text}]}
                configuration |= {"blocking": True}
            case _:
                message |= {"role": "ROLE_USER", "parts": [{"text": text}]}
        if context_id is not None:
            message["contextId"] = context_id
        if skill is not None:
            message["metadata"] = {"skill": skill}
        return {"message": message, "configuration": configuration}

    def body(self, params: dict[str, Any]) -> dict[str, Any]:
        """The request's body."""
        if self.method is None:
            return params
        return {"jsonrpc": "2.0", "id": "request-1", "method": self.method, "params": params}

    def told(self, answer: Answer) -> FormAnswer:
        """Return what a successful answer says; it is what the version's schema allows and nothing else."""
        assert answer.status == 200, answer.body
        assert answer.media_type == ("text/event-stream" if self.streams else "application/json")
        if not self.streams:
            return _told_by_message(self._message(answer.json))
        return _told_by_stream([self._event(event) for event in answer.events()], version=self.version)

    def _result(self, response: Any, definition: str) -> Any:
        if self.method is None:
            return response
        assert (response["jsonrpc"], response["id"]) == ("2.0", "request-1")
        if self.version == "0.3":
            assert faults_v0_3(definition, response) == []
        return response["result"]

    def _message(self, response: Any) -> Any:
        result = self._result(response, "SendMessageSuccessResponse")
        if self.version == "1.0":
            assert faults("SendMessageResponse", result) == []
        if self.version == "0.3" and self.method is not None:
            assert result["kind"] == "message"
            return result
        ((kind, value),) = result.items()
        if kind == "task":
            return {
                "role": "agent",
                "parts": [part for each in value["artifacts"] for part in each["parts"]],
                "contextId": value["contextId"],
            }
        assert kind == "message"
        return value

    def _event(self, response: Any) -> tuple[str, Any]:
        result = self._result(response, "SendStreamingMessageSuccessResponse")
        if self.version == "0.3" and self.method is not None:
            names = {"task": "task", "status-update": "statusUpdate", "artifact-update": "artifactUpdate"}
            return names[result["kind"]], result
        if self.version == "1.0":
            assert faults("StreamResponse", result) == []
        ((name, event),) = result.items()
        return name, event


JSONRPC = (
    Form(name="0.3 JSON-RPC", version="0.3", path="/", streams=False, method="message/send"),
    Form(name="0.3 JSON-RPC stream", version="0.3", path="/", streams=True, method="message/stream"),
    Form(
        name="1.0 JSON-RPC",
        version="1.0",
        path="/",
        streams=False,
        method="SendMessage",
        headers={"A2A-Version": "1.0"},
    ),
    Form(
        name="1.0 JSON-RPC stream",
        version="1.0",
        path="/",
        streams=True,
        method="SendStreamingMessage",
        headers={"A2A-Version": "1.0"},
    ),
)
REST = (
    Form(name="0.3 REST", version="0.3", path="/v1/message:send", streams=False),
    Form(name="0.3 REST stream", version="0.3", path="/v1/message:stream", streams=True),
    Form(
        name="1.0 REST",
        version="1.0",
        path="/message:send",
        streams=False,
        headers={"A2A-Version": "1.0"},
    ),
    Form(
        name="1.0 REST stream",
        version="1.0",
        path="/message:stream",
        streams=True,
        headers={"A2A-Version": "1.0"},
    ),
)
FORMS = JSONRPC + REST


def _told_by_message(message: Any) -> FormAnswer:
    assert message["role"] in ("agent", "ROLE_AGENT")
    return _told(message.get("parts") or message["content"], message["contextId"])


def _told_by_stream(events: list[tuple[str, Any]], *, version: str) -> FormAnswer:
    """The life of one task: itself, working, its artifact in pieces, its end."""
    names = [name for name, _ in events]
    assert names[:2] == ["task", "statusUpdate"]
    assert set(names[2:-1]) == {"artifactUpdate"}
    assert names[-1] == "statusUpdate"
    task, last = events[0][1], events[-1][1]
    for _, event in events[1:]:
        assert (event["taskId"], event["contextId"]) == (task["id"], task["contextId"])
    assert last["status"]["state"] in ("completed", "TASK_STATE_COMPLETED")
    if version == "0.3":
        assert [event["final"] for name, event in events if name == "statusUpdate"] == [False, True]
    updates = [event for name, event in events if name == "artifactUpdate"]
    seen: set[str] = set()
    for update in updates:
        assert update.get("append", False) == (update["artifact"]["artifactId"] in seen)
        seen.add(update["artifact"]["artifactId"])
    parts = [part for update in updates for part in update["artifact"]["parts"]]
    return _told(parts, task["contextId"])


def _told(parts: list[Any], context_id: str) -> FormAnswer:
    text = "".join(part["text"] for part in parts if "text" in part)
    return FormAnswer(text=text, context_id=context_id, data=[part["data"] for part in parts if "data" in part])
