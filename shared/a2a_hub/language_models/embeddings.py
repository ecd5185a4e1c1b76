"""Embedding models, which turn texts into vectors: Vertex AI, or a server of OpenAI's embeddings (POST {url}/embeddings)."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

import msgspec

from a2a_hub.gemini.client import Gemini
from a2a_hub.gemini.failure import Cause, Failure, ModelFailed
from a2a_hub.http.client import Budget, Http, HttpFailure
from a2a_hub.http.messages import JSON
from a2a_hub.language_models.openai_compatible import OpenAiSettings, http_failure, post_of, status_failure

_MAX_ANSWER_BYTES = 16 << 20
_ONE_TEXT_A_CALL = "gemini-"
Vector = Sequence[float]


class Purpose(StrEnum):
    """The use of a vector, as Vertex AI names it (`task_type`)."""

    DOCUMENT = "RETRIEVAL_DOCUMENT"
    QUESTION = "RETRIEVAL_QUERY"


class EmbeddingModel(Protocol):
    """A model that turns texts into vectors. Thread-safe, across a fork too."""

    @property
    def name(self) -> str:
        """The name of the model; vectors of models with different names have nothing in common."""

    @property
    def max_texts(self) -> int:
        """The number of texts that one call may have."""

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose, timeout_seconds: float | None = None
    ) -> Sequence[Vector]:
        """Return a vector for each text, in their order. Raises ModelFailed."""

    def remedy(self, failure: Failure) -> str:
        """Return what an operator does about a failure."""


class GeminiEmbeddings:
    """An `EmbeddingModel` on Vertex AI."""

    def __init__(self, gemini: Gemini) -> None:
        self._gemini = gemini
        # text-embedding-005 and its like take 250 texts of 20,000 tokens together, Gemini's own one text.
        self.max_texts = 1 if gemini.name.startswith(_ONE_TEXT_A_CALL) else 5

    @property
    def name(self) -> str:
        """Return the name of the model."""
        return self._gemini.name

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose, timeout_seconds: float | None = None
    ) -> Sequence[Vector]:
        """See `EmbeddingModel.embed`."""
        return _complete(self._gemini.embed(texts, task=purpose, timeout_seconds=timeout_seconds), len(texts))

    def remedy(self, failure: Failure) -> str:
        """See `EmbeddingModel.remedy`."""
        return self._gemini.hint("embeddings", failure)["remedy"]


class OpenAiEmbeddings:
    """An `EmbeddingModel` on a server; the protocol knows no purposes."""

    max_texts = 64

    def __init__(self, settings: OpenAiSettings, *, http: Http) -> None:
        self._settings = settings
        self._http = http

    @property
    def name(self) -> str:
        """Return the name of the model."""
        return self._settings.model

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose, timeout_seconds: float | None = None
    ) -> Sequence[Vector]:
        """See `EmbeddingModel.embed`."""
        del purpose
        settings = self._settings
        body = {"model": settings.model, "input": texts, "encoding_format": "float"}
        seconds = timeout_seconds or settings.timeout_seconds
        budget = Budget.within(seconds, now=self._http.clock(), max_bytes=_MAX_ANSWER_BYTES)
        try:
            answer = self._http.request("POST", **post_of(settings, "embeddings", body, accept=JSON), budget=budget)
            content = answer.read()
        except HttpFailure as failure:
            raise ModelFailed(http_failure(failure)) from None
        if answer.status != 200:
            raise ModelFailed(status_failure(answer))
        try:
            found = _ANSWER.decode(content).data
        except msgspec.MsgspecError:
            found = []
        return _complete([each.embedding for each in sorted(found, key=lambda each: each.index)], len(texts))

    def remedy(self, failure: Failure) -> str:
        """See `EmbeddingModel.remedy`."""
        del failure
        return "check EMBEDDING_MODEL, EMBEDDING_MODEL_URL and EMBEDDING_MODEL_KEY, and that the server runs"


class _Embedding(msgspec.Struct):
    index: int
    embedding: list[float]


class _Answer(msgspec.Struct):
    data: list[_Embedding]


_ANSWER = msgspec.json.Decoder(_Answer)


def _complete(vectors: Sequence[Vector], count: int) -> Sequence[Vector]:
    if len(vectors) != count or not all(vectors):
        raise ModelFailed(Failure(cause=Cause.BROKEN, detail="there is not one vector for each text"))
    return vectors
