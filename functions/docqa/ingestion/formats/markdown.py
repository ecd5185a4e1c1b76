"""Markdown to blocks: markdown-it makes HTML of it, which the reader for HTML reads."""

import re
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

from functions.docqa.ingestion.blocks import Content
from functions.docqa.ingestion.formats.html import LINE, html_blocks

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_FRONT = re.compile(
    r"\A(?:---[ \t]*\r?\n(.*?)\n(?:---|\.\.\.)|\+\+\+[ \t]*\r?\n(.*?)\n\+\+\+)[ \t]*(?:\r?\n|\Z)", re.DOTALL
)
_FIELD = re.compile(r"^([A-Za-z_ -]+?|[^\s:：]{2,8})[ \t]*[:：=][ \t]*(.+?)[ \t]*$", re.MULTILINE)
# Directives of site generators: {% include x %}, {{< toc >}}, [TOC], :::, {: .class}.
_DIRECTIVE = re.compile(
    r"\{%[^%\n]*%\}|\{\{[^{}\n]*\}\}|\{:[^{}\n]*\}|\{#[\w-]+\}|^\[TOC\]$|^:{3,}.*$|(?<=> )\[![A-Za-z]+\]|\[\^[^\]\s]+\]",
    re.MULTILINE,
)
# A reference to nowhere, for CommonMark.
_FOOTNOTE = re.compile(r"^\[\^([^\]\s]+)\]:[ \t]+", re.MULTILINE)
_NAMED_NOTE = re.compile(r'^(?:!!!|\?\?\?\+?)[ \t]*[\w-]+[ \t]*"?([^"\n]*)"?', re.MULTILINE)
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
# Tags by which a text says something else: 10³ is not 103, and what is struck no longer holds.
_MEANING = re.compile(r"<(/?)(del|s|strike|sup|rt)>", re.IGNORECASE)


def read_markdown(text: str) -> Content:
    """Return the blocks of a Markdown text, and the fields of its front matter."""
    front = _FRONT.match(text)
    fields = dict(_FIELD.findall(front[1] or front[2] or "")) if front else {}
    skipped = text[: front.end()].count("\n") if front else 0
    body = _FOOTNOTE.sub(r"※\1 ", _NAMED_NOTE.sub(r"\1", text[front.end() :] if front else text))
    parser = _parser()
    tokens = parser.parse(_DIRECTIVE.sub("", body))
    for token in tokens:
        if token.map:
            token.attrSet(LINE, str(skipped + token.map[0] + (2 if token.type == "fence" else 1)))
        shown = ""
        tags = Counter(child.content.casefold() for child in token.children or () if child.type == "html_inline")
        for child in token.children or ():
            if child.type == "html_inline" and not _BREAK.match(child.content) and not _is_paired(child.content, tags):
                child.content = ""  # "<name>" in a sentence may be no tag
            elif child.type == "softbreak" and shown[-1:] > "\u2e7f":
                child.type = "text"  # no blank between Japanese words
            shown = child.content or shown
    blocks = html_blocks(parser.renderer.render(tokens, parser.options, {}))
    return Content(blocks=blocks, fields={name: value.strip("\"'") for name, value in fields.items()})


def _is_paired(tag: str, tags: Counter[str]) -> bool:
    """Return whether a tag has a meaning that is kept, and as many begin as end in its paragraph."""
    match = _MEANING.fullmatch(tag.casefold())
    return match is not None and tags[f"<{match[2]}>"] == tags[f"</{match[2]}>"]


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"maxNesting": 20}).enable(["table", "strikethrough"])
