"""Katakana and English words that sound alike: the same sequence of consonants, as loanwords keep it."""

import re
import unicodedata
from functools import lru_cache

LEAST_CONSONANTS = 3
_ENGLISH = tuple(
    (re.compile(pattern), sound)
    for pattern, sound in (
        (r"[ts]ion", "sn"),
        (r"tch|ch", "t"),
        (r"sh|sch", "s"),
        (r"ph|wh", "h"),
        (r"th", "s"),
        (r"ck|qu|q", "k"),
        (r"c(?=[eiy])", "s"),
        (r"c", "k"),
        (r"x", "ks"),
        (r"(?<=[aeiouy])r(?![aeiouy])", ""),
        (r"m(?=[pb])", "n"),
        (r"l", "r"),
        (r"v", "b"),
        (r"f", "h"),
        (r"j|dg(?=e)", "z"),
        (r"g(?=[ei])", "z"),
        (r"[aeiouwy]", ""),
    )
)
_REPEATED = re.compile(r"(.)\1+")


@lru_cache(maxsize=65536)
def english_sound(word: str) -> str:
    """The consonants of a lower-case English word as Japanese ears have them: `micrometer` → `mkrmt`."""
    for pattern, sound in _ENGLISH:
        word = pattern.sub(sound, word)
    return _REPEATED.sub(r"\1", word)


@lru_cache(maxsize=4096)
def katakana_sound(word: str) -> str:
    """The consonants of a katakana word: `マイクロメータ` → `mkrmt`."""
    sounds = []
    for character in word:
        name = unicodedata.name(character, "").rsplit(" ", 2)
        if len(name) == 3 and name[1] == "LETTER":
            sounds.append(re.sub(r"[AEIOUWY]", "", name[2]).lower())
    joined = "".join(sounds)
    return _REPEATED.sub(r"\1", re.sub(r"v", "b", joined))
