"""Documents of a test's own, and document QA over them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from functions.docqa.engine import DocumentQA
from functions.docqa.model import DocAnswer

Ask = Callable[[str], DocAnswer]


@contextmanager
def answering_from(folder: Path, documents: Mapping[str, str]) -> Iterator[Ask]:
    """Yield what answers questions from `documents`, their texts by their names; they are files in `folder`."""
    for name, text in documents.items():
        (folder / name).write_text(text, encoding="utf-8")
    with closing(DocumentQA(folder, None)) as engine:
        yield engine.answer
