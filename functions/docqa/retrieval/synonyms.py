"""Groups of words that mean the same, in both languages: terms/*.txt, a group a line, words between commas."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from functions.docqa.retrieval.terms import terms_of

_SECTIONS = frozenset({"synonyms", "parties"})


@cache
def synonyms() -> dict[str, tuple[tuple[str, ...], ...]]:
    """Return for each word, as it is looked up, the terms of all words of its groups."""
    found: dict[str, dict[tuple[str, ...], None]] = {}
    for words in _groups(Path(__file__).with_name("terms")):
        spelled = [(word.startswith("~"), word.removeprefix("~")) for word in words]
        alternatives = dict.fromkeys(tuple(terms_of(word)) for _, word in spelled)
        for said_only, word in spelled:
            if not said_only:
                found.setdefault(key_of(word), {}).update(alternatives)
    return {key: tuple(filter(None, alternatives)) for key, alternatives in found.items()}


def key_of(word: str) -> str:
    """Return how a word or phrase is looked up: its stems between blanks, or Japanese as it is written."""
    return f" {' '.join(terms_of(word))} " if word.isascii() else word.strip()


def _groups(folder: Path) -> Iterator[list[str]]:
    for path in sorted(folder.glob("*.txt")):
        section = ""
        for line in path.read_text("utf-8").splitlines():
            if line.startswith("["):
                section = line.strip("[] ")
            elif line and line[0] != "#" and section in _SECTIONS:
                yield [word for word in map(str.strip, line.split(",")) if word]
