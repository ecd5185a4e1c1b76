"""The index, the search over it, and who may read what."""

import os
import unicodedata
from datetime import date
from pathlib import Path

import pytest

from functions.docqa.model import Passage, Standing
from functions.docqa.retrieval import index
from functions.docqa.retrieval.access import Asker
from functions.docqa.retrieval.search import Search
from functions.docqa.retrieval.terms import terms_of

ANYBODY = Asker()
TODAY = date(2026, 11, 1)


class Corpus:
    """A folder of documents with its index."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "corpus"
        self.folder.mkdir()
        self.index_path = folder / "index.sqlite3"

    def write(self, path: str, text: str) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")

    def update(self) -> None:
        index.update(self.folder, self.index_path, today=lambda: TODAY)

    def found(self, question: str) -> list[Passage]:
        self.update()
        with Search.opened(self.index_path, question, asker=ANYBODY) as search:
            return search.find()

    def best(self, question: str, asker: Asker = ANYBODY) -> str:
        self.update()
        with Search.opened(self.index_path, question, asker=asker) as search:
            ranked = search.rank_units(search.find())
        return ranked[0].unit.text if ranked else ""


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return Corpus(tmp_path)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("1,000円", "千円"),
        ("45万円", "450,000円"),
        ("令和7年4月1日", "2025-04-01"),
        ("P-1", "P1"),
        ("notified", "notifying"),
        ("サーバー", "サーバ"),
    ],
)
def test_one_thing_has_one_term(asked: str, said: str) -> None:
    assert set(terms_of(asked)) & set(terms_of(said))


def test_the_unit_that_says_most_of_the_question_comes_first(corpus: Corpus) -> None:
    corpus.write("dogs.md", "# Dogs\n\nDogs stay on a lead in the park.\n\nDogs may swim in the lake after 18:00.\n")
    corpus.write("canteen.md", "# 食堂\n\n食堂の営業時間は11時から14時までです。\n\n弁当は450円です。\n")
    assert corpus.best("When may dogs swim?") == "Dogs may swim in the lake after 18:00."
    assert corpus.best("弁当はいくらですか") == "弁当は450円です。"


def test_an_edition_that_is_not_in_force_comes_after_the_one_that_is(corpus: Corpus) -> None:
    for year, fee in ((2024, 500), (2026, 700)):
        text = f"---\ntitle: Fees {year}\neffective: {year}-04-01\n---\n# Fees {year}\n\nThe entry fee is {fee} yen.\n"
        corpus.write(f"fees-{year}.md", text)
    assert corpus.best("What is the entry fee?") == "The entry fee is 700 yen."
    assert corpus.best("What was the entry fee in 2024?") == "The entry fee is 500 yen."


def test_an_unchanged_index_reads_no_file_again(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus.write("a.md", "# A\n\nThe gate opens at 9:00.\n")
    corpus.update()
    before = corpus.index_path.stat().st_mtime_ns
    corpus.update()
    assert corpus.index_path.stat().st_mtime_ns == before


def test_a_changed_file_is_indexed_anew_and_a_deleted_one_forgotten(corpus: Corpus) -> None:
    corpus.write("a.md", "# A\n\nThe gate opens at 9:00.\n")
    assert corpus.best("When does the gate open?")
    corpus.write("a.md", "# A\n\nThe gate opens at 10:30.\n")
    assert corpus.best("When does the gate open?") == "The gate opens at 10:30."
    (corpus.folder / "a.md").unlink()
    assert corpus.best("When does the gate open?") == ""


def test_a_damaged_index_is_built_anew(corpus: Corpus) -> None:
    corpus.write("a.md", "# A\n\nThe gate opens at 9:00.\n")
    corpus.update()
    corpus.index_path.write_bytes(os.urandom(20_000))
    assert corpus.best("When does the gate open?")


SECRET = "# Pay\n\nThe director earns 9,000 euros.\n"


@pytest.mark.parametrize(
    ("rules", "allowed", "refused"),
    [
        ('allow_domains = ["example.com"]', [Asker("a@example.com", "example.com")], [ANYBODY, Asker("a@example.com")]),
        ('allow_emails = ["a@x.org"]', [Asker("A@x.org")], [ANYBODY, Asker("b@x.org", "x.org")]),
        ('[documents."pay.md"]\nallow_emails = ["a@x.org"]', [Asker("a@x.org")], [ANYBODY]),
        ("allow_domains = [", [], [ANYBODY, Asker("a@example.com", "example.com")]),
        ('allow_domain = "example.com"', [], [ANYBODY, Asker("a@example.com", "example.com")]),
    ],
    ids=["a domain", "an address", "one document", "broken", "a wrong key"],
)
def test_only_who_is_allowed_finds_a_document(
    corpus: Corpus, rules: str, allowed: list[Asker], refused: list[Asker]
) -> None:
    corpus.write("hr/pay.md", SECRET)
    corpus.write("hr/access.toml", rules)
    for asker in allowed:
        assert corpus.best("What does the director earn?", asker)
    for asker in refused:
        assert corpus.best("What does the director earn?", asker) == ""


def test_a_folder_below_needs_the_rules_of_both(corpus: Corpus) -> None:
    corpus.write("hr/access.toml", 'allow_domains = ["example.com"]')
    corpus.write("hr/board/access.toml", 'allow_emails = ["a@x.org"]')
    corpus.write("hr/board/pay.md", SECRET)
    assert corpus.best("What does the director earn?", Asker("a@x.org")) == ""
    assert corpus.best("What does the director earn?", Asker("a@x.org", "example.com"))


def test_rules_that_change_move_the_document(corpus: Corpus) -> None:
    corpus.write("hr/pay.md", SECRET)
    assert corpus.best("What does the director earn?")
    corpus.write("hr/access.toml", 'allow_emails = ["a@x.org"]')
    assert corpus.best("What does the director earn?") == ""


def test_an_edition_that_the_asker_may_not_read_leaves_the_other_in_force(corpus: Corpus) -> None:
    corpus.write("old/keys.md", "# Key rules\n\nVersion 1, effective 2020-01-01\n\nThe gate opens at 9:00.\n")
    corpus.write("new/keys.md", "# Key rules\n\nVersion 2, effective 2021-01-01\n\nThe gate opens at 8:00.\n")
    assert {each.edition.standing for each in corpus.found("When does the gate open?")} == {
        Standing.CURRENT,
        Standing.SUPERSEDED,
    }
    corpus.write("new/access.toml", 'allow_emails = ["a@x.org"]')
    (found,) = corpus.found("When does the gate open?")
    assert found.edition.standing is Standing.CURRENT


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When does the gate open?", "The gate opens at 8:00."),
        ("When would the gate open by the draft?", "The gate opens at 7:00."),
        ("When does the gate open in version 3?", "The gate opens at 7:00."),
    ],
)
def test_a_draft_stands_back_unless_it_is_asked_for(corpus: Corpus, question: str, expected: str) -> None:
    corpus.write("gate.md", "# Gate rules\n\nVersion 2\n\nThe gate opens at 8:00.\n")
    corpus.write("gate_plan.md", "# Gate rules\n\nDraft, version 3, 1 May 2031\n\nThe gate opens at 7:00.\n")
    assert corpus.best(question) == expected


def test_a_rule_holds_however_the_name_of_its_document_is_composed(corpus: Corpus) -> None:
    corpus.write(f"hr/{unicodedata.normalize('NFD', 'ガイド')}.md", SECRET)
    corpus.write(
        "hr/access.toml", f'[documents."{unicodedata.normalize("NFC", "ガイド")}.md"]\nallow_emails = ["a@x.org"]'
    )
    assert corpus.best("What does the director earn?") == ""
    assert corpus.best("What does the director earn?", Asker("a@x.org"))
