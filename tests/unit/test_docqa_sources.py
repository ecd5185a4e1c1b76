"""Files of every kind become documents, or are skipped with a reason; editions are told apart."""

import io
import os
from datetime import date
from pathlib import Path
from urllib.parse import quote

import pytest

from functions.docqa.documents.editions import in_force
from functions.docqa.documents.sources import MAX_FILE_BYTES, Unreadable, document_from, other_kinds
from functions.docqa.engine import DocumentQA
from functions.docqa.model import Document, Standing

_PDF = Path(__file__).parents[2] / "functions/docqa/corpus/policies/business-travel-policy.pdf"


def _document(text: str, path: str = "rules.md") -> Document:
    return document_from(path, f"corpus:{path}", text.encode())


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp932", "shift_jis", "euc_jp", "utf-16"])
def test_japanese_text_is_read_in_every_usual_encoding(encoding: str) -> None:
    text = "規程\r\n検知から１５分以内に連絡する。ﾊﾝｶｸ"
    assert document_from("a.txt", "corpus:a.txt", text.encode(encoding)).text == text


def test_western_text_is_read_when_it_is_not_unicode() -> None:
    text = "Café hours\r\n\r\nThe café opens at 7:45 – naïve guests wait.\r\nÜber 3 £.\r\n"
    assert document_from("a.txt", "corpus:a.txt", text.encode("cp1252")).text == text


def test_western_text_with_quotes_beside_dashes_is_read() -> None:
    text = "Please remember that the “quiet room” – on floor 4 – isn’t to be booked by anybody."
    assert document_from("a.txt", "corpus:a.txt", text.encode("cp1252")).text == text


def test_a_few_japanese_words_in_english_are_not_taken_for_accents() -> None:
    text = "The pass is kept in the box called カギ, with the others. It is given back on the day of departure."
    assert document_from("a.txt", "corpus:a.txt", text.encode("cp932")).text == text


def test_what_is_no_document_is_told_by_its_kind(tmp_path: Path) -> None:
    for name in ("a.md", "b.DOCX", "c.csv", "d.csv", ".hidden.zip", "Makefile"):
        (tmp_path / name).write_text("text")
    assert other_kinds(tmp_path) == [".csv", ".docx"]


@pytest.mark.parametrize(
    ("path", "content", "reason"),
    [
        ("a.md", b"", "no text"),
        ("a.md", b" \n\t\n", "no text"),
        ("a.txt", b"\x00\x01\x02\x03", "binary"),
        ("a.txt", b"\x81\xff\xfe\xfd\x80", "encoding"),
        ("a.html", b"<script>x</script>", "no text"),
        ("a.pdf", b"not a pdf", "damaged PDF"),
        ("a.pdf", b"", "damaged PDF"),
        ("a.docx", b"PK", "unknown kind"),
    ],
)
def test_what_cannot_be_read_says_why(path: str, content: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        document_from(path, f"corpus:{path}", content)


def test_nothing_but_its_reason_is_said_of_a_damaged_pdf(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(Unreadable, match="damaged PDF"):
        document_from("a.pdf", "corpus:a.pdf", b"%PDF-1.4 broken off")
    assert caplog.messages == []


def test_an_encrypted_pdf_says_so(tmp_path: Path) -> None:
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=PdfReader(_PDF))
    writer.encrypt("secret", algorithm="RC4-128")
    writer.write(tmp_path / "a.pdf")
    with pytest.raises(Unreadable, match="encrypted"):
        document_from("a.pdf", "corpus:a.pdf", (tmp_path / "a.pdf").read_bytes())


def test_a_citation_into_a_pdf_names_its_page(tmp_path: Path) -> None:
    (tmp_path / "travel.pdf").write_bytes(_PDF.read_bytes())
    engine = DocumentQA.open(tmp_path, None)
    pages = [
        engine.answer(question).citations[0].position.page
        for question in (
            "What is the limit for a taxi ride?",
            "What is the daily allowance for domestic trips?",
        )
    ]
    engine.close()
    assert pages == [1, 2]


def test_a_bad_file_never_stops_the_others(tmp_path: Path) -> None:
    (tmp_path / "good.md").write_text("# Doors\n\nThe doors are locked at 20:00.\n")
    (tmp_path / "empty.md").write_bytes(b"")
    with (tmp_path / "huge.txt").open("wb") as huge:
        huge.truncate(MAX_FILE_BYTES + 1)
    (tmp_path / "bad.pdf").write_bytes(b"%PDF-1.4 broken")
    (tmp_path / "ignored.bin").write_bytes(b"x")
    (tmp_path / ".hidden.md").write_text("# Hidden\n\nThe doors are locked at 21:00.\n")
    engine = DocumentQA.open(tmp_path, None)
    skipped = [entry.path for entry in engine.skipped]
    answer = engine.answer("When are the doors locked?")
    engine.close()
    assert skipped == ["bad.pdf", "empty.md", "huge.txt"]
    assert answer.citations[0].quote == "The doors are locked at 20:00."


@pytest.mark.parametrize(
    ("name", "readable"),
    [
        ("規程.md".encode("cp932"), "規程.md"),
        ("規程.md".encode("euc_jp"), "規程.md"),
        ("規程.md".encode(), "規程.md"),
        (b"\x81.md", "\\x81.md"),
    ],
    ids=["Windows", "EUC", "UTF-8", "none"],
)
def test_a_name_in_another_encoding_than_the_systems_is_read(tmp_path: Path, name: bytes, readable: str) -> None:
    (tmp_path / "部門").mkdir()
    (tmp_path / "部門" / os.fsdecode(name)).write_text("# Doors\n\nThe doors are locked at 20:00.\n")
    (tmp_path / os.fsdecode("表.計算".encode("cp932"))).write_text("1")
    engine = DocumentQA.open(tmp_path, None)
    answer = engine.answer("When are the doors locked?")
    engine.close()
    assert answer.citations[0].uri == "corpus:" + quote(f"部門/{readable}")
    assert other_kinds(tmp_path) == [".計算"]


def test_a_link_is_followed_within_the_folder_and_never_out_of_it(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    (tmp_path / "secret.md").write_text("# Secret\n\nThe doors are locked at 21:00.\n")
    (folder / "doors.md").write_text("# Doors\n\nThe doors are locked at 20:00.\n")
    (folder / "out.md").symlink_to("../secret.md")
    (folder / "in.md").symlink_to("doors.md")
    engine = DocumentQA.open(folder, None)
    skipped = [(entry.path, entry.reason.split(";")[0]) for entry in engine.skipped]
    answer = engine.answer("When are the doors locked?")
    engine.close()
    assert skipped == [("out.md", "a link that leads out of the folder")]
    assert {citation.quote for citation in answer.citations} == {"The doors are locked at 20:00."}


@pytest.mark.parametrize(
    ("text", "standing"),
    [
        ("# A\n\nRule.", Standing.CURRENT),
        ("---\nstatus: superseded\n---\n# A\n\nRule.", Standing.SUPERSEDED),
        ("---\nstatus: draft\n---\n# A\n\nRule.", Standing.DRAFT),
        ("---\nsuperseded_by: b.md\n---\n# A\n\nRule.", Standing.SUPERSEDED),
        ("# A\n\nSuperseded by version 3.\n", Standing.SUPERSEDED),
        ("# A\n\nThis policy was replaced by policy B.\n", Standing.SUPERSEDED),
        ("# A\n\nThis policy supersedes the 2023 edition, which is no longer valid.\n", Standing.CURRENT),
        ("# A\n\n本規程は2024年版を廃止し、これに代わるものである。\n", Standing.CURRENT),
        ("# A\n\nこの規程は2026年3月31日に廃止されました。\n", Standing.SUPERSEDED),
        ("# 規程(旧版)\n\n第1条", Standing.SUPERSEDED),
        ("# A\n\nステータス: 廃止\n", Standing.SUPERSEDED),
    ],
)
def test_a_document_says_whether_it_is_in_force(text: str, standing: Standing) -> None:
    assert _document(text).edition.standing is standing


def test_of_several_editions_only_the_newest_that_has_begun_is_in_force() -> None:
    documents = [
        _document("# Travel Policy 2023\n\nOld.", "a.md"),
        _document("# Travel Policy\n\nEffective 1 June 2025.", "b.md"),
        _document("# Travel Policy\n\nEffective date: 2030-01-01", "c.md"),
        _document("# Leave Policy\n\nEffective 1 June 2020.", "d.md"),
    ]
    found = in_force(documents, date(2026, 11, 1))
    assert [document.edition.standing for document in found] == [
        Standing.SUPERSEDED,
        Standing.CURRENT,
        Standing.DRAFT,
        Standing.CURRENT,
    ]
    later = in_force(documents, date(2031, 1, 1))
    assert later[2].edition.standing is Standing.CURRENT
    assert later[1].edition.standing is Standing.SUPERSEDED


def test_of_two_editions_dated_by_eras_the_later_one_is_in_force() -> None:
    documents = [
        _document("# 図書館規程\n\n施行日: 平成31年4月1日\n\n貸出は10日とする。", "a.md"),
        _document("# 図書館規程\n\n施行日: 令和元年10月1日\n\n貸出は15日とする。", "b.md"),
    ]
    assert [document.edition.effective for document in documents] == ["2019-04-01", "2019-10-01"]
    standing = [document.edition.standing for document in in_force(documents, date(2026, 1, 1))]
    assert standing == [Standing.SUPERSEDED, Standing.CURRENT]


def test_a_pdf_whose_fonts_do_not_tell_their_characters_is_left_out(tmp_path: Path) -> None:
    from pypdf import PdfReader, PdfWriter
    from pypdf.generic import DictionaryObject, NameObject

    writer = PdfWriter(clone_from=PdfReader(_PDF))
    numbered = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type0"),
            NameObject("/Encoding"): NameObject("/Identity-H"),
        }
    )
    for page in writer.pages:
        page[NameObject("/Resources")] = DictionaryObject(
            {NameObject("/Font"): DictionaryObject({NameObject("/F9"): numbered})}
        )
    writer.write(tmp_path / "a.pdf")
    with pytest.raises(Unreadable, match="which characters"):
        document_from("a.pdf", "corpus:a.pdf", (tmp_path / "a.pdf").read_bytes())


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: Bikes\n---\n# Sheds\n", "Bikes"),
        ("---\ncover: a.png\n---\n" + "Bicycles stand in the shed. " * 4, "bike_rules"),
        ("---\ncover: a.png\n---\nShed rules\n\ntitle: none\n", "Shed rules"),
        ("---\ncover: a.png\n---\n", "bike_rules"),
    ],
)
def test_a_document_is_named_by_its_front_matter_only_where_that_names_it(text: str, title: str) -> None:
    assert document_from("bike_rules.md", "corpus:bike_rules.md", text.encode()).title == title


def test_a_pdf_of_pictures_says_what_it_needs() -> None:
    from pypdf import PdfWriter

    writer, content = PdfWriter(), io.BytesIO()
    writer.add_blank_page(595, 842)
    writer.write(content)
    with pytest.raises(Unreadable, match="no text in it; scanned pages need text recognition first"):
        document_from("a.pdf", "corpus:a.pdf", content.getvalue())
