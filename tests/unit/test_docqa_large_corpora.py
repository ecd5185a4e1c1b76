"""In a large corpus, a passage that says all of a question is found before those that say one part of it many times."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from functions.docqa.questions.question import analyse
from functions.docqa.search import index
from functions.docqa.search.corpus import LARGE, MANY, Corpus

_SAY_ONE_PART = (
    "願い出、申請、申込み、依頼及び請求の書式は、願い出及び申請の用紙とする。",
    "退学、除籍、除名及び中退の者の名簿は、退学、除籍、除名及び中退の別に作る。",
)
_OTHER = "記録は、教務課が保存する。"
_SAYS_BOTH = f"退学は、１０日前までに願い出る。{_OTHER * 9}"


@pytest.mark.parametrize("others", [MANY, LARGE])
def test_what_says_both_acts_is_found_among_many_that_say_one(tmp_path: Path, others: int) -> None:
    sections = [f"## 記録{number}\n\n{_OTHER}" for number in range(others)]
    sections += [f"## 様式{number}\n\n{_SAY_ONE_PART[number % 2]}" for number in range(120)]
    sections.append(f"## 学籍\n\n{_SAYS_BOTH}")
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "学籍.md").write_text("\n\n".join(["# 手引", *sections]), encoding="utf-8")
    index.update(folder, tmp_path / "index.sqlite3")
    with closing(sqlite3.connect(tmp_path / "index.sqlite3")) as connection:
        found = Corpus(connection).search(analyse("退学したいときは何日前までに願い出る必要がありますか"), first=True)
    assert [passage.section[-1] for passage in found].count("学籍") == 1
