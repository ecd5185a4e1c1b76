"""Fonts of a PDF that do not tell which characters they show: what is read with them is no text."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pypdf import PageObject


def is_legible(page: "PageObject") -> bool:
    """Whether each font of the page that numbers its glyphs has a table of the characters they are."""
    return not any(_is_untold(font) for font in _fonts(page))


def _fonts(page: "PageObject") -> Iterator[Any]:
    resources = page.get("/Resources")
    fonts = resources.get_object().get("/Font") if resources is not None else None
    for font in (fonts.get_object() if fonts is not None else {}).values():
        yield font.get_object()


def _is_untold(font: Any) -> bool:
    numbered = font.get("/Subtype") == "/Type0" and font.get("/Encoding") in ("/Identity-H", "/Identity-V")
    return numbered and "/ToUnicode" not in font
