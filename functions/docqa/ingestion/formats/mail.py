"""EML to blocks: the message, then earlier mails that it quotes, then its attachments as sections of their own."""

import contextlib
import re
from collections.abc import Callable
from email import message_from_bytes, policy
from email.message import EmailMessage, Message
from pathlib import PurePosixPath

from msgspec import structs

from functions.docqa.ingestion.blocks import Block, Content, Kind, Unreadable
from functions.docqa.ingestion.decoding import decoded
from functions.docqa.ingestion.formats.html import read_html
from functions.docqa.ingestion.formats.lines import Line, line_blocks, unquoted

_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_MAX_PARTS, _MAX_DEPTH = 100, 3
_QUOTED = re.compile(r"[>＞]|\d{4}年.{5,80}<\S+@\S+>[:：]\s*$")  # Gmail's line above a quotation, too
_THREAD = re.compile(
    r"-{2,} ?(?:original message|forwarded message|元のメッセージ|転送).*|on .{5,100} wrote:"
    r"|.{5,100}(?:の書き込み|が書きました|のメール)[:：]"
    r"|(?:from|差出人|送信者)[:：] ?.*",
    re.IGNORECASE,
)
_SIGNATURE = re.compile(r"-- ?$")
_EARLIER = "Earlier messages / 過去のメール"


def read_mail(content: bytes, read_part: Callable[[str, bytes, int], Content], depth: int = 0) -> Content:
    """Return the blocks of a message; `read_part` reads an attachment by its name. Raises Unreadable."""
    if depth > _MAX_DEPTH:
        raise Unreadable("messages nested too deeply")
    message = message_from_bytes(content, policy=policy.default)
    assert isinstance(message, EmailMessage)
    parts = list(message.walk())
    if len(parts) > _MAX_PARTS:
        raise Unreadable(f"more than {_MAX_PARTS} parts")
    headers = {name: _header(message, name) for name in _HEADERS}
    if not headers["From"] and not headers["Subject"]:
        raise Unreadable("no mail in it")
    blocks = [Block(Kind.HEADING, headers["Subject"] or "(no subject)", level=1)]
    blocks += [Block(Kind.ASIDE, f"{name}: {value}") for name, value in headers.items() if value and name != "Subject"]
    body = message.get_body(preferencelist=("plain", "html"))
    if isinstance(body, EmailMessage):
        blocks += _body(body)
    for part in message.iter_attachments():
        name = part.get_filename() or ("message.eml" if part.get_content_type() == "message/rfc822" else "")
        if not name:
            continue
        with contextlib.suppress(Unreadable):
            attached = read_part(name, _bytes(part), depth + 1)
            title = PurePosixPath(name.replace("\\", "/")).name
            blocks.append(Block(Kind.HEADING, title, level=2))
            offset = len(blocks) * 10_000
            for block in attached.blocks:
                level = block.level + 2 if block.kind is Kind.HEADING else block.level
                table = block.table + offset if block.table else 0
                blocks.append(structs.replace(block, level=level, table=table, page=0, line=0))
    return Content(blocks=blocks, title=headers["Subject"])


def _header(message: EmailMessage, name: str) -> str:
    try:
        return " ".join(str(message.get(name, "")).split())
    except (ValueError, LookupError, AttributeError, TypeError):  # of a damaged header the library makes anything
        return ""


def _bytes(part: EmailMessage) -> bytes:
    if part.get_content_type() == "message/rfc822":
        inner = part.get_payload()
        first = inner[0] if isinstance(inner, list) and inner else None
        return first.as_bytes() if isinstance(first, Message) else b""
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _body(body: EmailMessage) -> list[Block]:
    text = decoded(
        _bytes(body), charset=body.get_content_charset() or "", markup=body.get_content_type() == "text/html"
    )
    if body.get_content_type() == "text/html":
        return read_html(text).blocks
    own: list[Line] = []
    earlier: list[Line] = []
    thread = signed = False
    for line in text.replace("\r\n", "\n").split("\n"):
        thread = thread or (bool(own) and _THREAD.fullmatch(line.strip()) is not None)
        quoted = thread or _QUOTED.match(line) is not None
        signed = not quoted and (signed or _SIGNATURE.match(line) is not None)
        if not signed:
            (earlier if quoted else own).append(Line(unquoted(line)))
            earlier += [Line("")] if quoted and line.endswith((":", "：")) else []
    blocks = list(line_blocks(own, titled=True))
    if any(line.text.strip() for line in earlier):
        blocks.append(Block(Kind.HEADING, _EARLIER, level=2))
        blocks += line_blocks(earlier, titled=True)
    return blocks
