"""Files for the tests of document readers, and their units."""

import io
import zipfile
from collections.abc import Sequence

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


def pdf(
    *lines: tuple[int, int, int, str],
    rules: Sequence[tuple[int, int, int, int]] = (),
    of_a: str = "0041",
    drawn: str = "",
) -> bytes:
    """A page with each text in a size at a place, rules from place to place, and what is `drawn` (/F2 is bold).

    `of_a` is what `A` shows, in UTF-16.

    Readers find its objects without a table of them.
    """
    shown = "\n".join(f"BT /F1 {size} Tf {x} {y} Td ({text}) Tj ET" for size, x, y, text in lines)
    shown += "".join(f"\n{left} {bottom} m {right} {top} l S" for left, bottom, right, top in rules)
    shown += f"\n{drawn}"
    font = "/F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 5 0 R >>"
    font += " /F2 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>"
    codes = f"begincmap 1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfchar <41> <{of_a}> endbfchar endcmap"
    objects = (
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << {font} >> >> >>",
        f"<< /Length {len(shown)} >>\nstream\n{shown}\nendstream",
        f"<< /Length {len(codes)} >>\nstream\n{codes}\nendstream",
    )
    numbered = "\n".join(f"{at} 0 obj\n{each}\nendobj" for at, each in enumerate(objects, start=1))
    return f"%PDF-1.4\n{numbered}\ntrailer << /Root 1 0 R >>\n%%EOF\n".encode()
