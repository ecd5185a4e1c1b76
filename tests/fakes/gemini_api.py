"""The Gemini API as Gemini CLI asks it: it wants to use tools where a text says so, and tells what became of them."""

import json
from typing import Any

from tests.fakes.http_server import Exchange, HttpServer

Json = dict[str, Any]


class GeminiApi(HttpServer):
    """To "write FILE" it asks for that file to be written, to "run COMMAND" for that to be run; the rest it says again."""

    def __init__(self) -> None:
        super().__init__(_answer)


def _answer(exchange: Exchange) -> None:
    path = exchange.received.path
    if "countTokens" in path:
        exchange.json({"totalTokens": 1})
        return
    candidate = {
        "content": {"role": "model", "parts": [_part(exchange.received.json)]},
        "finishReason": "STOP",
    }
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    answer = {"candidates": [candidate], "usageMetadata": usage}
    if "streamGenerateContent" in path:
        exchange.answer(200, b"data: " + json.dumps(answer).encode() + b"\r\n\r\n", content_type="text/event-stream")
    else:
        exchange.json(answer)


def _part(request: Json) -> Json:
    last = request["contents"][-1]["parts"]
    results = [part["functionResponse"]["response"] for part in last if "functionResponse" in part]
    if results:
        return {"text": f"Done: {json.dumps(results)}"}
    text = " ".join(part.get("text", "") for part in last)
    for word, use in (("write ", _write), ("run ", _run)):
        _, found, rest = text.rpartition(word)
        if found:
            return {"functionCall": use(rest.strip())}
    return {"text": f"Gemini read: {text}"}


def _write(name: str) -> Json:
    return {"name": "write_file", "args": {"file_path": name, "content": "written\n"}}


def _run(command: str) -> Json:
    return {"name": "run_shell_command", "args": {"command": command, "description": "For a test"}}
