"""Measures the verifier on labelled sentences: the share of each corruption it rejects, and of the faithful it keeps."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path
from typing import Any

from a2a_hub.grounding.evidence import Evidence, Sentence
from a2a_hub.grounding.verifier import verify

FAITHFUL = "faithful"
_DEVIATIONS = 1.96


@dataclass(frozen=True, slots=True)
class Miss:
    """A sentence that was judged wrongly; `flaws` are those of a faithful one."""

    kind: str
    item: Mapping[str, Any]
    flaws: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """Right judgements and all, by language and kind."""

    right: Counter[tuple[str, str]] = field(default_factory=Counter)
    all: Counter[tuple[str, str]] = field(default_factory=Counter)
    misses: list[Miss] = field(default_factory=list)

    def rows(self) -> Iterable[tuple[str, str, int, int]]:
        """Yield language, kind, right and all; the faithful come first."""
        for language, kind in sorted(self.all, key=lambda key: (key[0], key[1] != FAITHFUL, key[1])):
            yield language, kind, self.right[language, kind], self.all[language, kind]

    def share(self, *kinds: str) -> float:
        """Return the share of right judgements of these kinds in all languages."""
        keys = [key for key in self.all if key[1] in kinds]
        return sum(self.right[key] for key in keys) / (sum(self.all[key] for key in keys) or 1)


def measure(files: Iterable[Path]) -> Measured:
    """Return how the verifier judges the sentences of JSON Lines files."""
    measured = Measured()
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            if line.strip():
                _judge(json.loads(line), measured)
    return measured


def _judge(item: Mapping[str, Any], measured: Measured) -> None:
    evidence = {
        each["id"]: Evidence(each["id"], each["text"], _lines(each.get("context")), in_force=each.get("in_force", True))
        for each in item["evidence"]
    }
    flaws = tuple(verify(Sentence(item["sentence"], tuple(item["cites"])), evidence, question=item.get("question", "")))
    kind = FAITHFUL if item["faithful"] else item["kind"]
    measured.all[item["language"], kind] += 1
    if bool(flaws) is not item["faithful"]:
        measured.right[item["language"], kind] += 1
    else:
        measured.misses.append(Miss(kind, item, flaws))


def _lines(context: object) -> tuple[str, ...]:
    if isinstance(context, str):
        return (context,)
    return tuple(context) if isinstance(context, list) else ()


def interval(right: int, count: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share."""
    share, square = right / count, _DEVIATIONS**2
    middle = (share + square / (2 * count)) / (1 + square / count)
    half = _DEVIATIONS * sqrt(share * (1 - share) / count + square / (4 * count**2)) / (1 + square / count)
    return max(0.0, middle - half), min(1.0, middle + half)
