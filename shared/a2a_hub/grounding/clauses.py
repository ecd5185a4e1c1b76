"""The clauses of a text, and which clause of a quote a sentence rests on."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeVar

from a2a_hub.grounding.cues import Cue, Found, cues_of
from a2a_hub.text.normalization import normalise
from a2a_hub.text.quantities import blanked, quantities

_KANJI, _KATAKANA = "\u3400-\u4dbf\u4e00-\u9fff々〆ヶ", "\u30a1-\u30fa\u30fc-\u30ff"
_TOKEN = re.compile(rf"[a-z\u00c0-\u024f]+(?:['’][a-z]+)?|[{_KANJI}]+|[{_KATAKANA}]+")
_END = re.compile(
    r"(?<=[.!?;])\s+(?!\d)|(?<=[。！？；\n])|\s*[;；]\s*|,?\s(?=(?:but|however|although|though|whereas|while)\b)"
    r"|(?<=が、)|(?<=ものの、)|(?<=一方、)|(?<=[しれ]、)(?<!ただし、)(?<!但し、)(?<!もし、)|(?<=[でて]あり、)|(?<=ており、)|(?<=に伴い、)|(?<=[たる]ため、)|(?<=ので、)|(?<=でき、)"
    r"|,\sand\s(?=(?:[\w'-]+\s){1,4}(?:must|may|can|cannot|should|shall)\b)"
    r"|,\s(?=not\s(?!only|just|merely|necessarily))"
    r"|,?\sand\s(?=(?:there|it|they|you|we|this|these|those)\b)"
    r"|,?\s(?:and|or)\s(?=(?:do\snot|does|must|may|can|cannot|should|shall|will|is|are|has|have|need)\b)"
)
_SUFFIX = re.compile(r"(?:'s|ations?|ions?|ments?|ances?|als?|ings?|ies|ied|ers?|ors?|ly|ed|es|e|s|y)$")
_STOP = frozenset(
    re.findall(
        r"\S+",
        "a an the is are was were be been being has have had do does did of to for in on at that this these those it its "
        "they their them he she you your we our us i as so also please there here which who then and or not no must shall "
        "may can should need needs needed required if when with by from within than more less up yes any all each every "
        "longer will would could only up per under over before after least most needn don isn aren doesn won cannot allowed "
        "permitted recommended optional 可能 必要 禁止 不可 不要 義務 任意 推奨 許可 必須 場合",
    )
)
_MIN_STEM = 3
_SCOPE = 3
_NEARLY = 0.85
_WORD = re.compile(r"[A-Za-z]{2,}")
_KANA = re.compile(r"[\u3041-\u309f]")


@dataclass(frozen=True, slots=True)
class Statement:
    """The part of a text that one word of force governs, or a clause without any; `terms` are weighed words and figures."""

    text: str
    terms: Mapping[str, float]
    cue: Cue | None = None
    scope: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause with its statements: in English a word of force governs what follows, in Japanese what precedes."""

    text: str
    terms: Mapping[str, float]
    statements: tuple[Statement, ...]


_Part = TypeVar("_Part", Clause, Statement)


def clauses_of(text: str) -> list[Clause]:
    """Return the clauses of a text."""
    pieces = filter(None, (each.strip() for each in _END.split(text)))
    return [Clause(piece, terms_of(piece), tuple(_statements(piece))) for piece in pieces]


def clause_at(text: str, place: int) -> str:
    """Return the clause of a text at this position."""
    ends = _ends(text)
    return text[ends[at - 1] : ends[at]] if (at := bisect_right(ends, place)) < len(ends) else text


# Cached, since each figure of a text needs its clause.
@lru_cache(maxsize=64)
def _ends(text: str) -> list[int]:
    return [0, *(match.end() for match in _END.finditer(text)), len(text)]


def _statements(text: str) -> Iterator[Statement]:
    cues = cues_of(text)
    if not cues:
        yield Statement(text, terms_of(text))
        return
    if is_japanese(text):
        bounds = [0, *(each.end for each in cues)]
        if "、" not in text[bounds[-1] : bounds[-1] + 2]:
            bounds[-1] = len(text)
        elif rest := text[bounds[-1] + 2 :]:
            yield Statement(rest, terms_of(rest))
    else:
        bounds = [0, *(each.start for each in cues[1:]), len(text)]
    for cue, start, end in zip(cues, bounds, bounds[1:], strict=False):
        part = terms_of(text[start:end])
        yield Statement(text[start:end], part, cue.cue, _scope(text, cue, start, end))


def _scope(text: str, cue: Found, start: int, end: int) -> Mapping[str, float]:
    """Return the terms next to a word of force."""
    if is_japanese(text):
        return dict.fromkeys(_words(text[max(start, cue.start - 12) : cue.end]), 1.0)
    after, before = _words(text[cue.end : end]), _words(text[start : cue.start])
    return dict.fromkeys(after[:_SCOPE] or before[-_SCOPE:], 1.0)


def _words(text: str) -> list[str]:
    return [term for term in terms_of(text) if term[0] != "#"]


def is_japanese(text: str) -> bool:
    """Return True for a text with more kana than Latin words: an English one may have a Japanese name."""
    return len(_KANA.findall(text)) > len(_WORD.findall(text))


@lru_cache(maxsize=4_096)
def terms_of(text: str) -> Mapping[str, float]:
    """Return stems, pairs of kanji, katakana words and the figures of a text; each word weighs 1, each figure 2."""
    found = dict.fromkeys((f"#{each.value}" for each in quantities(text)), 2.0)
    for token in _TOKEN.findall(normalise(blanked(text))):
        if token in _STOP:
            continue
        if token[0] >= "\u3400":
            pairs = [token[at : at + 2] for at in range(max(1, len(token) - 1))]
            found |= dict.fromkeys(pairs, 1 / 2)
        elif token[0] >= "\u30a0":
            found[token.rstrip("ー") or token] = 1.0
        elif len(token) > 1:
            found[stem(token)] = 1.0
    return found


def stem(word: str) -> str:
    """Return an English word without its ending."""
    short = re.sub(r"y$|([^aeiouls])\1$", r"\1", _SUFFIX.sub("", word))
    return short if len(short) >= _MIN_STEM else re.sub(r"(?<=e)[ds]$|(?<![s])s$", "", word)


def rests_on(said: Mapping[str, float], given: Sequence[_Part]) -> list[_Part]:
    """Return the parts that the terms speak of: the best, and those that are nearly as good; none if nothing is in common."""
    spread = Counter(term for each in given for term in each.terms)
    scored = [(_likeness(said, each.terms, spread), each) for each in given]
    best = max((score for score, _ in scored), default=0.0)
    return [each for score, each in scored if score >= best * _NEARLY] if best else []


def _likeness(said: Mapping[str, float], given: Mapping[str, float], spread: Mapping[str, int]) -> float:
    """Return how much of the terms a part has; what few parts have counts more, and a long part a little less."""
    common = sum(min(said[term], given[term]) / spread[term] for term in said.keys() & given.keys())
    return common / sum(given.values()) ** 0.25 if common else 0.0
