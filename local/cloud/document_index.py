"""What the Discovery Engine stand-in finds with: BM25 over words and, in Japanese, pairs of characters. It knows no synonyms."""

from __future__ import annotations

import math
import re
import threading
import unicodedata
from collections import Counter
from dataclasses import dataclass

_WORD = re.compile(r"[a-z0-9]+")
_JAPANESE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff々ー]+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_K1, _B = 1.2, 0.75


@dataclass(frozen=True, slots=True)
class _Entry:
    sentences: tuple[str, ...]
    terms: Counter[str]
    length: int


class DocumentIndex:
    """Texts by id. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: dict[str, _Entry] = {}

    def put(self, key: str, title: str, text: str) -> None:
        """The text is found from now on."""
        words = terms(f"{title}\n{text}")
        sentences = tuple(each.strip() for each in _SENTENCE.split(text) if each.strip())
        entry = _Entry(sentences, Counter(words), len(words))
        with self._lock:
            self._entries[key] = entry

    def remove(self, key: str) -> None:
        """The text is not found any more."""
        with self._lock:
            self._entries.pop(key, None)

    def search(self, query: str) -> list[str]:
        """The ids of all texts that hold a word of the query, best first."""
        with self._lock:
            entries = dict(self._entries)
        if not entries:
            return []
        average = sum(entry.length for entry in entries.values()) / len(entries)
        scores: dict[str, float] = {}
        for term in set(terms(query)):
            holding = {key: entry for key, entry in entries.items() if term in entry.terms}
            rarity = math.log(1 + (len(entries) - len(holding) + 0.5) / (len(holding) + 0.5))
            for key, entry in holding.items():
                often = entry.terms[term]
                norm = _K1 * (1 - _B + _B * entry.length / average)
                scores[key] = scores.get(key, 0.0) + rarity * often * (_K1 + 1) / (often + norm)
        return sorted(scores, key=lambda key: (-scores[key], key))

    def best_sentences(self, key: str, query: str, most: int) -> list[str]:
        """The sentences of a text that share most with the query, best first; none without a common word."""
        with self._lock:
            entry = self._entries.get(key)
        if entry is None:
            return []
        wanted = set(terms(query))
        shared = {each: len(wanted & set(terms(each))) for each in entry.sentences}
        return sorted((each for each in shared if shared[each]), key=lambda each: -shared[each])[:most]


def terms(text: str) -> list[str]:
    """The words of a text; of each run of Japanese the pairs of neighbouring characters."""
    normal = unicodedata.normalize("NFKC", text).casefold()
    found = _WORD.findall(normal)
    for run in _JAPANESE.findall(normal):
        found += [run[at : at + 2] for at in range(len(run) - 1)] or [run]
    return found
