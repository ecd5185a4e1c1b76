"""The answers of the Vertex AI stand-in: an extractive model, and the API's form of what it says."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from local.cloud.program import ApiError

_SENTENCE = re.compile(r"[^\n]*?(?:[.!?](?=\s|$)|[。！？])[^\S\n]*|[^\n]+")
_ASKS = re.compile(r"[?？]\s*$|か。?\s*$")
_MARK = re.compile(r"^\s*(\[\d+\])\s*")
_WORD = re.compile(r"[0-9]+|[a-z]{3,}|[\u3040-\u30ff\u3400-\u9fff]+")
_TOKEN = re.compile(r"\s*(?:[^\W\u3000-\u9fff]+|\S)|\s+")
_JAPANESE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_HIRAGANA = re.compile(r"[\u3040-\u309f]+")
_MOST_SENTENCES = 3
_LEAST_SHARE = 1 / 3
_NONE = {
    False: "I am a local stand-in for a language model. I was given nothing to answer this from.",
    True: "これは言語モデルのローカル代用品です。回答のもとになる文章が与えられていません。",
}
_API = "aiplatform.googleapis.com"


def answer(text: str) -> str:
    """Return the answer to the text of a user's turn."""
    sentences = _sentences(text)
    question = " ".join(sentence for sentence, _ in sentences if _asks(sentence))
    material = [(sentence, mark) for sentence, mark in sentences if not _asks(sentence)]
    if not question:
        chosen = material[:1]
    else:
        shared = [len(_words(sentence) & _words(question)) for sentence, _ in material]
        best = sorted(range(len(material)), key=lambda at: (-shared[at], at))[:_MOST_SENTENCES]
        least = max(1, max(shared, default=0) / 2)
        chosen = [material[at] for at in sorted(best) if shared[at] >= least]
    if not chosen:
        return _NONE[bool(_JAPANESE.search(question or text))]
    cited = [f"{sentence} {mark}".strip() for sentence, mark in chosen]
    return "".join(cited) if all(_JAPANESE.search(each) for each in cited) else " ".join(cited)


def numbers(text: str) -> str:
    """Return the numbers of the marked lines that answer the text of a user's turn, as a JSON array."""
    lines = [(mark, line[mark.end() :]) for line in text.splitlines() if (mark := _MARK.match(line))]
    question = _words(" ".join(sentence for sentence, mark in _sentences(text) if not mark and _asks(sentence)))
    shared = [len(_words(line) & question) for _, line in lines]
    most = max(shared, default=0)
    if not most or most < len(question) * _LEAST_SHARE:
        return "[]"
    best = [mark[1] for (mark, _), share in zip(lines, shared, strict=True) if share == most]
    return json.dumps([int(mark.strip("[]")) for mark in best[:_MOST_SENTENCES]])


def tokens(text: str) -> list[str]:
    """Return `text` in the pieces in which it is counted and streamed; joined they are `text`."""
    return _TOKEN.findall(text)


def _sentences(text: str) -> list[tuple[str, str]]:
    """Return the sentences of `text`, each with the mark of its line."""
    found: list[tuple[str, str]] = []
    for line in text.splitlines():
        mark = _MARK.match(line)
        rest = line[mark.end() :] if mark else line
        found.extend((part.strip(), mark[1] if mark else "") for part in _SENTENCE.findall(rest) if part.strip())
    return found


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


def unauthenticated() -> ApiError:
    """Return the refusal of a missing or unknown token."""
    message = (
        "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other "
        "valid authentication credential."
    )
    return ApiError("UNAUTHENTICATED", message, reason="ACCESS_TOKEN_TYPE_UNSUPPORTED", metadata={"service": _API})


def denied(resource: str) -> ApiError:
    """Return the refusal of an account without the role."""
    permission = "aiplatform.endpoints.predict"
    message = f"Permission '{permission}' denied on resource '//{_API}/{resource}' (or it may not exist)."
    return ApiError(
        "PERMISSION_DENIED",
        message,
        reason="IAM_PERMISSION_DENIED",
        metadata={"permission": permission, "resource": resource},
    )


def disabled(project: str) -> ApiError:
    """Return the refusal of a project in which the API is not enabled."""
    message = f"Vertex AI API has not been used in project {project} before or it is disabled."
    metadata = {"service": _API, "consumer": f"projects/{project}"}
    return ApiError("PERMISSION_DENIED", message, reason="SERVICE_DISABLED", metadata=metadata)


def no_such_path(path: str) -> ApiError:
    """Return the answer to an unknown path."""
    return ApiError("NOT_FOUND", f"The requested URL {path} was not found on this server.")


def no_such_model(project: str, location: str, model: str) -> ApiError:
    """Return the answer to an unknown model or location."""
    name = f"projects/{project}/locations/{location}/publishers/google/models/{model}"
    message = f"Publisher Model `{name}` was not found or your project does not have access to it."
    return ApiError("NOT_FOUND", message)


def bad_request() -> ApiError:
    """Return the answer to a malformed body."""
    return ApiError("INVALID_ARGUMENT", "Unable to submit request because it must have a text parameter.")


def exhausted() -> ApiError:
    """Return the answer to too many requests."""
    return ApiError("RESOURCE_EXHAUSTED", "Resource exhausted. Please try again later.")


def unavailable() -> ApiError:
    """Return the answer of a service with a problem of its own."""
    return ApiError("UNAVAILABLE", "The service is currently unavailable.")


def user_text(body: Any) -> str:
    """Return the text of the last user turn. Raises ValueError, or what a body of another shape leads to."""
    turns = [turn for turn in body["contents"] if turn.get("role", "user") == "user"]
    text = "\n".join(part["text"] for part in turns[-1]["parts"] if part.get("text")) if turns else ""
    if not text:
        raise ValueError("no text")
    return text


def most_tokens(body: Any) -> int:
    """Return the greatest number of tokens of the answer."""
    return int(body.get("generationConfig", {}).get("maxOutputTokens", 8192))


def wants_numbers(body: Any) -> bool:
    """Return True if the answer has to be a JSON array of integers."""
    form = body.get("generationConfig", {})
    schema = form.get("responseSchema", {})
    is_array = (schema.get("type"), schema.get("items", {}).get("type")) == ("ARRAY", "INTEGER")
    return form.get("responseMimeType") == "application/json" and is_array


def chunk(text: str, *, model: str) -> dict[str, Any]:
    """Return a chunk with a part of the answer."""
    content = {"role": "model", "parts": [{"text": text}]}
    return {"candidates": [{"content": content}], "modelVersion": model, "responseId": "local"}


def last_chunk(finish: str, *, model: str, prompt_tokens: int, answer_tokens: int) -> dict[str, Any]:
    """Return the last chunk: the finish reason and the usage."""
    usage = {
        "promptTokenCount": prompt_tokens,
        "candidatesTokenCount": answer_tokens,
        "totalTokenCount": prompt_tokens + answer_tokens,
    }
    candidate = {"finishReason": finish}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": model, "responseId": "local"}


def blocked(reason: str, *, model: str, prompt_tokens: int) -> dict[str, Any]:
    """Return the only chunk of a blocked question."""
    usage = {"promptTokenCount": prompt_tokens, "totalTokenCount": prompt_tokens}
    return {"promptFeedback": {"blockReason": reason}, "usageMetadata": usage, "modelVersion": model}


def whole(chunks: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the answer of `generateContent`: all chunks in one."""
    answer = dict(chunks[-1]) if chunks else {}
    texts = [
        part["text"]
        for each in chunks
        for candidate in each.get("candidates", ())
        for part in candidate.get("content", {}).get("parts", ())
    ]
    if texts:
        candidate = {"content": {"role": "model", "parts": [{"text": "".join(texts)}]}}
        answer["candidates"] = [candidate | (answer.get("candidates") or [{}])[0]]
    return answer


def events(chunks: Iterator[dict[str, Any]]) -> Iterator[bytes]:
    """Yield the chunks as server-sent events."""
    for each in chunks:
        yield b"data: " + json.dumps(each, ensure_ascii=False).encode() + b"\r\n\r\n"


def array(chunks: Iterator[dict[str, Any]]) -> Iterator[bytes]:
    """Yield the chunks as a growing JSON array."""
    separator = b"["
    for each in chunks:
        yield separator + json.dumps(each, ensure_ascii=False).encode()
        separator = b",\r\n"
    yield b"]"
