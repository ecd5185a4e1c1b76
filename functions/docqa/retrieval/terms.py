"""The terms by which passages are found: English stems, Japanese n-grams, and quantities in their normal form."""

import re
from functools import cache, lru_cache

from Stemmer import Stemmer

from a2a_hub.text.normalization import normalise
from a2a_hub.text.quantities import quantities
from a2a_hub.text.quantity_patterns import NUMBER_WORDS

_KANJI = "\u3400-\u4dbf\u4e00-\u9fff々〆ヶ"
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff"
_HIRAGANA = "\u3041-\u309f"
_TOKEN = re.compile(rf"[a-z0-9\u00c0-\u024f]+|[{_KANJI}]+|[{_KATAKANA}]+|[{_HIRAGANA}]+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")
# Lines without are not read for quantities, which takes longer than all else.
_FIGURE = re.compile(
    rf"\d|[〇一二三四五六七八九十百千万億兆半]|\b(?:{'|'.join(NUMBER_WORDS)}|half|twice|once)\b", re.IGNORECASE
)
_MIN_HIRAGANA = 2
_LONGEST_WHOLE = 4


def terms_of(text: str) -> list[str]:
    """Return the terms of a text in their order, those that occur again included."""
    found: list[str] = []
    for token in _TOKEN.findall(_THOUSANDS.sub("", normalise(text))):
        if token[0] < "\u3000":
            found.append(stem(token))
        elif token[0] >= "\u3400":
            found += token
            found += _bigrams(token)
        elif token[0] >= "\u30a0":
            word = token.rstrip("ー") or token
            found.append(word)
            if len(word) > _LONGEST_WHOLE:
                found += _bigrams(word)
        elif len(token) >= _MIN_HIRAGANA:
            found += _bigrams(token)
    for line in filter(_FIGURE.search, text.split("\n")):
        found += (quantity_term(quantity.term) for quantity in quantities(line))
    return found


def quantity_term(term: str) -> str:
    """Return a quantity's term as the index holds it, apart from the words of a text."""
    return "q" + re.sub(r"\W", "", term)


def _bigrams(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)]


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return the stem of an English word in lower case; numbers and codes stay as they are."""
    return str(_stemmer().stemWord(word)) if word.isalpha() else word


@cache
def _stemmer() -> Stemmer:
    return Stemmer("english")
