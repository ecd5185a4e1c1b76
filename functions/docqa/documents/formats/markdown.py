"""Markdown to canonical text: the file without what its readers are not shown. Lines stay where they are."""

import re
from collections.abc import Iterator

from functions.docqa.documents.formats.html import html_text

FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n.*?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_FENCED = re.compile(r"^[ \t]*(```+|~~~+).*?(?:^[ \t]*\1[`~]*[ \t]*\r?$|\Z)", re.DOTALL | re.MULTILINE)
_TABLE = re.compile(r"<table\b.*?</table\s*>", re.DOTALL | re.IGNORECASE)
# `{% include "steps.html" %}`, `{{< toc >}}`; in the midst of a line they may stand for a word.
_DIRECTIVE = re.compile(
    r"^[ \t]*(?:\{%[^%]*%\}[ \t]*|\{\{[^{}]*\}\}[ \t]*)+(?=\r?$)"
    r"|^[ \t>]*(?:!\[[^\]\n]*\]\([^()\n]*\)[ \t]*)+(?=\r?$)"
    r"|^[ \t]*\[[^\]^\n][^\]\n]*\]:[ \t]+<?\S*[/#]\S*(?:[ \t]+[\"'(].*)?(?=\r?$)"
    r"|^[ \t]*(?:\[TOC\]|\[\[_?TOC_?\]\]|:{3,}[ \t]*)(?=\r?$)"
    r"|(?<=>)[ \t]*\[![A-Za-z]+\]",
    re.MULTILINE | re.IGNORECASE,
)
# `!!! tip "Keep receipts"`, `:::note Keep receipts`: its title is text.
_ADMONITION = re.compile(
    r"^([ \t]*(?:!!!|\?\?\?\+?|:{3,})[ \t]*[a-z][\w-]*(?:[ \t]+[a-z][\w-]*)*[ \t]*[\"\[]?)([^\"\]\r\n]*?)([\"\]]?[ \t]*)(?=\r?$)",
    re.MULTILINE,
)
_INLINE = "a|abbr|b|big|cite|code|del|em|font|i|ins|kbd|mark|q|s|samp|small|span|strike|strong|sub|sup|time|tt|u|var"
_BLOCK = (
    "address|article|aside|blockquote|br|button|center|dd|details|div|dl|dt|figcaption|figure|footer|form|header|hr|iframe|img"
    "|input|label|main|nav|ol|p|picture|section|source|summary|svg|ul|video|tbody|td|tfoot|th|thead|tr"
)
_HIDDEN = re.compile(
    rf"`[^`\n]+`|<(?P<mark>li|h[1-6])\b[^<>\n]*>|</?(?:(?P<inline>{_INLINE})|li|h[1-6]|{_BLOCK})(?:\s[^<>\n]*)?/?>"
    r"|\{:[^{}\n]*\}|\{[ ]?#[\w-]+[ ]?\}(?=[ \t]*\r?$)",
    re.IGNORECASE | re.MULTILINE,
)


def markdown_text(text: str) -> str:
    """`text` without tags, template directives and the targets of links that stand elsewhere.

    It is as long as before, and every line begins where it did, but for those of a table in HTML.
    """
    if not any(sign in text for sign in ("<", "{", "![", "]:", "!!!", "???", ":::", "[!", "TOC")):
        return text
    return "".join(shown if is_code else _shown(shown) for is_code, shown in _pieces(text))


def _pieces(text: str) -> Iterator[tuple[bool, str]]:
    """The pieces of `text` in their order, and whether they are to stay as they are."""
    front = FRONT_MATTER.match(text)
    at = front.end() if front else 0
    yield True, text[:at]
    for match in _FENCED.finditer(text, at):
        yield False, text[at : match.start()]
        yield True, match.group()
        at = match.end()
    yield False, text[at:]


def _shown(text: str) -> str:
    text = _DIRECTIVE.sub(_blank, text)
    text = _ADMONITION.sub(lambda match: " " * len(match[1]) + match[2] + " " * len(match[3]), text)
    if "<" in text:
        text = _TABLE.sub(_rows, text)
    if "<" not in text and "{" not in text:
        return text
    return "\n".join(_without_tags(line) if "<" in line or "{" in line else line for line in text.split("\n"))


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match.group())


def _rows(match: re.Match[str]) -> str:
    """The rows of a table between bars, over as many lines and characters as its markup had where they suffice."""
    rows = html_text(match.group())[0].rstrip("\n")
    lines = max(0, match.group().count("\n") - rows.count("\n"))
    return (rows + " " * (len(match.group()) - len(rows) - lines)) + "\n" * lines


def _without_tags(line: str) -> str:
    ending = "\r" if line.endswith("\r") else ""
    shown = _HIDDEN.sub(lambda match: _instead(match, line), line.removesuffix(ending))
    if not shown.strip():
        shown = ""
    return shown.ljust(len(line) - len(ending)) + ending


def _instead(match: re.Match[str], line: str) -> str:
    """What stands for a tag: the mark of an item or a heading where a line begins with it."""
    if match.group().startswith("`"):
        return match.group()
    if (mark := match["mark"]) and not line[: match.start()].strip():
        return "- " if mark.casefold() == "li" else "#" * int(mark[1]) + " "
    return "" if match["inline"] or match.group().startswith("{") else " "
