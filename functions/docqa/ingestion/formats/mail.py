"""EML to blocks: the message, then earlier mails that it quotes, then its attachments as sections of their own."""

import re
from collections.abc import Callable
from email import message_from_bytes, policy
from email.message import EmailMessage, Message
from pathlib import PurePosixPath

from msgspec import structs

from a2a_hub.text.decoding import decoded
from a2a_hub.text.quantities import quantities
from functions.docqa.ingestion.blocks import Block, Content, Kind, Unreadable
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
        blocks += _with_earlier(*_body(body))
    left_out: list[str] = []
    for part in message.iter_attachments():
        name = part.get_filename() or ("message.eml" if part.get_content_type() == "message/rfc822" else "")
        if not name:
            continue
        title = PurePosixPath(name.replace("\\", "/")).name
        try:
            attached = read_part(name, _bytes(part), depth + 1)
        except Unreadable as error:
            left_out += [f"{title}: {error}"] if part.get_content_maintype() != "image" else []
            continue
        left_out += (f"{title}: {each}" for each in attached.left_out)
        blocks.append(Block(Kind.HEADING, title, level=2))
        offset = len(blocks) * 10_000
        for block in attached.blocks:
            level = block.level + 2 if block.kind is Kind.HEADING else block.level
            table = block.table + offset if block.table else 0
            blocks.append(structs.replace(block, level=level, table=table, page=0, line=0))
    return Content(blocks=blocks, title=headers["Subject"], left_out=left_out)


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


def _body(body: EmailMessage) -> tuple[list[Block], list[Block]]:
    """Return what a message says itself, and what it quotes of earlier ones."""
    is_html = body.get_content_type() == "text/html"
    text = decoded(_bytes(body), charset=body.get_content_charset() or "", markup=is_html)
    if is_html:
        blocks = read_html(text).blocks
        begins = (at for at, block in enumerate(blocks) if at and _THREAD.fullmatch(block.text))
        at = next(begins, len(blocks))
        return blocks[:at], blocks[at:]
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
    return list(line_blocks(own, titled=True)), list(line_blocks(earlier, titled=True))


def _with_earlier(own: list[Block], earlier: list[Block]) -> list[Block]:
    """Return a message and the earlier ones that it quotes, which no longer hold if it has figures of the same kind itself."""
    if not earlier:
        return own
    said, before = ({each.kind for block in blocks for each in quantities(block.text)} for blocks in (own, earlier))
    former = not said.isdisjoint(before)
    heading = Block(Kind.HEADING, _EARLIER, level=2)
    return [*own, *(structs.replace(block, former=former) for block in (heading, *earlier))]
