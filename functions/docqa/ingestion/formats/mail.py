"""EML to blocks: the message, then earlier mails that it quotes, then its attachments as sections of their own."""

import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Sequence
from email import message_from_bytes, policy
from email.header import decode_header
from email.message import EmailMessage, Message
from pathlib import PurePosixPath

from msgspec import structs

from a2a_hub.text.decoding import Undecodable, decoded
from a2a_hub.text.quantities import quantities
from functions.docqa.ingestion.blocks import Block, Content, Kind, Unreadable
from functions.docqa.ingestion.formats.html import read_html, without_quotations
from functions.docqa.ingestion.formats.lines import Line, line_blocks, unquoted

_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_MAX_PARTS, _MAX_DEPTH = 100, 3
_QUOTED = re.compile(
    r"[>＞]|\d{4}年.{5,80}<[^\s<>@]{1,80}@[^\s<>@]{1,80}>[:：]\s*$"
)  # Gmail's line above a quotation, too
_THREAD = re.compile(
    r"-{2,} ?(?:original message|forwarded message|元のメッセージ|転送).*|on .{5,200} wrote:"
    r"|.{5,100}(?:の書き込み|が書きました|のメール)[:：]|\d{4}年.{5,80}<[^\s<>@]{1,80}@[^\s<>@]{1,80}>[:：]"
    r"|(?:from|差出人|送信者)[:：] ?.*",
    re.IGNORECASE,
)
_WRAPPED = re.compile(
    r"^((?:on |\d{4}年).{5,120})\n(.{0,120}(?:wrote|<[^\s<>@]{1,80}@[^\s<>@]{1,80}>)[:：])[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_HEAD = re.compile(r"(?:from|to|cc|date|sent|subject|差出人|宛先|日付|送信日時|日時|件名) ?[:：].*", re.IGNORECASE)
_SUBJECT = re.compile(r"^\s*(?:subject|件名) ?[:：]\s*", re.IGNORECASE)
_FORWARD = re.compile(r"(?:fwd?|転送) ?[:：]", re.IGNORECASE)
_SIGNATURE = re.compile(r"-- ?$")
_EARLIER = "Earlier messages / 過去のメール"


def read_mail(content: bytes, read_part: Callable[[str, bytes, int], Content], depth: int = 0) -> Content:
    """Return the blocks of a message; `read_part` reads an attachment by its name. Raises Unreadable."""
    if depth > _MAX_DEPTH:
        raise Unreadable("messages nested too deeply")
    message = message_from_bytes(content.removeprefix(BOM_UTF8), policy=policy.default)
    assert isinstance(message, EmailMessage)
    parts = list(message.walk())
    if len(parts) > _MAX_PARTS:
        raise Unreadable(f"more than {_MAX_PARTS} parts")
    headers = {name: _header(message, name) for name in _HEADERS}
    if not headers["From"] and not headers["Subject"]:
        raise Unreadable("no mail in it")
    blocks = [Block(Kind.HEADING, headers["Subject"], level=1)]
    blocks += [Block(Kind.ASIDE, f"{name}: {value}") for name, value in headers.items() if value and name != "Subject"]
    body = message.get_body(preferencelist=("plain", "html"))
    is_forward = _FORWARD.match(headers["Subject"]) is not None
    own, earlier = _body(body, is_forward=is_forward) if isinstance(body, EmailMessage) else ([], [])
    page = message.get_body(preferencelist=("html",))
    if isinstance(page, EmailMessage) and page is not body:
        shown = _body(page, is_forward=is_forward)
        if 4 * _length(own, earlier) < _length(*shown):  # the plain text may be empty, or say where the page is
            body, (own, earlier) = page, shown
    attachments: list[Block] = []
    left_out: list[str] = []
    for part in _beside(message, body):
        name = _decoded(part.get_filename() or "")
        if part.get_content_type() == "message/rfc822" and not name.lower().endswith(".eml"):
            name = f"{name or 'message'}.eml"
        if not name:
            # Text below a picture or a file is the message's own.
            if part.get_content_type() in ("text/plain", "text/html"):
                more, quoted = _body(part)
                own, earlier = own + more, earlier + quoted
            continue
        title = PurePosixPath(name.replace("\\", "/")).name
        try:
            attached = read_part(name, _bytes(part), depth + 1)
        except Unreadable as error:
            left_out += [f"{title}: {error}"] if part.get_content_maintype() != "image" else []
            continue
        left_out += (f"{title}: {each}" for each in attached.left_out)
        attachments.append(Block(Kind.HEADING, title, level=2))
        offset = len(attachments) * 10_000
        for block in attached.blocks:
            level = block.level + 2 if block.kind is Kind.HEADING else block.level
            table = block.table + offset if block.table else 0
            attachments.append(structs.replace(block, level=level, table=table, page=0, line=0))
    blocks += [*_with_earlier(own, earlier), *attachments]
    return Content(blocks=blocks, title=headers["Subject"], left_out=left_out)


def _beside(part: EmailMessage, body: Message | None, *, is_other_form: bool = False) -> Iterator[EmailMessage]:
    """Yield the parts of a message beside its body and other forms of that."""
    if part.get_content_maintype() == "multipart":
        is_other_form = is_other_form or part.get_content_subtype() == "alternative"
        for inner in part.iter_parts():
            assert isinstance(inner, EmailMessage)
            yield from _beside(inner, body, is_other_form=is_other_form)
    elif part is not body and (not is_other_form or part.get_filename()):
        yield part


def _header(message: EmailMessage, name: str) -> str:
    try:
        return _decoded(" ".join(str(message.get(name, "")).split()))
    except (ValueError, LookupError, AttributeError, TypeError):  # of a damaged header the library makes anything
        return ""


def _decoded(value: str) -> str:
    """Return a header with the encoded words that the library leaves as they are: ① in ISO-2022-JP."""
    if "=?" not in value:
        return value
    try:
        parts = decode_header(value)
        return "".join(text if isinstance(text, str) else decoded(text, charset=name or "") for text, name in parts)
    except (ValueError, Undecodable):
        return value


def _length(*texts: Sequence[Block]) -> int:
    return sum(len(block.text) for blocks in texts for block in blocks)


def _bytes(part: EmailMessage) -> bytes:
    if part.get_content_type() == "message/rfc822":
        inner = part.get_payload()
        first = inner[0] if isinstance(inner, list) and inner else None
        return first.as_bytes() if isinstance(first, Message) else b""
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _body(body: EmailMessage, *, is_forward: bool = False) -> tuple[list[Block], list[Block]]:
    """Return what a message says itself or hands on, and what it quotes of earlier ones."""
    is_html = body.get_content_type() == "text/html"
    text = decoded(_bytes(body), charset=body.get_content_charset() or "", markup=is_html)
    if is_html:
        text, quotation = without_quotations(text)
        blocks = read_html(text).blocks
        head, at = _thread([block.text for block in blocks], is_forward=is_forward)
        subject = [Block(Kind.HEADING, each, level=2) for each in _subject([blocks[line].text for line in head])]
        blocks, at = [*blocks[: head.start], *subject, *blocks[head.stop :]], at - len(head) + len(subject)
        at = next((n for n, block in enumerate(blocks[:at]) if _QUOTED.match(block.text)), at)
        at = at or (0 if quotation else len(blocks))
        # The answer may stand below what it quotes.
        end = at + 1 if quotation and blocks[at : at + 1] and blocks[at].text.endswith((":", "：")) else len(blocks)
        return [*blocks[:at], *blocks[end:]], [*blocks[at:end], *(read_html(quotation).blocks if quotation else [])]
    own: list[Line] = []
    earlier: list[Line] = []
    signed = False
    lines = _WRAPPED.sub(r"\1 \2", text.replace("\r\n", "\n").strip("\n")).split("\n")
    head, begins = _thread(lines, is_forward=is_forward)
    begins = begins or len(lines)  # what begins with such a line has nothing else to say
    for at, line in enumerate(lines):
        if at in head:
            own += (Line(each, depth=2) for each in _subject([line]))
            continue
        quoted = at >= begins or _QUOTED.match(line) is not None or _THREAD.fullmatch(line.strip()) is not None
        signed = not quoted and (signed or _SIGNATURE.match(line) is not None)
        if not signed:
            (earlier if quoted else own).append(Line(unquoted(line)))
            earlier += [Line("")] if quoted and line.endswith((":", "：")) else []
    return list(line_blocks(own, titled=True)), list(line_blocks(earlier, titled=True))


def _thread(texts: Sequence[str], *, is_forward: bool) -> tuple[range, int]:
    """Return the lines above a message that is forwarded, and where those that no longer hold begin."""
    marks = [at for at, text in enumerate(texts) if _THREAD.fullmatch(text.strip())]
    # Below marked quotations, what has no mark is the answer.
    marks = [at for at in marks if not any(text.startswith((">", "＞")) for text in texts[at + 1 : at + 3])]
    if not marks or not is_forward:
        return range(0), marks[0] if marks else len(texts)
    end = marks[0] + 1
    while end < len(texts) and _HEAD.fullmatch(texts[end].strip()):
        end += 1
    return range(marks[0], end), next((at for at in marks if at >= end), len(texts))


def _subject(head: Sequence[str]) -> list[str]:
    return [subject for line in head if (subject := _SUBJECT.sub("", line)) != line]


def _with_earlier(own: list[Block], earlier: list[Block]) -> list[Block]:
    """Return a message and the earlier ones that it quotes, which no longer hold if it has figures of the same kind itself."""
    if not earlier:
        return own
    said, before = ({each.kind for block in blocks for each in quantities(block.text)} for blocks in (own, earlier))
    former = not said.isdisjoint(before)
    heading = Block(Kind.HEADING, _EARLIER, level=2)
    return [*own, *(structs.replace(block, former=former) for block in (heading, *earlier))]
