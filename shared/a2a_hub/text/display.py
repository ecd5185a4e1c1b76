"""Text of agents and documents for people: nothing hidden in it, and links and images only to hosts that are allowed.

A user interface that renders Markdown fetches images at once, so that a prompt in a document could send an answer to any address.
"""

import re
from collections.abc import Collection, Iterator
from urllib.parse import urlsplit

_LONGEST_LABEL, _LONGEST_URL, _DEEPEST = 500, 2_000, 5
# Possessive: nothing that could follow is among their characters.
_LABEL, _URL = rf"[^\[\]\n]{{0,{_LONGEST_LABEL}}}+", rf"[^\s()<>]{{0,{_LONGEST_URL}}}+"
_VARIANTS = range(0xE0100, 0xE01F0)
_FILLERS = (
    0x34F,
    0x115F,
    0x1160,
    0x17B4,
    0x17B5,
    0x180B,
    0x180C,
    0x180D,
    0x180F,
    0x3164,
    0xFFA0,
    *range(0xFE00, 0xFE0E),
)
UNSEEN = frozenset(map(chr, (*_FILLERS, *_VARIANTS)))
"""Characters that count as printable, and are not seen: fillers and variation selectors, which can carry a message."""
# These are compiled when used: most texts have nothing hidden, no tag and no link.
_MAY_BE_HIDDEN = f"[\ufe0e\ufe0f{''.join(sorted(UNSEEN))}]"
_EMOJI = r"\u2190-\u2bff\U0001f000-\U0001faff"
# Terminal sequences, control characters, bidirectional and zero-width ones, tags, and the unseen; a joiner stays between emoji, a
# selector behind one, or behind the Han character whose form it selects.
_HIDDEN = (
    r"\x1b\[[0-9;:?]{0,40}[ -/]{0,4}[@-~]|\x1b\][^\x07\x1b]{0,400}(?:\x07|\x1b\\)|\x1b[@-Z\\-_]?"
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]"
    rf"|[\U000e0000-\U000e007f]|\u200c|(?<![{_EMOJI}\ufe0f])\u200d|[{''.join(map(chr, _FILLERS))}]"
    rf"|(?<![{_EMOJI}#*0-9\xa9\xae\u203c\u2049\u2122\u2139\u3030\u303d\u3297\u3299])[\ufe0e\ufe0f]"
    r"|(?<![\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])[\U000e0100-\U000e01ef]"
)
# Behind a name it is an index and a call of a program: `handlers[name](event)`.
_LINK = (
    rf"(!|(?<![A-Za-z0-9_]))\[({_LABEL})\]\([ \t]{{0,9}}+<?({_URL}(?:\({_URL}\){_URL})?)>?"
    r"(?:[ \t]{1,9}[\"'(][^\n]{0,300}?[\"')])?[ \t]{0,9}\)"
)
_REFERENCE = rf"^( {{0,3}}\[{_LABEL}\]:[ \t]{{0,9}})<?(?!`)([^\s<>]{{1,{_LONGEST_URL}}})>?(?=\s)"
# What every link or image of Markdown needs, whatever its label: "](", or "]:" before what may be an address.
_OPENING = rf"{_LINK}|{_REFERENCE}|\](?:\(|:(?=[\s>]*+(?:[/\\&<]|[A-Za-z][\w+.-]*+(?::\S|[&\\])|\Z)))"
# Another tag keeps its meaning with these attributes alone, or with words that have no value; longer ones are none. One that
# ends at the beginning of a line may go on there, behind the sign of a quote.
_ATTRIBUTE = (
    r"(?:align|colspan|dir|lang|rowspan|scope|start|title)\s*+=\s*+(?:\"[^\"<>]*+\"|'[^'<>]*+'|[\w%.-]++)"
    r"|(?!(?:hidden|inert|popover)(?![\w-]))[^\s/<>=\"'`]++(?!\s*+=)"
)
_LONGEST_NAME, _LONGEST_ATTRIBUTES = 100, 500
_ACTIVE_TAG = (
    rf"(?i)<(?=[a-z][a-z0-9-]*+(?=[\s/])(?!(?:[\s/]++(?:{_ATTRIBUTE}))*+[ \t/]*+>)|[a-z][a-z0-9-]{{{_LONGEST_NAME}}})"
)
_HOST = re.compile(r"([\w.-]+)(?::[0-9]*)?")
_TAG = (
    r"(?i)<(?=/?(?:a|area|audio|base|body|button|embed|form|frame|iframe|image|img|input|link|meta|object|script|source|style"
    r"|svg|track|video)[\s/>])"
)
# A link in angle brackets (CommonMark §6.4), perhaps without its end; names with a colon, such as those of XML and C++, are none.
_AUTOLINK = (
    r"(?i)<((?:(?:https?|data|blob|javascript|vbscript|mailto|tel|sms):"
    r"|[a-z][a-z0-9+.-]{1,31}:(?=[\w.:-]*+(?:[^\w.\x00-\x20<>/:-]|/(?!>))))"
    rf"[^\x00-\x20<>]{{0,{_LONGEST_URL}}}+)(>)?"
)
_BEGUN = rf"\[{_LABEL}(?:\](?:\([^\n)]{{0,{_LONGEST_URL + 400}}}+|:[ \t]{{0,9}}\S{{0,{_LONGEST_URL}}}+)?)?"
# Each alternative begins with a character of its own: the others of a text are passed over at once.
_UNFINISHED = re.compile(rf"(?:{_BEGUN}|!(?:{_BEGUN})?|\](?::[\s>]{{0,99}}[\w+.-]{{0,99}}:?)?)\Z")
_BEGUN_TAG = re.compile(r"<[/a-zA-Z]{0,8}\Z")
_UNFINISHED_TAG = re.compile(
    rf"<(?:/?|/?[a-zA-Z][a-zA-Z0-9-]{{0,{_LONGEST_NAME}}}(?:[\s/][^>]{{0,{_LONGEST_ATTRIBUTES}}})?"
    rf"|[a-zA-Z][a-zA-Z0-9+.-]{{1,31}}:[^\x00-\x20<>]{{0,{_LONGEST_URL}}}+)\Z"
)
_NAME, _MEETS = re.compile(r"[/a-zA-Z]"), re.compile(r"\][(:]")
_UNFINISHED_SEQUENCE = re.compile(r"\x1b(?:\[[0-9;:?]{0,40}[ -/]{0,4}|\][^\x07\x1b]{0,400}+\x1b?)?\Z")
# More than any of these has: a text is searched from there on, not from each of its brackets.
_LONGEST_UNFINISHED = 2 * (_LONGEST_LABEL + _LONGEST_URL)
_LONGEST_BEGUN_TAG, _LONGEST_SEQUENCE = 10, 450
_LONGEST_TAG = max(_LONGEST_NAME + _LONGEST_ATTRIBUTES + 4, _LONGEST_URL + 34)
# No other thread runs while an expression is searched for.
_MAX_AT_ONCE = 32_768


class DisplayFilter:
    """The filter of one text that comes in pieces, after the text `after`. `hosts` are allowed: names, or `*.example.com` for all
    below one.

    With `keeps_addresses`, other links and images stay readable as they are written: a person decides on the text.
    """

    def __init__(self, hosts: Collection[str] = (), *, keeps_addresses: bool = False, after: str = "") -> None:
        self._hosts = hosts
        self._keeps_addresses = keeps_addresses
        self._held = ""
        self._shown = after

    def feed(self, text: str) -> str:
        """Return what can be shown by now; what may become a link is held back."""
        return "".join(self._feed(each) for each in _slices(text))

    def _feed(self, text: str) -> str:
        text = self._held + text
        end = _start(_UNFINISHED_SEQUENCE, text, len(text), _LONGEST_SEQUENCE)
        text, sequence = self._clean(text[:end]), text[end:]
        end = _start(_UNFINISHED, text, len(text), _LONGEST_UNFINISHED)
        # What is held may vanish, such as an image: then more of the tag's name may follow.
        end = _start(_UNFINISHED_TAG, text, end, _LONGEST_TAG)
        self._held = text[end:] + sequence
        return self._after_shown(self._without_openings(text[:end]))

    def finish(self) -> str:
        """Return what was held back, at the end of the text."""
        # The end of a text ends what stands there, as a line's end does.
        held, self._held = self._held, ""
        return self._after_shown(self._without_openings(self._clean(held + "\n")).removesuffix("\n"))

    def _after_shown(self, text: str) -> str:
        """Return the text so that no link and no tag begins where it meets the text before it: what stood between is gone."""
        if not text:
            return ""
        if _MEETS.match(self._shown[-1:] + text[0]) or (_NAME.match(text) and _BEGUN_TAG.search(self._shown)):
            text = f" {text}"
        self._shown = (self._shown + text)[-_LONGEST_BEGUN_TAG:]
        return text

    def _clean(self, text: str) -> str:
        # What else is hidden is unprintable, as is a line's end.
        if not text.replace("\n", "").isprintable() or (not text.isascii() and re.search(_MAY_BE_HIDDEN, text)):
            text = self._without_hidden(text)
        if "[" in text and not self._keeps_addresses:
            text = self._without_links(text)
        return re.sub(_TAG, "&lt;", text) if "<" in text else text

    def _without_hidden(self, text: str) -> str:
        # A joiner and a selector depend on what is shown before them.
        begin = len(self._shown[-1:])
        text, kept = self._shown[-1:] + text, []
        for found in re.compile(_HIDDEN).finditer(text, begin):
            kept.append(text[begin : found.start()])
            begin = found.end()
        return "".join([*kept, text[begin:]])

    def _without_links(self, text: str) -> str:
        # The label of a link may be an image, and what is left of one may be a link.
        for _ in range(_DEEPEST):
            before, text = text, re.sub(_LINK, self._link, text)
            if text == before:
                break
        else:
            text = text.replace("](", "] (")
        return re.sub(_REFERENCE, self._reference, text, flags=re.MULTILINE)

    def _without_openings(self, text: str) -> str:
        """Return the text with no other links than allowed ones, of which `_clean` replaces only what is well-formed, and with no
        tag that does something.
        """
        text = re.sub(_ACTIVE_TAG, "&lt;", re.sub(_AUTOLINK, self._autolink, text)) if "<" in text else text
        return re.sub(_OPENING, self._opening, text, flags=re.MULTILINE) if "]" in text else text

    def _opening(self, found: re.Match[str]) -> str:
        if self._allows(found, 3 if found[3] else 5):
            return found[0]
        return re.sub(r"\](?=[(:])", "] ", found[0])

    def _autolink(self, found: re.Match[str]) -> str:
        url, end = found[1], found[2]
        if end is None:
            # It may come with the next piece.
            return f"&lt;{url}"
        if allows(url, self._hosts):
            return found[0]
        return f"< {url}>" if self._keeps_addresses else code(url)

    def _reference(self, found: re.Match[str]) -> str:
        return found[0] if self._allows(found, 2) else f"{found[1]}{code(found[2])}"

    def _allows(self, found: re.Match[str], group: int) -> bool:
        """Return True for a link whose address is this group of what was found."""
        # What is no link after all, such as one behind a backslash, may hold another one in its address or title.
        is_one = "](" not in found.string[found.start(group) : found.end()]
        return is_one and allows(found[group] or "", self._hosts)

    def _link(self, found: re.Match[str]) -> str:
        is_image, label, url = found[1], found[2], found[3]
        if self._allows(found, 3):
            return found[0]
        shows_url = not is_image and url.startswith(("http://", "https://")) and url not in label
        return f"{label} ({code(url)})" if shows_url else label


def displayed(text: str, hosts: Collection[str] = (), *, keeps_addresses: bool = False) -> str:
    """Return a whole text as it may be shown."""
    filtered = DisplayFilter(hosts, keeps_addresses=keeps_addresses)
    return filtered.feed(text) + filtered.finish()


def _start(unfinished: re.Pattern[str], text: str, end: int, longest: int) -> int:
    """Return where something unfinished begins before `end`, and `end` if there is nothing."""
    found = unfinished.search(text, max(0, end - longest), end)
    return found.start() if found else end


def _slices(text: str) -> Iterator[str]:
    """Yield the text in slices that end with a line, if the line is not too long."""
    begin = 0
    while begin < len(text):
        end = begin + _MAX_AT_ONCE
        if end < len(text):
            end = text.rfind("\n", begin, end) + 1 or end
        yield text[begin:end]
        begin = end


def allows(url: str, hosts: Collection[str]) -> bool:
    """Return True for an address of one of the hosts."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    # Where others read a backslash or an entity, the host ends, or what stands before it.
    named = _HOST.fullmatch(parts.netloc)
    if parts.scheme not in ("http", "https") or named is None:
        return False
    host = named[1].lower()
    return any(host == each or (each.startswith("*.") and host.endswith(each[1:])) for each in hosts)


def code(url: str) -> str:
    """Return an address that no user interface makes a link of."""
    return "`" + url.replace("`", "%60") + "`"
