"""Requests, answers and errors of Gemini on Vertex AI, as its REST reference writes them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from local.cloud.api_errors import ApiError

_API = "aiplatform.googleapis.com"


def unauthenticated() -> ApiError:
    """No token, or one that nobody gave out."""
    message = (
        "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other "
        "valid authentication credential."
    )
    return ApiError(
        "UNAUTHENTICATED", message, reason="ACCESS_TOKEN_TYPE_UNSUPPORTED", metadata={"service": _API}
    )


def denied(resource: str) -> ApiError:
    """The account lacks the role."""
    permission = "aiplatform.endpoints.predict"
    message = f"Permission '{permission}' denied on resource '//{_API}/{resource}' (or it may not exist)."
    return ApiError(
        "PERMISSION_DENIED",
        message,
        reason="IAM_PERMISSION_DENIED",
        metadata={"permission": permission, "resource": resource},
    )


def disabled(project: str) -> ApiError:
    """The API is not enabled."""
    message = f"Vertex AI API has not been used in project {project} before or it is disabled."
    metadata = {"service": _API, "consumer": f"projects/{project}"}
    return ApiError("PERMISSION_DENIED", message, reason="SERVICE_DISABLED", metadata=metadata)


def no_such_path(path: str) -> ApiError:
    """Nothing is there."""
    return ApiError("NOT_FOUND", f"The requested URL {path} was not found on this server.")


def no_such_model(project: str, location: str, model: str) -> ApiError:
    """No such model, or not here."""
    name = f"projects/{project}/locations/{location}/publishers/google/models/{model}"
    message = f"Publisher Model `{name}` was not found or your project does not have access to it."
    return ApiError("NOT_FOUND", message)


def bad_request() -> ApiError:
    """A body that is none."""
    return ApiError("INVALID_ARGUMENT", "Unable to submit request because it must have a text parameter.")


def exhausted() -> ApiError:
    """Too many requests."""
    return ApiError("RESOURCE_EXHAUSTED", "Resource exhausted. Please try again later.")


def unavailable() -> ApiError:
    """The service itself has a problem."""
    return ApiError("UNAVAILABLE", "The service is currently unavailable.")


def user_text(asked: Any) -> str:
    """The text of the last user turn. Raises ValueError, or what a body of another shape leads to."""
    turns = [turn for turn in asked["contents"] if turn.get("role", "user") == "user"]
    text = "\n".join(part["text"] for part in turns[-1]["parts"] if part.get("text")) if turns else ""
    if not text:
        raise ValueError("no text")
    return text


def most_tokens(asked: Any) -> int:
    """How long the answer may become."""
    return int(asked.get("generationConfig", {}).get("maxOutputTokens", 8192))


def wants_numbers(asked: Any) -> bool:
    """Whether the answer has to be a JSON array of integers."""
    form = asked.get("generationConfig", {})
    schema = form.get("responseSchema", {})
    is_array = (schema.get("type"), schema.get("items", {}).get("type")) == ("ARRAY", "INTEGER")
    return form.get("responseMimeType") == "application/json" and is_array


def chunk(text: str, *, model: str) -> dict[str, Any]:
    """A stretch of the answer."""
    content = {"role": "model", "parts": [{"text": text}]}
    return {"candidates": [{"content": content}], "modelVersion": model, "responseId": "local"}


def last_chunk(finish: str, *, model: str, asked: int, told: int) -> dict[str, Any]:
    """The end: why it ended, and what was used."""
    usage = {"promptTokenCount": asked, "candidatesTokenCount": told, "totalTokenCount": asked + told}
    candidate = {"finishReason": finish}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": model, "responseId": "local"}


def blocked(reason: str, *, model: str, asked: int) -> dict[str, Any]:
    """The only chunk where the question is blocked."""
    usage = {"promptTokenCount": asked, "totalTokenCount": asked}
    return {"promptFeedback": {"blockReason": reason}, "usageMetadata": usage, "modelVersion": model}


def whole(chunks: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The answer of `generateContent`: all chunks in one."""
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
    """Server-sent events."""
    for each in chunks:
        yield b"data: " + json.dumps(each, ensure_ascii=False).encode() + b"\r\n\r\n"


def array(chunks: Iterator[dict[str, Any]]) -> Iterator[bytes]:
    """A JSON array that grows."""
    separator = b"["
    for each in chunks:
        yield separator + json.dumps(each, ensure_ascii=False).encode()
        separator = b",\r\n"
    yield b"]"
