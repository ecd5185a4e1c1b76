"""Files for the tests of document readers, and their units."""

import io
import zipfile

from functions.docqa.ingestion.reader import read
from functions.docqa.model import Document, Unit

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def units(document: Document) -> list[Unit]:
    found = [unit for passage in document.passages for unit in passage.units]
    assert all(document.text[unit.start : unit.end] == unit.text for unit in found)
    return found


def texts(name: str, content: bytes | str) -> list[str]:
    given = content.encode() if isinstance(content, str) else content
    return [unit.text for unit in units(read(name, f"corpus:{name}", given))]


def archive(**parts: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, content in parts.items():
            file.writestr(f"{name.replace('__', '/')}.xml", content)
    return out.getvalue()


def paragraph(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"
