"""The words of a question in the other language, from JMdict, the Japanese-English dictionary of the EDRDG.

`jamdict-data` holds it as a SQLite file, in which words and meanings are looked up: nothing of it is read at start. Without
that package, there are no translations.
"""

import logging
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

_LONGEST_WORD, _LONGEST_RUN = 10, 60
_MAX_WORDS_OF_PHRASE = 3
_MAX_TRANSLATIONS, _MAX_MEANINGS = 40, 8
_JAPANESE_RUN = re.compile(r"[\u3041-\u30ff\u3400-\u9fff々]+")
_NAMES_SOMETHING = re.compile(r"[\u3400-\u9fff々\u30a1-\u30ff]")
_ENGLISH_WORD = re.compile(r"[a-z]+")
# Verbs and adjectives stand in the dictionary with these: 払い戻して and 払い戻せる are forms of 払い戻す.
_LAST_KANA = "うくぐすつぬぶむるい"
_INFLECTED = re.compile(rf"(?<=[\u3400-\u9fff々\u3041-\u3096])[{_LAST_KANA}]$")
_REMARK = re.compile(r"\([^)]*\)")
_OPENING = re.compile(r"^(?:to be |to |a |an |the )")
_PLURAL = ((r"ies$", "y"), (r"(?<=[sxzh])es$", ""), (r"s$", ""))
_PARTICIPLE = ((r"(.)\1(?:ed|ing)$", r"\1"), (r"(?:ed|ing)$", ""), (r"(?:ed|ing)$", "e"))

# Entries in common use come first; of each, its first sense.
_MEANINGS_OF_WORD = """
    SELECT gloss.text FROM (
        SELECT idseq, EXISTS (SELECT 1 FROM KJP WHERE kid = Kanji.ID) AS is_common FROM Kanji WHERE text IN ({marks})
        UNION SELECT idseq, EXISTS (SELECT 1 FROM KNP WHERE kid = Kana.ID) FROM Kana WHERE text IN ({marks})
    ) AS entry JOIN Sense AS sense USING (idseq) JOIN SenseGloss AS gloss ON gloss.sid = sense.ID
    ORDER BY is_common DESC,
        (SELECT count(*) FROM Sense AS other WHERE other.idseq = sense.idseq AND other.ID < sense.ID), gloss.rowid
    LIMIT 40
"""
_WORDS_OF_MEANING = """
    SELECT coalesce((SELECT text FROM Kanji WHERE idseq = sense.idseq ORDER BY ID LIMIT 1),
                    (SELECT text FROM Kana WHERE idseq = sense.idseq ORDER BY ID LIMIT 1))
    FROM SenseGloss AS gloss JOIN Sense AS sense ON sense.ID = gloss.sid WHERE gloss.text IN ({marks})
    ORDER BY EXISTS (SELECT 1 FROM Kanji JOIN KJP ON kid = Kanji.ID WHERE Kanji.idseq = sense.idseq)
          OR EXISTS (SELECT 1 FROM Kana JOIN KNP ON kid = Kana.ID WHERE Kana.idseq = sense.idseq) DESC,
        (SELECT count(*) FROM Sense AS other WHERE other.idseq = sense.idseq AND other.ID < sense.ID), gloss.rowid
    LIMIT 40
"""
_log = logging.getLogger(__name__)


class Translation(NamedTuple):
    """A word or phrase of a text, and what it is in the other language, the usual first."""

    word: str
    meanings: tuple[str, ...]


def translations(text: str) -> list[Translation]:
    """Return the translations of the longest words that the dictionary has of a text, which is in lower case; at most 40."""
    if (path := _file()) is None:
        return []
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as dictionary:
            found = chain(_of_japanese(dictionary, text), _of_english(dictionary, text))
            return list(dict.fromkeys(islice(filter(_has_meanings, found), _MAX_TRANSLATIONS)))
    except sqlite3.Error as error:
        _log.warning(
            "the dictionary cannot be read, so documents in the other language are found by fewer words: %s", error
        )
        return []


def _has_meanings(translation: Translation) -> bool:
    return bool(translation.meanings)


@cache
def _file() -> Path | None:
    try:
        from jamdict_data import JAMDICT_DB_PATH
    except ImportError:
        return None
    return Path(JAMDICT_DB_PATH)


def _of_japanese(dictionary: sqlite3.Connection, text: str) -> Iterator[Translation]:
    for run in _JAPANESE_RUN.findall(text):
        for word, forms in _words_of_run(dictionary, run[:_LONGEST_RUN]):
            rows = dictionary.execute(_MEANINGS_OF_WORD.format(marks=_marks(forms)), (*forms, *forms))
            glosses = [_OPENING.sub("", " ".join(_REMARK.sub(" ", gloss).lower().split())) for (gloss,) in rows]
            short = dict.fromkeys(gloss for gloss in glosses if 0 < len(gloss.split()) <= _MAX_WORDS_OF_PHRASE)
            yield Translation(word, tuple(short)[:_MAX_MEANINGS])


def _words_of_run(dictionary: sqlite3.Connection, run: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the longest words from left to right, each with how the dictionary writes it."""
    pieces = {run[at : at + length] for at in range(len(run)) for length in range(1, _LONGEST_WORD + 1)}
    forms = {piece: [piece, *map(piece.__add__, _LAST_KANA)] for piece in pieces if _NAMES_SOMETHING.search(piece)}
    candidates = tuple({form for each in forms.values() for form in each})
    known: set[str] = set()
    for table in ("Kanji", "Kana"):
        query = f"SELECT text FROM {table} WHERE text IN ({_marks(candidates)})"
        known.update(word for (word,) in dictionary.execute(query, candidates))
    at = 0
    while at < len(run):
        for length in range(min(_LONGEST_WORD, len(run) - at), 0, -1):
            if found := [form for form in forms.get(run[at : at + length], ()) if form in known]:
                yield run[at : at + length], found
                break
        at += length


def _of_english(dictionary: sqlite3.Connection, text: str) -> Iterator[Translation]:
    words = _ENGLISH_WORD.findall(text)
    at = 0
    while at < len(words):
        for length in range(min(_MAX_WORDS_OF_PHRASE, len(words) - at), 0, -1):
            forms = tuple(_base_forms(words[at : at + length]))
            rows = dictionary.execute(_WORDS_OF_MEANING.format(marks=_marks(forms)), forms)
            stems = dict.fromkeys(_INFLECTED.sub("", word) for (word,) in rows)
            if meanings := tuple(stem for stem in stems if len(stem) > 1)[:_MAX_MEANINGS]:
                yield Translation(" ".join(words[at : at + length]), meanings)
                break
        at += length


def _base_forms(words: Sequence[str]) -> Iterator[str]:
    """Yield how the dictionary may have a word or phrase, as a noun and as a verb."""
    *before, last = words
    for base in {last, *(re.sub(ending, put, last) for ending, put in (*_PLURAL, *_PARTICIPLE))}:
        phrase = " ".join((*before, base))
        yield phrase
        yield f"to {phrase}"


def _marks(values: Iterable[str]) -> str:
    return ",".join("?" for _ in values)
