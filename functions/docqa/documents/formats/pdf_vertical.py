"""Pages that are written from top to bottom and from right to left, whose characters are set one by one."""

from collections.abc import Sequence
from itertools import pairwise

from functions.docqa.documents.formats.pdf_ruled import Piece

_LEAST, _MOST_SHARE, _NEXT = 20, 0.8, 3.0
_IDEOGRAPHIC_SPACE = "\u3000"


def is_vertical(pieces: Sequence[Piece]) -> bool:
    """Whether most of the pieces are one character that is no Latin one, with the next right below it."""
    shown = [piece for piece in pieces if piece.y is not None]
    single = sum(len(piece.text.strip()) == 1 and not piece.text.strip().isascii() for piece in shown)
    if len(shown) < _LEAST or single < _MOST_SHARE * len(shown):
        return False
    return sum(_is_below(before, after) for before, after in pairwise(shown)) >= _MOST_SHARE * len(shown)


def in_lines(pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces of such a page as if its lines ran from left to right, one below the other."""
    lines: list[Piece] = []
    above: Piece | None = None
    for piece in pieces:
        text = "".join(piece.text.split()) or _IDEOGRAPHIC_SPACE * (_IDEOGRAPHIC_SPACE in piece.text)
        if piece.y is None:
            lines.append(Piece(text))
            continue
        # A dash or a number is turned, and stands higher or beside the line, but not both.
        if above is not None and piece.y >= (above.y or 0.0) and abs(above.x - piece.x) >= piece.size:
            text = f"\n{text}"
        lines.append(Piece(text, -piece.y, piece.x, piece.size, piece.bold))
        above = piece
    return lines


def _is_below(before: Piece, after: Piece) -> bool:
    down = (before.y or 0.0) - (after.y or 0.0)
    return abs(before.x - after.x) < before.size / 2 and 0 < down < _NEXT * before.size
