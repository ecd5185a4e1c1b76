"""Office files as archives of XML: bounded when unpacked, without document type definitions; and what their XML shares."""

import io
import re
import zipfile
from collections.abc import Collection, Iterator
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from functions.docqa.ingestion.blocks import Unreadable, raised

_MAX_BYTES, _MAX_PARTS = 200 * 1024 * 1024, 5_000
_DECLARATION = re.compile(rb"<!\s*(?:DOCTYPE|ENTITY)|<\0!\0", re.IGNORECASE)
_UNSEEN, _ABOVE = ("vanish", "strike", "dstrike"), "123456789"
# What the fonts show for a letter that a program took from them.
_SYMBOLS = {
    "Symbol": dict(zip(b"\xa3\xb0\xb1\xb3\xb4\xb8\xb9abdDlmpsSWqf", "≤°±≥×÷≠αβδΔλµπσΣΩθφ", strict=True)),
    "Wingdings": dict(zip(b"\xa8o\xfb\xfc\xfd\xfe\xe0", "☐□✗✓☒☑→", strict=True)),
}
_NAMESPACE = re.compile(r"\{[^}]*\}")
# ISO/IEC 29500-1 ("Strict Open XML") and 29500-4, which most libraries read, differ in the beginnings of their namespaces.
STRICT = b"http://purl.oclc.org/ooxml/"
_OF_STRICT = re.compile(re.escape(STRICT) + rb"(officeDocument|spreadsheetml|drawingml)")
_TRANSITIONAL = rb"http://schemas.openxmlformats.org/\1/2006"


class OfficeFile:
    """The parts of a DOCX, XLSX or PPTX file. Raises Unreadable for what is no such file, locked, or a bomb."""

    def __init__(self, content: bytes) -> None:
        if content.startswith(b"\xd0\xcf\x11\xe0"):
            raise Unreadable("locked by a password, or saved in the form of before 2007")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
        except (zipfile.BadZipFile, ValueError, OSError) as error:
            raise Unreadable("damaged archive") from error
        parts = self._zip.infolist()
        self.names = {part.filename for part in parts}
        self._left = _MAX_BYTES
        if len(parts) > _MAX_PARTS or sum(part.file_size for part in parts) > _MAX_BYTES:
            raise Unreadable(f"more than {_MAX_BYTES} bytes or {_MAX_PARTS} parts when unpacked")

    def parts(self) -> Iterator[tuple[str, bytes]]:
        """Yield the parts of XML; raises Unreadable if one has what a reader should not meet, or is larger than it says."""
        for name in self.names:
            if name.endswith((".xml", ".rels", ".vml")):
                yield name, self._bytes(name)

    def transitional(self, *, without: Collection[str] = ()) -> io.BytesIO:
        """Return the parts of XML as an archive with the namespaces of ISO/IEC 29500-4, without properties and these elements."""
        copy = io.BytesIO()
        with zipfile.ZipFile(copy, "w") as archive:
            for name, content in self.parts():
                given = _OF_STRICT.sub(_TRANSITIONAL, content)
                if without and name.startswith("docProps/"):
                    continue
                archive.writestr(name, _without(given, without) if without else given)
        return copy

    def xml(self, name: str) -> Element:
        """Return the root of a part, its names without namespaces; an empty element when there is no such part."""
        if name not in self.names:
            return Element("")
        try:
            root = ElementTree.fromstring(self._bytes(name))  # noqa: S314 (no part with a definition gets here)
        except ElementTree.ParseError as error:
            raise Unreadable("damaged XML") from error
        for element in root.iter():
            element.tag = _NAMESPACE.sub("", element.tag)
            if any("{" in key for key in element.attrib):
                element.attrib = {_NAMESPACE.sub("", key): value for key, value in element.attrib.items()}
        return root

    def links(self, name: str) -> dict[str, tuple[str, str]]:
        """Return the parts that a part refers to: id → (kind, name)."""
        folder, _, own = name.rpartition("/")
        found = {}
        for link in self.xml(f"{folder}/_rels/{own}.rels".lstrip("/")):
            path = link.get("Target", "")
            at = folder.split("/") if folder and not path.startswith("/") else []
            for step in path.strip("/").split("/"):
                at = at[:-1] if step == ".." else [*at, step]
            found[link.get("Id", "")] = (link.get("Type", "").rpartition("/")[2], "/".join(at))
        return found

    def main(self, name: str) -> str:
        """Return the part that the file says to be its document, which some programs name otherwise; `name` if it says none."""
        return next((part for kind, part in self.links("").values() if kind == "officeDocument"), name)

    def title(self) -> str:
        """Return the title among the file's properties; "" without one."""
        return (self.xml("docProps/core.xml").findtext("title") or "").strip()

    def _bytes(self, name: str) -> bytes:
        try:
            with self._zip.open(name) as part:
                content = part.read(self._left + 1)
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError, EOFError, ValueError) as error:
            raise Unreadable("damaged archive") from error
        self._left -= len(content)
        if self._left < 0:
            raise Unreadable(f"more than {_MAX_BYTES} bytes when unpacked")
        if _DECLARATION.search(content):
            raise Unreadable("XML with a document type definition")
        return content


def _without(part: bytes, names: Collection[str]) -> bytes:
    root = ElementTree.fromstring(part)  # noqa: S314 (no part with a definition gets here)
    for element in root.iter():
        element[:] = [each for each in element if _NAMESPACE.sub("", each.tag) not in names]
    return ElementTree.tostring(root)


def shown_text(paragraph: Element, unseen: Collection[str] = ()) -> str:
    """Return what a paragraph shows: without deleted, hidden and struck text, fields' codes, placeholders, and readings over
    characters. Text of the styles in `unseen` is hidden or struck, unless its own properties say otherwise.
    """
    is_hidden = value_of(paragraph.find("pPr"), "pStyle") in unseen
    out: list[str] = []
    stack = [paragraph]
    while stack:
        element = stack.pop()
        style = element.find("rPr") if element.tag == "r" else None
        if element.tag == "r" and is_unseen(style, unseen, is_hidden=is_hidden):
            continue
        if style is not None and (
            value_of(style, "vertAlign") == "superscript" or (style.get("baseline") or "0")[0] in _ABOVE
        ):
            out.append(raised("".join(each.text or "" for each in element.iter("t")), "".join(out[-2:])))
        elif element.tag == "t":
            out.append(element.text or "")
        elif element.tag in ("br", "cr"):
            out.append("\n")
        elif element.tag == "sym" and (code := element.get("char", "")):
            signs = _SYMBOLS.get(element.get("font", ""), {})
            # In the private area of Unicode, only the font says what is shown.
            out.append(signs.get(int(code[-2:], 16), "") if code.upper().startswith("F0") else chr(int(code, 16)))
        elif element.tag == "tab":
            out.append("\t")
        elif element.tag == "noBreakHyphen":
            out.append("-")
        elif element.tag == "f":  # a fraction: 1/2, not 12
            parts = (element.find("num"), element.find("den"))
            out.append("/".join(_grouped(shown_text(part, unseen)) for part in parts if part is not None))
        elif element.tag == "rad" and (inside := element.find("e")) is not None:
            out.append(f"√{_grouped(shown_text(inside, unseen))}")
        elif element.tag == "sup":
            out.append(raised("".join(each.text or "" for each in element.iter("t")), "".join(out[-2:])))
        elif element.tag == "sdt" and element.find("sdtPr/showingPlcHdr") is not None:
            continue
        elif element.tag not in ("del", "moveFrom", "rt", "pPr", "rPr", "Fallback", "txbxContent", "tabs"):
            stack += reversed(element)
    return "".join(out)


def _grouped(text: str) -> str:
    """Return a part of a formula as it is written on one line."""
    return text if len(re.findall(r"[\w.,]+|\S", text)) < 2 else f"({text})"


def diagram_texts(archive: OfficeFile, name: str, frame: Element) -> list[str]:
    """Return the texts of the diagrams (SmartArt) that an element of the part `name` refers to."""
    marks = list(frame.iter("relIds"))
    links = archive.links(name) if marks else {}
    parts = (links.get(each.get("dm", ""), ("", ""))[1] for each in marks)
    texts = (shown_text(p) for part in parts for point in archive.xml(part).iter("pt") for p in point.iterfind("t/p"))
    return [text for each in texts if (text := " ".join(each.split()))]


def found_in(element: Element, tag: str, *, without: Collection[str] = ()) -> Iterator[Element]:
    """Yield the outermost elements of this tag below an element, but for those in `without` and in what older programs show."""
    for each in element:
        if each.tag == tag:
            yield each
        elif each.tag != "Fallback" and each.tag not in without:
            yield from found_in(each, tag, without=without)


def is_unseen(style: Element | None, unseen: Collection[str], *, is_hidden: bool = False) -> bool:
    """Return whether text with these properties is hidden or struck: by them, by a style in `unseen`, else as what it is in."""
    if style is None:
        return is_hidden
    own = [is_set(style, name) for name in _UNSEEN if style.find(name) is not None]
    if own or style.get("strike"):
        return any(own) or style.get("strike", "noStrike") != "noStrike"
    return is_hidden or value_of(style, "rStyle") in unseen


def is_set(style: Element, name: str) -> bool:
    """Return whether a property without a value, or with one, is on."""
    mark = style.find(name)
    return mark is not None and mark.get("val", "1") not in ("0", "false", "off")


def value_of(element: Element | None, name: str) -> str:
    """Return the value of a property, "" where it is not set."""
    found = element.find(name) if element is not None else None
    return (found.get("val") or "") if found is not None else ""


def number_of(element: Element | None, name: str, default: int) -> int:
    """Return the value of a property as a number, `default` where it is none."""
    value = value_of(element, name)
    return int(value) if value.isascii() and value.isdigit() and len(value) < 6 else default
