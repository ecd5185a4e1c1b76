"""The index follows its folder, is reused, and is safe to open and ask from many places at once."""

import multiprocessing
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import date
from pathlib import Path

import pytest

from functions.docqa.engine import DocumentQA
from functions.docqa.model import Standing
from functions.docqa.retrieval.access import Asker
from functions.docqa.retrieval.search import Search
from tests.open_files import is_held

_QUESTION = "When are the doors locked?"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    _write(folder, "doors.md", "20:00")
    (folder / "座席.md").write_text("# 座席\n\n窓側の席は先着順です。鍵は総務が貸し出す。\n", encoding="utf-8")
    return folder


def _write(folder: Path, name: str, time: str) -> None:
    (folder / name).write_text(f"# Doors\n\nThe doors are locked at {time}.\n", encoding="utf-8")


@contextmanager
def _opened(corpus: Path, index: Path, *, today: date = date(2026, 11, 1)) -> Iterator[DocumentQA]:
    with closing(DocumentQA(corpus, index, today=lambda: today)) as engine:
        yield engine


def _quotes(corpus: Path, index: Path, question: str = _QUESTION) -> list[str]:
    with _opened(corpus, index) as engine:
        return [citation.quote for citation in engine.answer(question).citations]


def _answers_in_process(corpus: str, index: str) -> list[str]:
    return _quotes(Path(corpus), Path(index))


def test_an_unchanged_corpus_leaves_the_index_file_as_it_is(corpus: Path, tmp_path: Path) -> None:
    index = tmp_path / "index.sqlite3"
    _quotes(corpus, index)
    before = index.read_bytes()
    assert _quotes(corpus, index) == ["The doors are locked at 20:00."]
    assert index.read_bytes() == before


def test_a_link_opens_a_document_to_nobody_who_may_not_read_it(corpus: Path, tmp_path: Path) -> None:
    hr = corpus / "hr"
    hr.mkdir()
    (corpus / "doors.md").rename(hr / "doors.md")
    (hr / "access.toml").write_text('allow_emails = ["ada@example.com"]', "utf-8")
    (corpus / "linked.md").symlink_to(hr / "doors.md")
    with _opened(corpus, tmp_path / "index.sqlite3") as engine:
        assert not engine.answer(_QUESTION).citations
        assert engine.answer(_QUESTION, asker=Asker(email="ada@example.com")).citations


def test_rules_that_protect_nothing_or_everything_are_named(corpus: Path, tmp_path: Path) -> None:
    reader = 'allow_emails = ["a@example.com"]'
    (corpus / "access.toml").write_text(f'[documents."DOORS.md"]\n{reader}\n[documents."dors.md"]\n{reader}\n')
    folders = {
        "hr": f'[documents."old/doors.md"]\n{reader}\n',
        "it": 'allow_domain = ["a.example"]',
        "lab": f"{reader[:-1]}",
        "notepad": f"\ufeff{reader}",
    }
    for name, rules in folders.items():
        (corpus / name).mkdir()
        _write(corpus / name, "doors.md", "21:00")
        (corpus / name / "access.toml").write_text(rules, encoding="utf-8")
    with _opened(corpus, tmp_path / "index.sqlite3") as engine:
        assert not engine.find(_QUESTION, asker=Asker()).passages
        assert len(engine.find(_QUESTION, asker=Asker(email="a@example.com")).passages) == 2
        named = [(each.path, each.reason) for each in engine.skipped]
    assert named == [
        ("access.toml", "names a document that is not beside it: dors.md"),
        ("hr/access.toml", "is not understood: nobody may read the documents beside and below it"),
        (
            "it/access.toml",
            "is not understood (unknown: allow_domain): nobody may read the documents beside and below it",
        ),
        (
            "lab/access.toml",
            "is not understood (Unclosed array (at end of document)): nobody may read the documents beside and below it",
        ),
    ]


def test_an_unchanged_index_may_stand_on_a_file_system_that_only_reads(corpus: Path, tmp_path: Path) -> None:
    index = tmp_path / "sealed" / "index.sqlite3"
    _quotes(corpus, index)
    index.chmod(0o444)
    index.parent.chmod(0o555)
    try:
        assert _quotes(corpus, index) == ["The doors are locked at 20:00."]
    finally:
        index.parent.chmod(0o755)


def test_only_changed_files_are_read_anew_and_gone_ones_are_taken_out(corpus: Path, tmp_path: Path) -> None:
    index = tmp_path / "index.sqlite3"
    _quotes(corpus, index)
    with closing(sqlite3.connect(index)) as connection:
        kept = connection.execute("SELECT rowid FROM passages WHERE path = '座席.md'").fetchall()
    _write(corpus, "doors.md", "21:30")
    assert _quotes(corpus, index) == ["The doors are locked at 21:30."]
    with closing(sqlite3.connect(index)) as connection:
        assert connection.execute("SELECT rowid FROM passages WHERE path = '座席.md'").fetchall() == kept
    (corpus / "doors.md").unlink()
    assert _quotes(corpus, index) == []


def test_what_a_mail_quotes_stays_superseded_and_what_is_not_read_of_a_file_is_named(
    corpus: Path, tmp_path: Path
) -> None:
    parts = "--B\nContent-Type: text/plain\n\nLocked at 21:00.\n\n> Locked at 20:30.\n"
    parts += "--B\nContent-Type: application/zip; name=x.zip\nContent-Disposition: attachment\n\nPK\n--B--\n"
    head = "From: a@example.com\nSubject: Doors\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n"
    (corpus / "doors.eml").write_text(head + parts)
    with _opened(corpus, tmp_path / "index.sqlite3") as engine:
        found = engine.find(_QUESTION, asker=Asker()).passages
        left_out = [(each.path, each.reason) for each in engine.skipped]
    standings = {passage.section: passage.edition.standing for passage in found}
    assert standings[("Earlier messages / 過去のメール",)] is Standing.SUPERSEDED
    assert standings[()] is Standing.CURRENT
    assert left_out == [("doors.eml", "x.zip: this kind of file (.zip) is not read")]


@pytest.mark.parametrize("content", [b"not a database at all, but long enough to be read as one" * 40, b""])
def test_a_damaged_index_is_built_anew(corpus: Path, tmp_path: Path, content: bytes) -> None:
    index = tmp_path / "index.sqlite3"
    index.write_bytes(content)
    assert _quotes(corpus, index) == ["The doors are locked at 20:00."]


def test_an_index_that_cannot_be_read_is_not_held(tmp_path: Path) -> None:
    index = tmp_path / "index.sqlite3"
    index.write_bytes(b"not a database at all, but long enough to be read as one" * 40)
    with pytest.raises(sqlite3.DatabaseError) as refusal, Search.opened(index, _QUESTION, asker=Asker()):
        pass
    assert not is_held(index), refusal


def test_an_index_of_another_layout_is_built_anew(corpus: Path, tmp_path: Path) -> None:
    index = tmp_path / "index.sqlite3"
    with closing(sqlite3.connect(index)) as connection:
        connection.execute("CREATE TABLE passages (other)")
        connection.execute("PRAGMA user_version = 999")
    assert _quotes(corpus, index) == ["The doors are locked at 20:00."]


def test_a_coming_edition_comes_into_force_without_a_change_of_files(corpus: Path, tmp_path: Path) -> None:
    index = tmp_path / "index.sqlite3"
    for name, time, day in (("old.md", "18:00", "2026-01-01"), ("new.md", "19:00", "2026-12-01")):
        text = f"# Lights\n\nEffective date: {day}\n\nThe lights go out at {time}.\n"
        (corpus / name).write_text(text, encoding="utf-8")
    answers = []
    for today in (date(2026, 11, 1), date(2026, 12, 1)):
        with _opened(corpus, index, today=today) as engine:
            answers.append(engine.answer("When do the lights go out?").citations[0].quote)
    assert answers == ["The lights go out at 18:00.", "The lights go out at 19:00."]


def test_several_processes_may_start_at_once(corpus: Path, tmp_path: Path) -> None:
    arguments = [(str(corpus), str(tmp_path / "index.sqlite3"))] * 4
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        assert pool.starmap(_answers_in_process, arguments) == [["The doors are locked at 20:00."]] * 4


def test_many_threads_may_ask_one_engine(corpus: Path) -> None:
    start = threading.Barrier(16)
    with closing(DocumentQA(corpus, None)) as engine, ThreadPoolExecutor(16) as threads:

        def ask(_: int) -> str:
            start.wait()
            return engine.answer(_QUESTION).text

        assert set(threads.map(ask, range(16))) == {"The documents say:\nThe doors are locked at 20:00. [1]"}


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("窓側の席は先着順ですか?", "窓側の席は先着順です。"),
        ("鍵は総務が貸し出しますか?", "鍵は総務が貸し出す。"),
    ],
)
def test_japanese_words_of_one_and_two_characters_are_found(
    corpus: Path, tmp_path: Path, question: str, found: str
) -> None:
    assert _quotes(corpus, tmp_path / "index.sqlite3", question) == [found]


def test_a_corpus_that_is_no_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NotADirectoryError):
        DocumentQA(tmp_path / "nowhere", None)


def test_an_examination_counts_the_documents(corpus: Path, tmp_path: Path) -> None:
    with _opened(corpus, tmp_path / "index.sqlite3") as engine:
        assert engine.examine()[0].message == "2 documents in the folder"
        (corpus / "座席.md").unlink()
    with _opened(corpus, tmp_path / "index.sqlite3") as engine:
        assert engine.examine()[0].message == "1 document in the folder"
