"""Bytes to text, in the encodings that documents of Japanese and western offices have."""

import contextlib
import re

_ENCODINGS = ("utf-8-sig", "cp932", "euc_jp")
_WESTERN = "cp1252"
_BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff")
_LONG_MARKS = (b"\xff\xfe\0\0", b"\0\0\xfe\xff")
# What is said to be one of these is read as Windows wrote it, as browsers do: € and dashes are no control characters.
_SAID_FOR_WESTERN = ("iso-8859-1", "iso8859-1", "latin-1", "latin1", "us-ascii", "ascii")
_JIS = re.compile(rb"\x1b(\$[@B]|\([BJI])([^\x1b]*)")
_DECLARED = re.compile(rb"<(?:meta|\?xml)[^>]{1,200}?(?:charset|encoding)=[\"']?\s*([A-Za-z0-9_-]+)", re.IGNORECASE)
_HIGH_TOGETHER = re.compile(rb"[\x80-\xff](?=.?[\x80-\xff])", re.DOTALL)
_ACCENTS_OF_100 = 10
_ASCII = bytes(range(0x80))


class Undecodable(Exception):
    """Bytes that are no text; the message is the reason."""


def decoded(content: bytes, *, markup: bool = False, charset: str = "") -> str:
    """Return `content` as text: UTF-8, or the declared encoding, or an older Japanese or western one. Raises Undecodable."""
    if content.startswith(_LONG_MARKS):
        return content.decode("utf-32", "replace")
    if content.startswith(_BYTE_ORDER_MARKS):
        return content.decode("utf-16", "replace")
    if b"\x00" in content[:4096]:
        raise Undecodable("binary content")
    if markup and not charset and (match := _DECLARED.search(content[:2048])):
        charset = match[1].decode("ascii")
    if charset.casefold() in _SAID_FOR_WESTERN:
        charset = _WESTERN
    with contextlib.suppress(UnicodeDecodeError):
        if not _JIS.search(content):
            return content.decode("utf-8-sig")
    high = len(content.translate(None, _ASCII))
    few = high * 100 <= len(content) * _ACCENTS_OF_100
    apart = len(_HIGH_TOGETHER.findall(content)) * 100 <= high * _ACCENTS_OF_100
    names = [charset] if charset else []
    names += ["iso2022_jp_ext"] if _JIS.search(content) else []
    for name in names:
        with contextlib.suppress(UnicodeDecodeError, LookupError, ValueError):
            return content.decode(name)
    if _JIS.search(content):
        content = _JIS.sub(_shifted, content)
    elif few and apart:
        with contextlib.suppress(UnicodeDecodeError):
            return content.decode(_WESTERN)
    readings: list[tuple[int, int, str]] = []
    for name in _ENCODINGS:
        with contextlib.suppress(UnicodeDecodeError):
            text = content.decode(name)
            # Most EUC-JP bytes are also valid CP932, as half-width katakana: the reading with fewer of those is right.
            odd = sum("\uff61" <= character <= "\uff9f" or "\ue000" <= character <= "\uf8ff" for character in text)
            readings.append((odd, len(readings), text))
    if readings:
        return min(readings)[2]
    if few:
        with contextlib.suppress(UnicodeDecodeError):
            return content.decode(_WESTERN)
    raise Undecodable("neither UTF-8 nor another usual encoding")


def _shifted(run: re.Match[bytes]) -> bytes:
    """Return a run of ISO-2022-JP in CP932, which has ①, ㈱ and 髙 as well, as mails of Windows do."""
    kind, codes = run[1], run[2]
    if kind == b"(I":
        return bytes(code | 0x80 for code in codes)
    if kind[:1] == b"(":
        return codes
    pairs = zip(codes[::2], codes[1::2], strict=False)
    shifted = (
        ((row - 0x21 >> 1) + (0x81 if row < 0x5F else 0xC1), cell + (0x7E if row % 2 == 0 else 0x20 - (cell < 0x60)))
        for row, cell in pairs
    )
    return b"".join(bytes(code & 0xFF for code in pair) for pair in shifted)
