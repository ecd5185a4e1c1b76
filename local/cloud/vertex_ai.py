"""Gemini on Vertex AI (v1, v1beta1), as google-genai speaks to it; the model answers with sentences of the question's text."""

import json
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from typing import Any

from a2a_hub.http.messages import EVENT_STREAM, Request, Response
from local.cloud.accounts import Accounts
from local.cloud.google_api import ProjectApi
from local.cloud.policies import MODEL_ADMIN, MODEL_USER, PREDICT
from local.cloud.program import ApiError, json_body, json_response

DENIED, DISABLED = "deny-predict", "disable-api"
_PATH = re.compile(
    r"/(?:v1|v1beta1)/projects/([^/]+)/locations/([^/]+)/publishers/google/models/([^/:]+)"
    r":(generateContent|streamGenerateContent)"
)
_SENTENCE = re.compile(r"[^\n]*?(?:[.!?](?=\s|$)|[。！？])[^\S\n]*|[^\n]+")
_ASKS = re.compile(r"[?？]\s*$|か。?\s*$")
_WORD = re.compile(r"[0-9]+|[a-z]{3,}|[\u3040-\u30ff\u3400-\u9fff]+")
_TOKEN = re.compile(r"\s*(?:[^\W\u3000-\u9fff]+|\S)|\s+")
_JAPANESE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_HIRAGANA = re.compile(r"[\u3040-\u309f]+")
_MAX_SENTENCES = 3
_MIN_SHARE = 1 / 3
_NONE = {
    False: "I am a local stand-in for a language model. I was given nothing to answer this from.",
    True: "これは言語モデルのローカル代用品です。回答のもとになる文章が与えられていません。",
}


class VertexAi(ProjectApi):
    """The `model` of one project, which `users` may ask."""

    service = "aiplatform.googleapis.com"
    user_role, admin_role = MODEL_USER, MODEL_ADMIN
    faults_of, denied_fault, disabled_fault = "vertex-ai", DENIED, DISABLED

    def __init__(self, *, project: str, model: str, users: Sequence[str], accounts: Accounts) -> None:
        super().__init__(users=users, accounts=accounts)
        self._project = project
        self._model = model

    def _answer(self, request: Request) -> Response:
        match = _PATH.fullmatch(request.path)
        if match is None or request.method != "POST":
            raise ApiError("NOT_FOUND", f"The requested URL {request.path} was not found on this server.")
        project, location, model, method = match.groups()
        name = f"projects/{project}/locations/{location}/publishers/google/models/{model}"
        self._require_enabled()
        self._require(request, PREDICT, name)
        if (project, model) != (self._project, self._model):
            message = f"Publisher Model `{name}` was not found or your project does not have access to it."
            raise ApiError("NOT_FOUND", message)
        try:
            body = json_body(request)
            text, call, config = _user_text(body), _function_call(body), body.get("generationConfig", {})
            most = int(config.get("maxOutputTokens", 8192))
            respond = str if _results(body) else partial(answer, unknown=_unknown_word(body))
            if schema := config.get("responseJsonSchema"):
                respond = partial(structured, schema=schema)
        except (ValueError, TypeError, AttributeError, KeyError):
            message = "Unable to submit request because it must have a text parameter."
            raise ApiError("INVALID_ARGUMENT", message) from None
        chunks = self._chunks(text, respond, model=model, most=most)
        if call:
            parts = [{"text": f"Next: {call['name']}"}, {"functionCall": call}]
            chunks = iter([_chunk(parts, model=model, finish="STOP", usage={})])
        if method == "generateContent":
            return json_response(_whole(list(chunks)))
        return Response(headers={"content-type": EVENT_STREAM}, body=_events(chunks))

    def _chunks(self, text: str, respond: Callable[[str], str], *, model: str, most: int) -> Iterator[dict[str, Any]]:
        """Return the chunks of one answer: one for each token, and one that ends it."""
        prompt_tokens = len(tokens(text))
        usage = {"promptTokenCount": prompt_tokens, "totalTokenCount": prompt_tokens}
        if (blocked := self.faults.parameters("block-question")) is not None:
            feedback = {"blockReason": blocked.get("reason", "PROHIBITED_CONTENT")}
            yield {"promptFeedback": feedback, "usageMetadata": usage, "modelVersion": model}
            return
        pieces = [] if "empty" in self.faults else tokens(respond(text))
        finish = "STOP"
        for fault in ("finish", "stall", "cut"):
            if (parameters := self.faults.parameters(fault)) is not None:
                pieces = pieces[: int(parameters.get("tokens", 3))]
                finish = str(parameters.get("reason", "SAFETY")) if fault == "finish" else fault
        if len(pieces) > most:
            pieces, finish = pieces[:most], "MAX_TOKENS"
        for token in pieces:
            yield _chunk([{"text": token}], model=model)
        match finish:
            case "stall":
                # For as long as nobody would wait.
                self.faults.wait("stall", seconds=600.0)
            case "cut":
                pass
            case _:
                counts = {"candidatesTokenCount": len(pieces), "totalTokenCount": prompt_tokens + len(pieces)}
                yield _chunk([], model=model, finish=finish, usage=usage | counts)


def answer(text: str, *, unknown: str = "") -> str:
    """Return the answer to the text of a user's turn, after `unknown` if there is nothing to answer it from."""
    sentences = [part.strip() for part in _SENTENCE.findall(text) if part.strip()]
    question = " ".join(sentence for sentence in sentences if _asks(sentence))
    material = [sentence for sentence in sentences if not _asks(sentence)]
    if not question:
        chosen = material[:1]
    else:
        shared = [len(_words(sentence) & _words(question)) for sentence in material]
        best = sorted(range(len(material)), key=lambda at: (-shared[at], at))[:_MAX_SENTENCES]
        least = max(1, max(shared, default=0) / 2)
        chosen = [material[at] for at in sorted(best) if shared[at] >= least]
    if not chosen:
        return unknown + _NONE[bool(_JAPANESE.search(question or text))]
    return "".join(chosen) if all(_JAPANESE.search(each) for each in chosen) else " ".join(chosen)


def _unknown_word(body: Any) -> str:
    """Return the word with which, by the instruction, an answer begins that is not known; "" without one."""
    instruction = "".join(part["text"] for part in body.get("systemInstruction", {}).get("parts", ()))
    word = re.search(r"Begin with the word ([A-Z]+) when you do not know", instruction)
    return f"{word[1]} " if word else ""


def structured(text: str, schema: Any) -> str:
    """Return the JSON answer of this schema to the lines of JSON in the text of a user's turn: a composed answer out of the
    quotes that share most words with the question; and of other schemas, that a claim is supported or a question complete.
    """
    lines = [json.loads(line) for line in text.splitlines()]
    if "supported" in schema["properties"]:
        return json.dumps({"mistake": "", "supported": True})
    question = lines[-1]["question"]
    if "question" in schema["properties"]:
        return json.dumps({"question": question}, ensure_ascii=False)
    asked = _words(question)
    quotes = [(each, len(_words(each["text"]) & asked)) for each in lines if "id" in each]
    most = max((share for _, share in quotes), default=0)
    is_answerable = most > 0 and most >= len(asked) * _MIN_SHARE
    best = [quote for quote, share in quotes if is_answerable and share == most][:_MAX_SENTENCES]
    sentences = [{"text": quote["text"], "cites": [quote["id"]]} for quote in best]
    return json.dumps({"answerable": is_answerable, "missing": "", "sentences": sentences}, ensure_ascii=False)


def tokens(text: str) -> list[str]:
    """Return `text` in the pieces in which it is counted and streamed; joined they are `text`."""
    return _TOKEN.findall(text)


def _asks(sentence: str) -> bool:
    return _ASKS.search(sentence) is not None


def _words(text: str) -> set[str]:
    words: set[str] = set()
    for run in _WORD.findall(text.lower()):
        if _JAPANESE.match(run):
            pairs = (run[at : at + 2] for at in range(max(1, len(run) - 1)))
            words.update(pair for pair in pairs if not _HIRAGANA.fullmatch(pair))
        else:
            words.add(run)
    return words


def _user_text(body: Any) -> str:
    """Return the text of the last user turn. Raises ValueError, or what a body of another shape leads to."""
    turns = [turn for turn in body["contents"] if turn.get("role", "user") == "user"]
    parts = turns[-1]["parts"] if turns else ()
    text = "\n".join(part["text"] for part in parts if part.get("text")) or _results(body)
    if not text:
        raise ValueError("no text")
    return text


def _results(body: Any) -> str:
    """Return the results of functions that the last turn has, as JSON; "" without any."""
    parts = body["contents"][-1]["parts"]
    found = [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]
    return "\n".join(json.dumps(each, ensure_ascii=False) for each in found)


def _function_call(body: Any) -> dict[str, Any] | None:
    """Return the call of a declared function that the user's turn spells out, as in `find_files {"words": "minutes"}`."""
    declared = [each for tool in body.get("tools", ()) for each in tool.get("functionDeclarations", ())]
    names = "|".join(re.escape(each["name"]) for each in declared)
    call = re.search(rf"\b({names})\s*(\{{.*\}})", _user_text(body), re.DOTALL) if names else None
    return {"name": call[1], "args": json.loads(call[2])} if call and not _results(body) else None


def _chunk(parts: Sequence[Any], *, model: str, finish: str = "", usage: Any = None) -> dict[str, Any]:
    """Return a chunk: parts of the answer, its end with the finish reason and the usage, or both."""
    candidate = {"content": {"role": "model", "parts": parts}} if parts else {}
    ended = {"finishReason": finish} if finish else {}
    chunk = {"candidates": [candidate | ended], "modelVersion": model, "responseId": "local"}
    return chunk if usage is None else {**chunk, "usageMetadata": usage}


def _whole(chunks: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the answer of `generateContent`: all chunks in one."""
    answer = dict(chunks[-1]) if chunks else {}
    texts = [
        part["text"]
        for each in chunks
        for candidate in each.get("candidates", ())
        for part in candidate.get("content", {}).get("parts", ())
        if "text" in part
    ]
    if texts:
        candidate = {"content": {"role": "model", "parts": [{"text": "".join(texts)}]}}
        answer["candidates"] = [candidate | (answer.get("candidates") or [{}])[0]]
    return answer


def _events(chunks: Iterator[dict[str, Any]]) -> Generator[bytes]:
    """Yield the chunks as server-sent events."""
    for each in chunks:
        yield b"data: " + json.dumps(each, ensure_ascii=False).encode() + b"\r\n\r\n"
