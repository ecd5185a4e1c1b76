"""HTML to blocks, by lexbor: the main content only, without navigation, banners, footers, share buttons and hidden text."""

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from functions.docqa.ingestion.blocks import Block, Content, Kind, joined, raised
from functions.docqa.ingestion.tables import Cell, grid_of, span_of, table_blocks

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

# fmt: off
_NEVER = frozenset({
    "script", "style", "noscript", "template", "nav", "svg", "iframe", "object", "button", "select", "input", "textarea",
    "dialog", "head", "rt", "rp", "menu", "canvas", "audio", "video", "map", "datalist", "del", "s", "strike",
})
_BREAKING = frozenset({
    "address", "article", "aside", "blockquote", "body", "caption", "dd", "details", "div", "dl", "dt", "fieldset",
    "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "legend", "li", "main", "ol",
    "p", "pre", "section", "summary", "table", "tbody", "td", "th", "thead", "tfoot", "tr", "ul",
})
_BESIDE = frozenset({
    "navigation", "search", "menu", "menubar", "toolbar", "banner", "contentinfo", "dialog", "alertdialog", "tablist",
})
# Words of a class or an id: the first name what never is content, the second what is none when it is mostly links.
_ALWAYS = frozenset({
    "cookie", "cookies", "consent", "gdpr", "breadcrumb", "breadcrumbs", "pagination", "pager", "headerlink", "hidden",
    "footer", "navbar", "sidebar", "sphinxsidebar", "toctree", "advert", "ads", "skip", "navigation", "toc",
})
_OFTEN = frozenset({
    "nav", "menu", "share", "sharing", "social", "sns", "related", "newsletter", "header", "banner", "links", "tags",
})
# fmt: on
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_UNSEEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|text-decoration[\w-]*\s*:\s*line-through", re.IGNORECASE
)
_COOKIES = re.compile(r"\bcookies?\b|クッキー", re.IGNORECASE)
_CONSENT = re.compile(r"\b(?:accept|agree|allow|got it|ok\b|dismiss)|同意|許可|了解|承諾|閉じる", re.IGNORECASE)
LINE = "data-line"
"""The attribute with the number of the source's line at which an element begins."""
_BOLD_HEADING, _LONGEST_HEADING = 7, 80
_LEAST_OF_MAIN, _LEAST_LINKS, _LINK_SHARE, _SHORT, _BRIEF, _LONGEST_BANNER = 200, 3, 0.6, 200, 60, 500


class _Totals(Struct):
    characters: int = 0
    linked: int = 0
    links: int = 0
    tables: int = 0


def read_html(markup: str) -> Content:
    """Return the blocks of a page's main content, and the page's title."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(markup)
    title = tree.head.css_first("title") if tree.head else None
    named = tree.head.css("meta[name]") if tree.head else []
    fields = {(node.attributes.get("name") or "").casefold(): node.attributes.get("content") or "" for node in named}
    kept: dict[str, str] = {name: fields[name] for name in ("version", "status", "effective", "date") if name in fields}
    name = " ".join(title.text().split()) if title else ""
    if tree.body is None:
        return Content(blocks=[], title=name, fields=kept)
    totals = _totals(tree.body)
    root = _main(tree.body, totals)
    return Content(blocks=_blocks(root, _Reading(totals, totals[root.mem_id].characters)), title=name, fields=kept)


def without_quotations(markup: str) -> tuple[str, str]:
    """Return the markup of a mail without what it quotes of earlier ones, and that."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(markup)
    quoted: list[str] = []
    while node := tree.css_first("blockquote[type=cite i], blockquote.gmail_quote"):
        quoted.append(node.html or "")
        node.decompose()
    return (tree.html or "", "".join(quoted)) if quoted else (markup, "")


def html_blocks(markup: str) -> list[Block]:
    """Return the blocks of HTML that is content as a whole; `LINE` numbers the lines of its source."""
    from selectolax.lexbor import LexborHTMLParser

    body = LexborHTMLParser(markup).body
    return _blocks(body, _Reading({}, 0, numbered=True)) if body else []


def _blocks(root: "LexborNode", reading: "_Reading") -> list[Block]:
    for entering, node in _walk(root, without=reading.is_beside):
        if entering:
            reading.enter(node)
        else:
            reading.leave(node)
    reading.flush()
    return reading.blocks


def _main(body: "LexborNode", totals: dict[int, _Totals]) -> "LexborNode":
    """Return the part of the page that says to be its main one, or its only article, if there is enough text in it."""
    long = [node for node in body.css("main, article, [role=main]") if totals[node.mem_id].characters >= _LEAST_OF_MAIN]
    mains = [node for node in long if node.tag == "main" or node.attributes.get("role") == "main"]
    return mains[0] if mains else long[0] if len(long) == 1 else body


def _walk(
    root: "LexborNode", *, without: "Callable[[LexborNode], bool] | None" = None
) -> "Iterator[tuple[bool, LexborNode]]":
    """Yield `root` and the nodes below it, each when it begins and, if it has children, when it ends."""
    node: LexborNode | None = root
    while node is not None:
        left_out = without is not None and node.mem_id != root.mem_id and without(node)
        if not left_out:
            yield True, node
            if node.child is not None:
                node = node.child
                continue
        while node is not None:
            if node.mem_id == root.mem_id:  # nodes compare by their markup
                return
            if node.next is not None:
                node = node.next
                break
            node = node.parent
            if node is not None:
                yield False, node


def _totals(body: "LexborNode") -> dict[int, _Totals]:
    """Return for each element how much text it holds, and how much of that in links."""
    totals: dict[int, _Totals] = {}
    stack: list[_Totals] = []
    linked = 0
    for entering, node in _walk(body):
        if node.tag == "-text":
            if stack:
                length = len((node.text_content or "").strip())
                stack[-1].characters += length
                stack[-1].linked += length if linked else 0
        elif entering:
            mine = totals[node.mem_id] = _Totals(links=int(node.tag == "a"), tables=int(node.tag == "table"))
            if node.child is not None:
                stack.append(mine)
                linked += node.tag == "a"
        else:
            mine = stack.pop()
            linked -= node.tag == "a"
            if stack:
                above = stack[-1]
                above.characters += mine.characters
                above.linked += mine.linked
                above.links += mine.links
                above.tables += mine.tables
    return totals


class _Reading:
    """The blocks so far, and what is open: a line, lists, tables."""

    def __init__(self, totals: dict[int, _Totals], characters: int, *, numbered: bool = False) -> None:
        self.blocks: list[Block] = []
        self._totals, self._characters, self._numbered = totals, characters, numbered
        self._table = self._number = self._inner = 0
        self._line: list[str] = []
        self._lists: list[int | None] = []
        self._marker = self._term = ""
        self._is_described = False
        self._heading = self._pre = 0
        self._rows: list[list[Cell]] | None = None
        self._cell: Cell | None = None

    def is_beside(self, node: "LexborNode") -> bool:
        """Return whether an element is no part of the main content."""
        tag = node.tag or ""
        if tag in _NEVER or tag == "-comment":
            return True
        if tag.startswith("-"):
            return False
        if tag == "a":
            # ¶ or # behind a heading, ↩ behind a note: no words, but a way to another place of the page.
            return (node.attributes.get("href") or "").startswith("#") and not any(map(str.isalnum, node.text()))
        given = node.attributes
        if "hidden" in given or given.get("aria-hidden") == "true" or _UNSEEN.search(given.get("style") or ""):
            return True
        if (given.get("role") or "") in _BESIDE:
            return True
        if not self._totals:
            return False
        mine = self._totals.get(node.mem_id) or _Totals()
        if mine.characters * 2 > self._characters or tag in ("table", "tr", "th", "tbody", "thead"):
            return False
        if tag == "td" and self._rows is not None:
            return False
        if tag == "footer" and mine.characters <= 2 * _SHORT:
            return True
        named = f"{given.get('class') or ''} {given.get('id') or ''}"
        words = {word.casefold() for word in _WORDS.findall(named)} if named != " " else set()
        if words & _ALWAYS and not mine.tables:
            return True
        if tag in ("div", "section", "aside", "form") and mine.characters <= _LONGEST_BANNER and _asks_consent(node):
            return True
        share = mine.linked / mine.characters if mine.characters else 0.0
        if words & _OFTEN and mine.links and (share > _LINK_SHARE / 2 or mine.characters < _BRIEF):
            return True
        return tag in _BREAKING and mine.links >= _LEAST_LINKS and share >= _LINK_SHARE

    def enter(self, node: "LexborNode") -> None:
        """Take note of an element or a text that begins."""
        tag = node.tag or ""
        if tag == "table" and self._rows is not None:
            self._inner += 1
        if tag in ("table", "tr", "td", "th") and self._inner:
            tag = "div"  # what is a table inside a cell is text of the cell
        if tag == "-text":
            above = node.parent
            is_raised = above is not None and (
                "sup" in (above.tag, above.parent.tag if above.parent else "") or _is_power(above)
            )
            text = node.text_content or ""
            self._text(raised(text.strip(), "".join(self._line[-2:])) if is_raised else text)
            return
        if tag == "br":
            self._line.append("\n")
        elif node.parent is not None and node.parent.tag == "mfrac" and _is_last(node):
            self._line.append("/")
        elif tag in ("td", "th") and self._rows:
            self.flush()
            given = node.attributes
            self._cell = Cell("", span_of(given.get("colspan")), span_of(given.get("rowspan")), heading=tag == "th")
            self._rows[-1].append(self._cell)
        elif tag == "tr" and self._rows is not None:
            self._rows.append([])
        elif self._cell is not None:
            self._text(" " if tag in _BREAKING else "")
        elif tag in _BREAKING:
            self.flush()
        if self._numbered and self._rows is None and (at := node.attributes.get(LINE)):
            self._number = int(at)
        if self._cell is not None or self._rows is not None:
            return
        if tag == "table" and not _is_layout(node):
            self._rows = []
        elif tag in ("ul", "ol"):
            start = node.attributes.get("start") or "1"
            self._lists.append(None if tag == "ul" else int(start) if start.isdecimal() and len(start) < 6 else 1)
        elif tag == "li":
            number = self._lists[-1] if self._lists else None
            self._marker = "- " if number is None else f"{number}. "
            if self._lists and number is not None:
                self._lists[-1] = number + 1
        elif tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            self._heading = int(tag[1])
        elif tag == "p" and not self._lists and _is_bold(node):
            self._heading = _BOLD_HEADING
        elif tag == "pre":
            self._pre += 1
        elif tag == "dd":
            self._is_described = True

    def leave(self, node: "LexborNode") -> None:
        """Take note of an element that ends."""
        tag = node.tag or ""
        if self._inner:
            self._text(" " if tag in _BREAKING else "")
            self._inner -= tag == "table"
            return
        if tag in ("td", "th") and self._cell is not None:
            self._cell.text = " ".join("".join(self._line).split())
            self._cell, self._line = None, []
        if tag == "table" and self._rows is not None:
            rows, self._rows, self._cell = self._rows, None, None
            self._add_table(rows)
        if self._rows is not None or tag not in _BREAKING:
            return
        if tag == "dt":
            terms = ("" if self._is_described else self._term, joined(["".join(self._line)]))
            self._term, self._line = " / ".join(filter(None, terms)), []
            self._is_described = False
        self.flush()
        if tag in ("ul", "ol") and self._lists:
            self._lists.pop()
        elif tag == "pre":
            self._pre -= 1
        elif tag == "dl":
            self._term, self._is_described = "", False

    def _text(self, text: str) -> None:
        if self._rows is None or self._cell is not None or text.strip():
            text = text.replace("\u00ad", "")  # where a word may be divided
            self._line.append(text if self._pre else re.sub(r"\s+", " ", text))

    def flush(self) -> None:
        """Add the line that is open as a block."""
        term = self._term if self._is_described else ""
        lines = "".join(self._line).split("\n")
        self._line = []
        first, self._number = self._number, self._number if self._rows is not None else 0
        for at, text in enumerate(" ".join(line.split()) for line in lines):
            number = first and first + at
            if not text:
                continue
            if self._heading:
                self.blocks.append(Block(Kind.HEADING, text.rstrip(":："), level=self._heading, line=number))
            elif term:
                asked = term.endswith(("?", "？"))
                said = text if asked else f"{term.rstrip(':：')}: {text}"
                self.blocks.append(Block(Kind.ITEM, said, marker="- ", context=(term,) if asked else ()))
            elif self._lists:
                # Without a marker it is another paragraph of an item, which its first one governs.
                level, marker = len(self._lists) - bool(self._marker), self._marker or "  "
                self.blocks.append(Block(Kind.ITEM, text, level=level, marker=marker, line=number))
                self._marker = ""
            else:
                self.blocks.append(Block(Kind.TEXT, text, line=number))
        self._heading = 0

    def _add_table(self, rows: list[list[Cell]]) -> None:
        self._table += 1
        headers = 0
        while headers < len(rows) and rows[headers] and all(cell.heading for cell in rows[headers]):
            headers += 1
        grid = grid_of(rows)
        self.blocks += table_blocks(grid, table=self._table, header_rows=headers or None, line=self._number)
        self._number = 0


def _is_power(node: "LexborNode") -> bool:
    return node.parent is not None and node.parent.tag == "msup" and _is_last(node)


def _is_last(node: "LexborNode") -> bool:
    """Return whether no element stands behind this one in its parent."""
    after = node.next
    while after is not None and (after.tag or "").startswith("-"):
        after = after.next
    return after is None


def _asks_consent(node: "LexborNode") -> bool:
    """Return whether it has a button, or links that are one; links in a text about cookies are none."""
    has_button = node.css_first("button, input") is not None
    said = node.text() if has_button else "\n".join(link.text() for link in node.css("a"))
    return bool(_CONSENT.search(said) and _COOKIES.search(node.text()))


def _is_layout(table: "LexborNode") -> bool:
    has_role = table.attributes.get("role") == "presentation"
    row = table.css_first("tr")
    has_names = row is not None and row.css_first("th") is not None
    return has_role or (len(table.css("table")) > 1 and not has_names) or table.css_first("h1, h2") is not None


def _is_bold(paragraph: "LexborNode") -> bool:
    """Return whether all of a paragraph is set in bold, and no sentence."""
    text, bold = paragraph.text().strip(), paragraph.child
    is_all = bold is not None and bold.tag in ("strong", "b") and bold.text().strip(" :：") == text.strip(" :：")
    return is_all and len(text) <= _LONGEST_HEADING and not text.endswith((".", "。"))
