"""Markdown to blocks, by markdown-it; its HTML is read by the reader for HTML."""

import re
from typing import TYPE_CHECKING

from functions.docqa.ingestion.blocks import Block, Content, Kind
from functions.docqa.ingestion.formats.html import html_blocks
from functions.docqa.ingestion.tables import table_blocks

if TYPE_CHECKING:
    from markdown_it.token import Token

_FRONT = re.compile(r"\A---[ \t]*\r?\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^([A-Za-z_ -]+?|[^\s:：]{2,8})[ \t]*[:：][ \t]*(.+?)[ \t]*$", re.MULTILINE)
# Directives of site generators: {% include x %}, {{< toc >}}, [TOC], :::, {: .class}.
_DIRECTIVE = re.compile(
    r"\{%[^%\n]*%\}|\{\{[^{}\n]*\}\}|\{:[^{}\n]*\}|\{#[\w-]+\}|^\[TOC\]$|^:{3,}.*$|^\[![A-Za-z]+\]|\[\^[^\]\s]+\]"
)
# A reference to nowhere, for CommonMark.
_FOOTNOTE = re.compile(r"^\[\^([^\]\s]+)\]:[ \t]+", re.MULTILINE)
_NAMED_NOTE = re.compile(r'^(?:!!!|\?\?\?\+?)[ \t]*[\w-]+[ \t]*"?([^"\n]*)"?', re.MULTILINE)
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)


def read_markdown(text: str) -> Content:
    """Return the blocks of a Markdown text, and the fields of its front matter."""
    from markdown_it import MarkdownIt

    front = _FRONT.match(text)
    fields = dict(_FIELD.findall(front[1])) if front else {}
    skipped = text[: front.end()].count("\n") if front else 0
    parser = MarkdownIt("commonmark", {"maxNesting": 20}).enable(["table", "strikethrough"])
    body = _FOOTNOTE.sub(r"※\1 ", _NAMED_NOTE.sub(r"\1", text[front.end() :] if front else text))
    tokens = parser.parse(body)
    reading = _Reading(skipped)
    for at, token in enumerate(tokens):
        reading.take(token, tokens, at)
    return Content(blocks=reading.blocks, fields={name: value.strip("\"'") for name, value in fields.items()})


class _Reading:
    """The blocks read so far, and what is open."""

    def __init__(self, skipped: int) -> None:
        self.blocks: list[Block] = []
        self._skipped = skipped
        self._lists: list[int | None] = []
        self._marker = ""
        self._grid: list[list[str]] = []
        self._tables = self._start = self._head = 0

    def take(self, token: "Token", tokens: "list[Token]", at: int) -> None:
        """Add what the token at `at` brings to an end."""
        line = self._skipped + token.map[0] + 1 if token.map else 0
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                self._lists.append(int(token.attrGet("start") or 1) if token.type[0] == "o" else None)
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
            case "list_item_open":
                number = self._lists[-1]
                self._marker = "- " if number is None else f"{number}. "
                self._lists[-1] = None if number is None else number + 1
            case "table_open":
                self._grid, self._start, self._tables = [], line, self._tables + 1
            case "tr_open":
                self._grid.append([])
            case "table_close":
                self.blocks += table_blocks(self._grid, table=self._tables, header_rows=1, line=self._start)
            case "inline":
                self._inline(token, tokens[at - 1], line)
            case "fence" | "code_block":
                for number, text in enumerate(token.content.split("\n"), start=1):
                    self._add(Kind.TEXT, text.strip(), line + number if line else 0)
            case "html_block":
                self.blocks += html_blocks(token.content, first_table=self._tables)
                self._tables = max((block.table for block in self.blocks), default=self._tables)
            case _:
                pass

    def _inline(self, token: "Token", opened: "Token", line: int) -> None:
        text = _DIRECTIVE.sub("", _plain(token)).strip()
        if opened.type in ("td_open", "th_open"):
            self._grid[-1].append(text)
        elif opened.type == "heading_open":
            self._add(Kind.HEADING, text, line, level=int(opened.tag[1]))
        elif self._marker:
            self._add(Kind.ITEM, text, line, level=len(self._lists) - 1, marker=self._marker)
            self._marker = ""
        elif self._lists and self.blocks and self.blocks[-1].kind is Kind.ITEM:
            # The second paragraph of an item, governed by its first.
            level, context = len(self._lists), (self.blocks[-1].text[:300],)
            self.blocks.append(Block(Kind.ITEM, text, level=level, marker=" ", line=line, context=context))
        elif _is_bold(token) and len(text) <= 80 and not text.endswith((".", "。")):
            self._add(Kind.HEADING, text.rstrip(":："), line, level=7)
        else:
            for number, part in enumerate(text.split("\n")):
                self._add(Kind.TEXT, part.strip(), line + number if line else 0)

    def _add(self, kind: Kind, text: str, line: int, *, level: int = 0, marker: str = "") -> None:
        self.blocks.append(Block(kind, " ".join(text.split()), level=level, marker=marker, line=line))


def _is_bold(token: "Token") -> bool:
    """Return whether all of a paragraph is set in bold."""
    kinds = [child.type for child in token.children or () if child.type != "text" or child.content.strip(" :：")]
    return kinds[:1] == ["strong_open"] and kinds[-1:] == ["strong_close"] and kinds.count("strong_open") == 1


def _plain(token: "Token") -> str:
    """Return what is shown of a paragraph; hard line breaks stay."""
    out: list[str] = []
    for child in token.children or ():
        if child.type in ("text", "code_inline"):
            out.append(child.content)
        elif child.type == "softbreak":
            wide = bool(out) and out[-1][-1:] > "\u2e7f"
            out.append("" if wide else " ")
        elif child.type == "hardbreak" or (child.type == "html_inline" and _BREAK.match(child.content)):
            out.append("\n")
    return "".join(out)
