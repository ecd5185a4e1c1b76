"""PDF to canonical text: the pages' text in their order, a form feed between two pages."""

import io

PAGE_BREAK = "\n\f"


class UnreadablePdf(Exception):
    """A PDF without text that can be read; the message says why."""


def pdf_text(content: bytes) -> tuple[str, str, tuple[int, ...]]:
    """(canonical text, title or "", where each page starts). Raises UnreadablePdf."""
    from pypdf import PdfReader  # 60 ms and 10 MB that a corpus without PDFs need not pay
    from pypdf.errors import PyPdfError

    try:
        reader = PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnreadablePdf("encrypted PDF")
        pages = [page.extract_text() for page in reader.pages]
        title = (reader.metadata.title if reader.metadata else None) or ""
    except UnreadablePdf:
        raise
    except (
        PyPdfError,
        ValueError,
        KeyError,
        TypeError,
        IndexError,
        AttributeError,
        OSError,
        RecursionError,
    ) as error:
        raise UnreadablePdf(f"damaged PDF ({type(error).__name__})") from error
    except ImportError as error:
        raise UnreadablePdf("pypdf is not installed, or the PDF's encryption is not supported") from error
    starts, at = [], 0
    for page in pages:
        starts.append(at)
        at += len(page) + len(PAGE_BREAK)
    return PAGE_BREAK.join(pages), str(title).strip(), tuple(starts)
