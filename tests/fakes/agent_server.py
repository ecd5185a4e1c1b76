"""An A2A agent of either version and binding that says what a test tells it to."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.fakes import agent_wire
from tests.fakes.agent_wire import Json
from tests.fakes.http_server import Behaviour, Exchange, HttpServer, Received

CARD_PATH = "/.well-known/agent-card.json"


@dataclass(frozen=True)
class ReceivedMessage:
    """A message that the agent received."""

    text: str
    context_id: str | None
    task_id: str | None
    message_id: str
    headers: Mapping[str, str]
    streaming: bool


Script = Callable[[ReceivedMessage], Iterable[Json]]


class AgentServer(HttpServer):
    """Answers each message with the script's events (`agent_wire`): one by one where it streams, folded where not.

    `serve_message` takes the place of the script, and answers byte by byte; both, and the `version`, may be changed on the way.
    `tasks` gives the states of a task, one for each time that it is asked for; `serve_card` replaces the card. `answers` are by
    JSON-RPC method, or by verb and path (`GET /listCommands`), and come before all of these.
    """

    def __init__(
        self,
        script: Script | None = None,
        *,
        version: str = "1.0",
        binding: str = "JSONRPC",
        streaming: bool = True,
        serve_message: Behaviour | None = None,
        serve_card: Behaviour | None = None,
        tasks: Iterable[Json] = (),
        answers: Mapping[str, Behaviour] | None = None,
    ) -> None:
        super().__init__(self._behave)
        self.said: list[ReceivedMessage] = []
        self.cancelled: list[str] = []
        self.script = script
        self.version = version
        self._binding = binding
        self.serve_message = serve_message
        self.serve_card = serve_card or self._card
        self._streaming = streaming
        self._tasks = iter(tasks)
        self.answers = dict(answers or {})

    @property
    def asked(self) -> list[Received]:
        """The requests that were none for the card."""
        return [received for received in self.received if not received.path.startswith("/.well-known/")]

    def reply(self, exchange: Exchange, events: Iterable[Json]) -> None:
        """Answers a message with events, in the agent's version and binding."""
        said = self._said(exchange.received)
        if not said.streaming:
            exchange.json(self.written(exchange, agent_wire.folded(list(events))))
            return
        exchange.start_stream()
        for event in events:
            exchange.event(self.written(exchange, event))

    def written(self, exchange: Exchange, event: Json) -> Json:
        """One event as it goes over the wire."""
        rest = self._binding == "HTTP+JSON"
        if self.version == "0.3":
            event = agent_wire.in_v0_3_rest(event) if rest else agent_wire.in_v0_3_jsonrpc(event)
        return event if rest else {"jsonrpc": "2.0", "id": exchange.received.json["id"], "result": event}

    def _behave(self, exchange: Exchange) -> None:
        received = exchange.received
        if received.path.startswith("/.well-known/"):
            self.serve_card(exchange)
        elif (answer := self._answer_to(received)) is not None:
            answer(exchange)
        elif not received.body and self._binding != "HTTP+JSON":
            exchange.json({}, 404)
        elif self._is_cancel(received):
            self._cancel(exchange)
        elif self._is_get_task(received):
            self._give_task(exchange)
        else:
            self.said.append(said := self._said(received))
            if self.serve_message is not None:
                self.serve_message(exchange)
            else:
                assert self.script is not None
                self.reply(exchange, self.script(said))

    def _card(self, exchange: Exchange) -> None:
        if exchange.received.path != CARD_PATH:
            exchange.answer(404)
            return
        exchange.json(agent_wire.card(self.url, version=self.version, binding=self._binding, streaming=self._streaming))

    def _answer_to(self, received: Received) -> Behaviour | None:
        if not self.answers:
            return None
        method = received.json.get("method", "") if received.body else ""
        return self.answers.get(f"{received.method} {received.path}") or self.answers.get(method)

    def _is_get_task(self, received: Received) -> bool:
        if self._binding == "HTTP+JSON":
            return "/tasks/" in received.path
        return received.json["method"] in ("GetTask", "tasks/get")

    def _is_cancel(self, received: Received) -> bool:
        if self._binding == "HTTP+JSON":
            return received.path.endswith(":cancel")
        return received.json["method"] in ("CancelTask", "tasks/cancel")

    def _cancel(self, exchange: Exchange) -> None:
        rest = self._binding == "HTTP+JSON"
        path, body = exchange.received.path, exchange.received.json
        task_id = path.rpartition("/")[2].removesuffix(":cancel") if rest else body["params"]["id"]
        self.cancelled.append(task_id)
        self._write_task(exchange, agent_wire.task("canceled", id=task_id))

    def _give_task(self, exchange: Exchange) -> None:
        event = next(self._tasks, None)
        if event is None:
            exchange.answer(404)
            return
        self._write_task(exchange, event)

    def _write_task(self, exchange: Exchange, event: Json) -> None:
        if self.version == "1.0":
            event = event["task"]
        elif self._binding == "HTTP+JSON":
            event = agent_wire.in_v0_3_rest(event)["task"]
        else:
            event = agent_wire.in_v0_3_jsonrpc(event)
        rest = self._binding == "HTTP+JSON"
        exchange.json(event if rest else {"jsonrpc": "2.0", "id": 1, "result": event})

    def _said(self, received: Received) -> ReceivedMessage:
        body: Any = received.json
        if self._binding == "HTTP+JSON":
            prefix = "/v1" if self.version == "0.3" else ""
            assert received.path in (f"{prefix}/message:send", f"{prefix}/message:stream"), received.path
            streaming = received.path.endswith(":stream")
        else:
            methods = {
                "1.0": ("SendMessage", "SendStreamingMessage"),
                "0.3": ("message/send", "message/stream"),
            }
            assert body["method"] in methods[self.version], body["method"]
            streaming = body["method"] == methods[self.version][1]
            body = body["params"]
        assert received.headers.get("a2a-version") == ("1.0" if self.version == "1.0" else None)
        message = body["message"]
        parts = message.get("parts") or message["content"]
        return ReceivedMessage(
            text="\n".join(part["text"] for part in parts if "text" in part),
            context_id=message.get("contextId"),
            task_id=message.get("taskId"),
            message_id=message["messageId"],
            headers=received.headers,
            streaming=streaming,
        )
