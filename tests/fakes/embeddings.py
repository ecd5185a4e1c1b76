"""An embedding model in two languages, behind OpenAI's embeddings and behind Vertex AI."""

import math
import re
import threading
import zlib
from collections.abc import Sequence

from tests.fakes.http_server import Exchange, HttpServer

DIMENSIONS = 64
_MEANINGS = (
    ("otter", "otters", "カワウソ"),
    ("harp", "harps", "harfen", "竪琴"),
    ("abacus", "算盤"),
    ("strings", "弦"),
)
_MEANING_OF = {word: f"meaning {number}" for number, words in enumerate(_MEANINGS) for word in words}
_WORD = re.compile("[a-z]+|" + "|".join(word for word in _MEANING_OF if not word.isascii()))


class Embeddings(HttpServer):
    """`requests` are the texts of each call. It answers `status`, and 400 to more than `max_texts` and to an "unreadable" one;
    after `calls_until_away` it has gone.
    """

    def __init__(self, *, max_texts: int = 64) -> None:
        super().__init__(self._answer)
        self.max_texts = max_texts
        self.status = 200
        self.calls_until_away: int | None = None
        self.requests: list[list[str]] = []
        self.headers: list[str] = []
        self.asked = threading.Event()

    @property
    def texts(self) -> list[str]:
        """Every text that was sent, in its order."""
        return [text for request in self.requests for text in request]

    def _answer(self, exchange: Exchange) -> None:
        body, path = exchange.received.json, exchange.received.path
        self.headers.append(exchange.received.headers.get("authorization", ""))
        if path.endswith(":embedContent"):
            texts = [body["content"]["parts"][0]["text"]]
        elif path.endswith(":predict"):
            texts = [each["content"] for each in body["instances"]]
        else:
            texts = body["input"]
        self.requests.append(texts)
        self.asked.set()
        if self.calls_until_away is not None and len(self.requests) > self.calls_until_away:
            self.status = 503
        if self.status != 200:
            exchange.json({"error": {"message": "no"}}, self.status)
        elif len(texts) > self.max_texts or any("unreadable" in text for text in texts):
            exchange.json({"error": {"message": "too much"}}, 400)
        elif path.endswith(":embedContent"):
            exchange.json({"embedding": {"values": vector_of(texts[0])}})
        elif path.endswith(":predict"):
            exchange.json({"predictions": [{"embeddings": {"values": vector_of(text)}} for text in texts]})
        else:
            data = [{"index": number, "embedding": vector_of(text)} for number, text in enumerate(texts)]
            exchange.json({"object": "list", "data": data[::-1]})


def vector_of(text: str) -> Sequence[float]:
    """Return a vector of the meanings of a text's words; like those of real models, all have something in common."""
    vector = [0.5] * DIMENSIONS
    for word in _WORD.findall(text.lower()):
        seed = zlib.crc32(_MEANING_OF.get(word, word).encode())
        worth = 3.0 if word in _MEANING_OF else 0.3
        for place in range(8):
            vector[(seed >> (place * 3)) % DIMENSIONS] += worth * (1 if seed >> place & 1 else -1)
    length = math.hypot(*vector)
    return [value / length for value in vector]
