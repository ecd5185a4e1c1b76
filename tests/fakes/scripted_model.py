"""A model that says what a test has written, behind Vertex AI and behind OpenAI's chat completions."""

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from a2a_hub.gemini.prompt import FunctionCall, FunctionResult, ModelTurn, Turn, UserTurn
from a2a_hub.http.client import HttpClient
from a2a_hub.language_models.model import LanguageModel
from a2a_hub.language_models.openai_compatible import OpenAiCompatible
from tests.fakes.chat_completions import openai_settings, send_chunk
from tests.fakes.http_server import Exchange, HttpServer
from tests.fakes.vertex import gemini

SIGNATURE = "c2lnbmF0dXJl"
Answer = Sequence[str | FunctionCall] | int
"""What is said: texts and calls of functions; or the status of an error."""


def wants(function: str, **arguments: Any) -> FunctionCall:
    """A call of a function."""
    return FunctionCall(name=function, arguments=arguments)


class ScriptedModel(HttpServer):
    """One of `answers` after the other is said, and the last one for ever. Errors say `error`; `asked` are the requests.

    `is_gemini` chooses the protocol of `client`.
    """

    def __init__(self, *, is_gemini: bool, error: str = "no") -> None:
        super().__init__(self._answer)
        self.is_gemini = is_gemini
        self.answers: list[Answer] = []
        self.asked: list[Any] = []
        self._error = error
        self._ids = itertools.count(1)

    @property
    def client(self) -> LanguageModel:
        """The model, as the project asks it."""
        if self.is_gemini:
            return gemini(self.url)
        return OpenAiCompatible(openai_settings(f"{self.url}/v1"), http=HttpClient())

    @property
    def dialogues(self) -> list[list[Turn]]:
        """The dialogues that were sent."""
        return [list(_contents(body) if self.is_gemini else _messages(body)) for body in self.asked]

    @property
    def declared(self) -> list[Mapping[str, Any]]:
        """The functions of the first request, with their `parameters`."""
        tools = self.asked[0]["tools"]
        if not self.is_gemini:
            return [tool["function"] for tool in tools]
        # ProtoJSON reads the field's own name as well.
        return [
            {"name": each["name"], "parameters": each["parameters_json_schema"]}
            for each in tools[0]["functionDeclarations"]
        ]

    def _answer(self, exchange: Exchange) -> None:
        self.asked.append(exchange.received.json)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, int):
            exchange.json({"error": {"code": answer, "status": "PERMISSION_DENIED", "message": self._error}}, answer)
            return
        exchange.start_stream()
        if self.is_gemini:
            content = {"role": "model", "parts": [_part(each) for each in answer]}
            exchange.event({"candidates": [{"content": content, "finishReason": "STOP"}]})
            return
        calls = [each for each in answer if isinstance(each, FunctionCall)]
        for text in (each for each in answer if isinstance(each, str)):
            send_chunk(exchange, {"choices": [{"delta": {"content": text}}]})
        for index, call in enumerate(calls):
            first, *pieces = self._pieces(call)
            begun: dict[str, Any] = {
                "id": f"id{next(self._ids)}",
                "type": "function",
                "function": {"name": call.name, "arguments": first},
            }
            for piece in (begun, *({"function": {"arguments": piece}} for piece in pieces)):
                send_chunk(exchange, {"choices": [{"delta": {"tool_calls": [{"index": index, **piece}]}}]})
        send_chunk(exchange, {"choices": [{"delta": {}, "finish_reason": "tool_calls" if calls else "stop"}]})
        exchange.send(b"data: [DONE]\n\n")

    def _pieces(self, call: FunctionCall) -> list[str]:
        text = json.dumps(call.arguments, ensure_ascii=False)
        return ["", *(text[at : at + 5] for at in range(0, len(text), 5))]


def _part(said: str | FunctionCall) -> dict[str, Any]:
    if isinstance(said, str):
        return {"text": said}
    return {"functionCall": {"name": said.name, "args": said.arguments}, "thoughtSignature": SIGNATURE}


def _contents(body: Any) -> Iterator[Turn]:
    for content in body["contents"]:
        (part,) = content["parts"]
        if "functionCall" in part:
            call = part["functionCall"]
            yield FunctionCall(name=call["name"], arguments=call["args"], signature=part.get("thoughtSignature", ""))
        elif "functionResponse" in part:
            name, response = part["functionResponse"]["name"], part["functionResponse"]["response"]
            text = response.get("output", response.get("error"))
            yield FunctionResult(name=name, text=text, succeeded="output" in response)
        else:
            yield (UserTurn if content["role"] == "user" else ModelTurn)(part["text"])


def _messages(body: Any) -> Iterator[Turn]:
    names: dict[str, str] = {}
    for message in body["messages"]:
        match message["role"], message:
            case "user", {"content": text}:
                yield UserTurn(text)
            case "assistant", {"tool_calls": [call]}:
                names[call["id"]] = call["function"]["name"]
                arguments = json.loads(call["function"]["arguments"])
                yield FunctionCall(name=call["function"]["name"], arguments=arguments)
            case "assistant", {"content": text}:
                yield ModelTurn(text)
            case "tool", {"content": text, "tool_call_id": id_}:
                succeeded = not text.startswith("Error: ")
                yield FunctionResult(name=names[id_], text=text.removeprefix("Error: "), succeeded=succeeded)
