"""Slips of the keyboard in a question: a word that nobody knows becomes the known word one slip away."""

import re
from collections.abc import Callable, Collection, Iterable

from functions.docqa.vocabulary.words import stem

_WORD = re.compile(r"(?<![\w.@/-])[a-z]{5,}(?![\w@/-])")
_SURE_LENGTH = 6


def corrected(
    normal: str,
    is_known: Callable[[str], bool],
    alike: Callable[[str], Iterable[str]],
    preferred: Collection[str] = (),
) -> str:
    """`normal` with each unknown word replaced when exactly one word of `alike` is a single slip away.

    Of several, the only one that is `preferred` is meant.

    Words of five letters are corrected only where two letters changed places or one is doubled or left out.
    """

    def mended(match: re.Match[str]) -> str:
        word = match.group()
        if is_known(word):
            return word
        near = {other for other in alike(word) if one_slip(word, other)}
        if len({stem(other) for other in near}) > 1:
            near = {other for other in near if other in preferred} or near
        return min(near) if len({stem(other) for other in near}) == 1 else word

    return _WORD.sub(mended, normal)


def one_slip(written: str, meant: str) -> bool:
    """Whether one letter was left out, added, replaced or changed places with its neighbour; never the first."""
    if written == meant or written[0] != meant[0] or abs(len(written) - len(meant)) > 1:
        return False
    at = next(
        (number for number, (first, second) in enumerate(zip(written, meant, strict=False)) if first != second),
        min(len(written), len(meant)),
    )
    if len(written) == len(meant):
        swapped = written[at : at + 2] == meant[at : at + 2][::-1]
        if swapped and written[at + 2 :] == meant[at + 2 :]:
            return True
        return len(written) >= _SURE_LENGTH and written[at + 1 :] == meant[at + 1 :]
    longer, shorter = (written, meant) if len(written) > len(meant) else (meant, written)
    # A final letter more or less is rather another form of the word than a slip.
    return at < len(shorter) and longer[at + 1 :] == shorter[at:]


def by_first_letter(words: Collection[str]) -> dict[str, list[str]]:
    """`words` for a quick look-up: those that start with a letter."""
    found: dict[str, list[str]] = {}
    for word in words:
        found.setdefault(word[0], []).append(word)
    return found
