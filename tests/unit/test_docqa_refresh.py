"""A running engine follows its folder: what changes in a file is answered without a restart."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from functions.docqa.engine import DocumentQA
from functions.docqa.retrieval.index import Watch, signature

_QUESTION = "When are the doors locked?"


class _Clock:
    """Time that passes when the test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> _Clock:
    return _Clock()


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "doors.md").write_text("# Doors\n\nThe doors are locked at 20:00.\n")
    return folder


@pytest.fixture
def engine(corpus: Path, tmp_path: Path, clock: _Clock) -> Iterator[DocumentQA]:
    index = tmp_path / "index.sqlite3"
    with closing(DocumentQA(corpus, index, refresh_seconds=3, clock=clock)) as engine:
        yield engine


def _quotes(engine: DocumentQA, question: str = _QUESTION) -> list[str]:
    return [citation.quote for citation in engine.answer(question).citations]


def test_a_changed_file_is_answered_from_as_it_is_now(engine: DocumentQA, corpus: Path, clock: _Clock) -> None:
    assert _quotes(engine) == ["The doors are locked at 20:00."]
    (corpus / "doors.md").write_text("# Doors\n\nThe doors are locked at 9:30 pm.\n")
    clock.now += 3
    assert _quotes(engine) == ["The doors are locked at 9:30 pm."]


def test_a_new_file_is_found_and_one_that_is_gone_is_not(engine: DocumentQA, corpus: Path, clock: _Clock) -> None:
    (corpus / "sub").mkdir()
    (corpus / "sub" / "zebra.md").write_text("# Zebra crossing\n\nThe zebra crossing is repainted in May.\n")
    clock.now += 3
    assert _quotes(engine, "When is the zebra crossing repainted?") == ["The zebra crossing is repainted in May."]
    (corpus / "doors.md").unlink()
    clock.now += 3
    assert _quotes(engine) == []


def test_the_folder_is_looked_at_no_more_often_than_agreed(engine: DocumentQA, corpus: Path, clock: _Clock) -> None:
    (corpus / "doors.md").unlink()
    clock.now += 2.9
    assert _quotes(engine) == ["The doors are locked at 20:00."]


def test_an_update_that_fails_is_tried_again(corpus: Path, clock: _Clock) -> None:
    watch = Watch(corpus, seconds=3, clock=clock)
    watch.refresh(lambda: None)
    (corpus / "more.md").write_text("More.")
    tried = []

    def update() -> None:
        tried.append(clock.now)
        if len(tried) == 1:
            raise OSError("no room")

    clock.now += 3
    with pytest.raises(OSError, match="no room"):
        watch.refresh(update)
    for _ in range(3):
        clock.now += 3
        watch.refresh(update)
    assert tried == [103.0, 106.0]


def test_hidden_files_are_no_change(corpus: Path) -> None:
    before = signature(corpus)
    (corpus / ".hidden.md").write_text("hidden")
    assert signature(corpus) == before


def test_links_that_lead_round_and_round_are_not_followed(corpus: Path) -> None:
    before = signature(corpus)
    for name in ("round", "and round"):
        (corpus / name).symlink_to(".")
    assert signature(corpus) == before


def test_an_index_damaged_while_in_use_is_built_anew(engine: DocumentQA, tmp_path: Path) -> None:
    index = tmp_path / "index.sqlite3"
    index.write_bytes(index.read_bytes()[:4096] + b"\xff" * 65536)
    assert _quotes(engine) == ["The doors are locked at 20:00."]
