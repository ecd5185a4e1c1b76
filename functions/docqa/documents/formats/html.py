"""HTML to canonical text: its visible text, with headings, list items and table rows marked as in Markdown."""

import re
from html.parser import HTMLParser

from msgspec import Struct

_HIDDEN = {"script", "style", "noscript", "template", "nav", "svg", "rt", "rp"}
_RUBY = {"rt", "rp"}
# What generators of documentation put beside a page's text.
_BESIDE_ROLES = {"navigation", "search", "menu", "menubar", "toolbar"}
_BESIDE_CLASSES = {
    "headerlink",
    "related",
    "sphinxsidebar",
    "navheader",
    "navfooter",
    "breadcrumb",
    "breadcrumbs",
    "toc",
    "toctree-wrapper",
}
_BREAKING = {
    "p",
    "div",
    "section",
    "article",
    "main",
    "header",
    "footer",
    "ul",
    "ol",
    "dl",
    "dt",
    "dd",
    "table",
    "blockquote",
    "pre",
    "address",
    "figure",
    "figcaption",
    "aside",
    "body",
    "form",
    "caption",
    "details",
    "summary",
    "hr",
}
_VOID = {"br", "hr", "img", "meta", "link", "input", "col", "area", "base", "embed", "source", "wbr"}
_SPACE = re.compile(r"\s+")
_MAX_SPAN = 200
_LEAST_OF_MAIN = 200  # characters; a shorter <main> holds something else than what the page is about
_LONGEST_TERM = 60


class _Cell(Struct):
    heading: bool
    rows: int
    columns: int
    text: str = ""


class _Extractor(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = []
        self.title = ""
        self._line = ""
        self._prefix = ""
        self._stack: list[str] = []
        self._beside: int | None = None
        self.main: list[str] = []
        self._main_at: tuple[int, int] | None = None  # its first line, and how many elements are open in it
        self._lists: list[int | None] = []
        self._rows: list[list[_Cell]] | None = None
        self._cell: _Cell | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag not in _VOID:
            if tag in _RUBY and self._stack and self._stack[-1] in _RUBY:
                self._pop(self._stack[-1])
            self._stack.append(tag)
            if self._beside is None and _is_beside(given):
                self._beside = len(self._stack)
        if (tag == "main" or given.get("role") == "main") and self._main_at is None:
            self._break(blank=True)
            self._main_at = len(self.lines), len(self._stack)
        if self._cell is not None and (tag == "li" or tag in _BREAKING):
            self._text(" ")
        match tag:
            case "br":
                self._text("\n" if self._cell is None else " ")
            case "h1" | "h2" | "h3" | "h4" | "h5" | "h6":
                self._break(blank=True)
                self._prefix = "#" * int(tag[1]) + " "
            case "ul" | "ol":
                self._break(blank=not self._lists)
                self._lists.append(0 if tag == "ol" else None)
            case "li":
                self._break()
                self._prefix = self._marker()
            case "table":
                self._break(blank=True)
                self._rows = []
            case "tr" if self._rows is not None:
                self._rows.append([])
            case "td" | "th" if self._rows:
                self._cell = _Cell(tag == "th", _span(given.get("rowspan")), _span(given.get("colspan")))
                self._rows[-1].append(self._cell)
            case "dd" | "p" if self._cell is None and self._line.endswith(": "):
                pass  # a term and what is said of it are one line
            case _ if tag in _BREAKING and self._cell is None:
                self._break(blank=not self._lists)

    def handle_endtag(self, tag: str) -> None:
        self._pop(tag)
        match tag:
            case "td" | "th":
                self._cell = None
            case "table" if self._rows is not None:
                rows, self._rows, self._cell = self._rows, None, None
                self.lines.extend(_table_lines(rows))
                self.lines.append("")
            case "ul" | "ol":
                self._break()
                if self._lists:
                    self._lists.pop()
                if not self._lists:
                    self._break(blank=True)
            case "li":
                self._break()
            case "h1" | "h2" | "h3" | "h4" | "h5" | "h6":
                self._break(blank=True)
            case "dt" if self._cell is None and self._is_term():
                self._line = f"{self._line.strip()}: "
            case _ if tag in _BREAKING and self._cell is None:
                self._break(blank=not self._lists)
        if self._main_at and len(self._stack) < self._main_at[1]:
            self._end_main()

    def _end_main(self) -> None:
        """What the page is about ends here: the rest of it is not looked at for another such part."""
        if self._main_at and not self.main:
            self._break(blank=True)
            self.main = self.lines[self._main_at[0] :]

    def _pop(self, tag: str) -> None:
        """Closes the innermost `tag`, and what is open in it."""
        if tag in self._stack:
            while self._stack and self._stack.pop() != tag:
                pass
        if self._beside is not None and len(self._stack) < self._beside:
            self._beside = None

    def handle_data(self, data: str) -> None:
        if "title" in self._stack and "svg" not in self._stack:
            self.title += data
        elif self._beside is None and not _HIDDEN.intersection(self._stack) and "head" not in self._stack:
            self._text(_SPACE.sub(" ", data))

    def close(self) -> None:
        super().close()
        if self._rows is not None:
            self.handle_endtag("table")
        self._break()
        self._end_main()

    def _text(self, data: str) -> None:
        if self._cell is not None:
            self._cell.text += data
        elif self._rows is None or data.strip():
            self._line += data

    def _is_term(self) -> bool:
        term = self._line.strip()
        return 0 < len(term) <= _LONGEST_TERM and not term.endswith(("?", "？", ".", "。", ":", "："))

    def _marker(self) -> str:
        indent = "  " * max(0, len(self._lists) - 1)
        if self._lists and (count := self._lists[-1]) is not None:
            self._lists[-1] = count + 1
            return f"{indent}{count + 1}. "
        return f"{indent}- "

    def _break(self, *, blank: bool = False) -> None:
        text = "\n".join(part.strip() for part in self._line.split("\n")).strip()
        self._line = ""
        if text:
            self.lines.append(self._prefix + text)
            self._prefix = ""
        if blank and self.lines and self.lines[-1]:
            self.lines.append("")


def html_text(markup: str) -> tuple[str, str]:
    """(canonical text, content of `<title>`). Cells that span rows or columns are repeated in each.

    A page that says what its main part is has no other.
    """
    extractor = _Extractor()
    extractor.feed(markup)
    extractor.close()
    main, text = ("\n".join(lines).strip() for lines in (extractor.main, extractor.lines))
    text = main if len(main) >= _LEAST_OF_MAIN else text
    return (text + "\n" if text else ""), _SPACE.sub(" ", extractor.title).strip()


def _is_beside(given: dict[str, str | None]) -> bool:
    """Whether an element of these attributes is no part of the text."""
    classes = (given.get("class") or "").split()
    return (
        given.get("role") in _BESIDE_ROLES
        or "hidden" in given
        or given.get("aria-hidden") == "true"
        or not _BESIDE_CLASSES.isdisjoint(classes)
    )


def _table_lines(rows: list[list[_Cell]]) -> list[str]:
    grid: list[list[str]] = []
    hanging: dict[int, tuple[int, str]] = {}
    for row in rows:
        line: list[str] = []
        cells = iter(row)
        cell = next(cells, None)
        while cell is not None or len(line) in hanging:
            if len(line) in hanging:
                left, text = hanging.pop(len(line))
                if left > 1:
                    hanging[len(line)] = (left - 1, text)
                line.append(text)
                continue
            assert cell is not None
            text = _SPACE.sub(" ", cell.text).strip().replace("|", "/")
            for _ in range(cell.columns):
                if cell.rows > 1:
                    hanging[len(line)] = (cell.rows - 1, text)
                line.append(text)
            cell = next(cells, None)
        grid.append(line)
    lines = [f"| {' | '.join(line)} |" for line in grid if any(line)]
    if rows and rows[0] and all(cell.heading for cell in rows[0]) and len(lines) > 1:
        lines.insert(1, "|" + "---|" * len(grid[0]))
    return lines


def _span(value: str | None) -> int:
    return min(int(value), _MAX_SPAN) if value and value.isdecimal() and int(value) > 0 else 1
