"""What stands in a file of the sample corpus, read without the code that quotes from it."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pypdf

CORPUS = Path(__file__).resolve().parents[2] / "functions" / "docqa" / "corpus"


def assert_stands_in_its_source(citation: dict[str, Any]) -> None:
    """Returns when the citation's quote stands in the file that it names, on the page that it names."""
    scheme, _, path = citation["uri"].partition(":")
    assert scheme == "corpus"
    file = (CORPUS / unquote(path)).resolve()
    assert file.is_relative_to(CORPUS)
    quote, position = citation["quote"], citation["position"]
    assert quote.strip()
    match file.suffix:
        case ".md" | ".txt":
            assert _plain(quote) in _plain(file.read_text(encoding="utf-8"))
        case ".html":
            assert _plain(quote) in _plain(_html_text(file))
        case ".pdf":
            assert _plain(quote) in _plain(pypdf.PdfReader(file).pages[position["page"] - 1].extract_text())
        case _:
            raise AssertionError(f"no way to read {file.name}")


def _plain(text: str) -> str:
    return re.sub(r"[\s|]+", "", text)


def _html_text(file: Path) -> str:
    pieces: list[str] = []
    parser = HTMLParser()
    parser.handle_data = pieces.append  # type: ignore[method-assign, assignment]
    parser.feed(file.read_text(encoding="utf-8"))
    return "".join(pieces)
