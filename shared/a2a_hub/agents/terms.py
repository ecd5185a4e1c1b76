"""Which terms stand in a question: English ones as whole words in any number, Japanese ones anywhere.

Questions and terms are brought into one form, `wording`, and compared in it.
"""

from __future__ import annotations

import re
import unicodedata

from a2a_hub.text.normalization import normalise

_JAPANESE = "\u3005\u3007\u3040-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u9fff"
_TOKEN = re.compile(rf"[{_JAPANESE}]+|[a-z0-9]+(?:[.,][0-9]+)*[+#]*|[^\W{_JAPANESE}]+")
_IS_JAPANESE = re.compile(rf"[{_JAPANESE}]")
_ACCENTED = re.compile("[\u00c0-\u024f]")
# One form for "what's" and "what", "Fuji's" and "Fuji".
_POSSESSIVE = re.compile(r"['\u2019](?:s\b|re\b)")
_APOSTROPHE = re.compile(r"['\u2019]")


def wording(text: str) -> str:
    """`text` as its words with a blank on each side: no punctuation, accents, case or plural.

    A run of Japanese is one word; blanks and points within it are gone.
    """
    text = _APOSTROPHE.sub("", _POSSESSIVE.sub("", normalise(text)))
    text = _ACCENTED.sub(_without_accent, text)
    words: list[str] = []
    joins = False
    for token in _TOKEN.findall(text):
        japanese = bool(_IS_JAPANESE.match(token))
        if japanese and joins:
            words[-1] += token
        else:
            words.append(token if japanese else _singular(token))
        joins = japanese
    return f" {' '.join(words)} "


def needle(term: str) -> str:
    """What to look for in a `wording`: "タクシー代" anywhere, " per diem " only as whole words."""
    words = wording(term)
    left = "" if _IS_JAPANESE.match(words[1:2]) else " "
    right = "" if _IS_JAPANESE.match(words[-2:-1]) else " "
    return f"{left}{words.strip()}{right}"


def _without_accent(match: re.Match[str]) -> str:
    return unicodedata.normalize("NFD", match[0])[0]


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
