"""Editions of documents: which is in force, a draft, superseded or yet to come."""

import datetime

import pytest
from msgspec import structs

from functions.docqa.ingestion.editions import in_force
from functions.docqa.ingestion.reader import read
from functions.docqa.model import Standing
from tests.unit.reader_files import units


@pytest.mark.parametrize(
    ("name", "content", "standing", "effective"),
    [
        ("a.md", "# Rules\n\nStatus: superseded\n\nText here.", Standing.SUPERSEDED, ""),
        ("a.md", "# Prices 2025 (withdrawn 31 December 2025)\n\nText here.", Standing.SUPERSEDED, ""),
        ("a.md", "# 旧料金表（令和8年1月4日まで）\n\n初診料は千円です。", Standing.SUPERSEDED, ""),
        ("a.md", "# Money withdrawn from accounts\n\nText here.", Standing.CURRENT, ""),
        ("規程_令和5年_旧.txt", "協会\n\n規程\n\n本文である。", Standing.SUPERSEDED, ""),
        ("規程_旧版.txt", "規程\n\n令和7年4月1日施行　所管：総務部\n\n本文である。", Standing.SUPERSEDED, "2025-04-01"),
        ("a.md", "# Plan (draft)\n\nStatus: draft\n\nText here.", Standing.DRAFT, ""),
        ("a.md", "# Rules\n\nEffective: 1 May 2026 · Rev. 3\n\nText here.", Standing.CURRENT, "2026-05-01"),
        ("a.md", "# Agenda\n\n## Change of the fee\n\n施行予定：令和19年4月1日", Standing.CURRENT, ""),
        ("a.md", "# 栽培基準\n\n前版：令和5年版（廃止）\n\n間隔は5年以上とする。", Standing.CURRENT, ""),
        ("a.md", "# Rules\n\nPrevious edition: 2021 (superseded)\n\nText here.", Standing.CURRENT, ""),
    ],
)
def test_editions_are_read_from_lines_that_are_no_units(
    name: str, content: str, standing: Standing, effective: str
) -> None:
    document = read(name, "corpus:a", content.encode())
    assert (document.edition.standing, document.edition.effective) == (standing, effective)
    assert len(units(document)) == 1


@pytest.mark.parametrize(
    ("line", "standing", "effective"),
    [
        ("Approved 22 October 2026 · in force from 1 January 2027", Standing.CURRENT, "2027-01-01"),
        ("Replaces procedure K-05 from 1 January 2027.", Standing.CURRENT, "2027-01-01"),
        ("2026年11月16日 / 2027年2月1日から実施", Standing.CURRENT, "2027-02-01"),
        ("2023年6月1日施行（第4版の施行により2026年5月31日で廃止）", Standing.SUPERSEDED, "2023-06-01"),
        ("2026年6月1日施行（旧規程は2026年5月31日で廃止）", Standing.CURRENT, "2026-06-01"),
        ("2026年6月1日施行（令和7年版は2026年5月31日で廃止）", Standing.CURRENT, "2026-06-01"),
        ("締結日：2026年12月3日 発効日：2027年1月1日", Standing.CURRENT, "2027-01-01"),
        (
            "2026年4月1日乗車分から適用する。（注）2027年4月1日の改定により、同年3月31日で廃止予定。",
            Standing.CURRENT,
            "2026-04-01",
        ),
    ],
)
def test_of_several_dates_the_one_beside_the_word_is_when_an_edition_comes_into_force(
    line: str, standing: Standing, effective: str
) -> None:
    edition = read("a.md", "corpus:a", f"# Rules\n\n{line}\n\nText here.".encode()).edition
    assert (edition.standing, edition.effective) == (standing, effective)


_DRAFTS = {
    "a.md": [
        "# Data policy – DRAFT\n\nText here.",
        "# Data policy\n\nNot adopted. For discussion at the meeting on 3 May.\n\n## Access\n\nText here.",
        "# Terms\n\nDraft 2 of edition 9, for internal discussion.\n\nText here.",
        "# Terms\n\nFor consultation until 3 May.\n\nText here.",
        "# Terms\n\nThis policy has not been approved by the board.\n\nText here.",
        "# 荷受規程の改正(素案)\n\n本文である。",
        "# 会費規程（案）\n\n本文である。",
        "# 会費規程\n\n取扱注意：理事会未承認。\n\n本文である。",
        "# 会費規程\n\n本規程は検討中です。\n\n本文である。",
    ],
    "terms_ed9_DRAFT.md": ["# Terms\n\nText here."],
    "規程改正_素案.md": ["# 規程\n\n本文である。"],
}


_IN_FORCE = {
    "a.md": [
        "# Draft beer prices\n\nDraft-beer is 5 euros.",
        "# How to draft a contract\n\nA draft is sent to the legal team. The draft of edition 9 is not in force.",
        "# Call for proposals\n\nFor consultation by phone, dial 12.",
        "# Terms, edition 8\n\n## Drafts\n\nNot adopted. For discussion.",
        "# 図書館利用案内\n\n開館は九時である。",
        "# 会費規程（案）への意見の募集\n\n会費規程の改正案はまだ施行されていない。",
        "# 機器管理規程\n\n未承認の機器は使用しない。",
        "# 提案制度\n\nこの案内は提案の出し方を示す。",
        "# Minutes\n\nDraft 2, approved by the chair on 23 October 2026.\n\nText here.",
    ],
    "ご案内_提案書.md": ["# 規程\n\n本文である。"],
}


@pytest.mark.parametrize(
    ("name", "content", "standing"),
    [
        (name, text, standing)
        for standing, given in ((Standing.DRAFT, _DRAFTS), (Standing.CURRENT, _IN_FORCE))
        for name, texts in given.items()
        for text in texts
    ],
)
def test_a_draft_says_of_itself_that_it_is_one(name: str, content: str, standing: Standing) -> None:
    assert read(name, "corpus:a", content.encode()).edition.standing is standing


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Handbook (2nd copy) 2023, version 8", "Handbook, version 9"),
        ("Handbook 2023", "Handbook 2024"),
        ("Handbook, version 2.9", "Handbook, version 2.10"),
    ],
)
def test_of_two_editions_the_newer_is_in_force_by_what_both_tell(older: str, newer: str) -> None:
    documents = [read("a.md", "corpus:a", f"# {title}\n\nText here.".encode()) for title in (newer, older)]
    documents = [structs.replace(each, edition=structs.replace(each.edition, series="handbook")) for each in documents]
    standings = [each.edition.standing for each in in_force(documents, datetime.date(2026, 11, 1))]
    assert standings == [Standing.CURRENT, Standing.SUPERSEDED]


@pytest.mark.parametrize(
    ("dates", "standings"),
    [
        (("2027-01-04",), [Standing.UPCOMING]),
        (("2026-01-04", "2027-01-04"), [Standing.CURRENT, Standing.DRAFT]),
        (("2027-04-01", "2027-01-04"), [Standing.DRAFT, Standing.UPCOMING]),
    ],
)
def test_an_edition_that_takes_effect_later_is_upcoming_where_none_is_in_force(
    dates: tuple[str, ...], standings: list[Standing]
) -> None:
    documents = [read("a.md", "a", f"# Fares ({date[:4]})\n\nEffective: {date}\n\nText.".encode()) for date in dates]
    assert [each.edition.standing for each in in_force(documents, datetime.date(2026, 11, 1))] == standings


def test_two_editions_whose_titles_have_the_day_of_their_change_are_one_series() -> None:
    titles = ("運賃表（2026年4月版）", "運賃表（2027年4月1日改定）")
    assert len({read("a.md", "a", f"# {title}\n\n本文。".encode()).edition.series for title in titles}) == 1


@pytest.mark.parametrize(
    ("older", "newer", "standing"),
    [
        ("terms_2023.txt", "terms_2025.md", Standing.SUPERSEDED),
        ("規程_第4版.txt", "規程_第5版.md", Standing.SUPERSEDED),
        ("説明書_令和6年度.txt", "説明書_令和7年度.md", Standing.SUPERSEDED),
        ("terms_ed7_2021.txt", "terms_ed8.md", Standing.SUPERSEDED),
        ("terms.txt", "terms.md", Standing.CURRENT),
        ("a/terms_2023.txt", "b/terms_2025.md", Standing.CURRENT),
    ],
)
def test_editions_whose_titles_differ_are_known_by_the_names_of_their_files(
    older: str, newer: str, standing: Standing
) -> None:
    texts = {
        older: "Company Ltd\n\nValid from 1 June 2023\n\nText.",
        newer: "# Terms\n\nIn force from 1 June 2025\n\nText.",
    }
    found = in_force([read(name, name, text.encode()) for name, text in texts.items()], datetime.date(2026, 11, 1))
    assert [each.edition.standing for each in found] == [standing, Standing.CURRENT]
