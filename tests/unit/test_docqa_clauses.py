"""Rules and laws in Japanese: chapters, articles with their captions, paragraphs and items, without a blank line between them."""

import pytest

from functions.docqa.documents.passages import passages
from functions.docqa.documents.sources import document_from
from functions.docqa.model import Passage, Unit, UnitKind

_RULES = """自転車貸出規程
第２章　利用
（貸出の手続）
第４条　自転車を借りようとする者は、前日までに貸出簿に
記入する。
２　次の各号のいずれかに該当する者には、貸し出さない。
　一　登録をしていない者
　　イ　登録の期限が過ぎた者を含む。
　二　前回の返却が遅れた者
３　貸出の期間は、３日とする。
（返却）
第４条の２　返却は、閉館の３０分前までに行う。
附　則
１　この規程は、令和６年４月１日から施行する。
別表（第４条関係）
"""


def _passages(text: str, path: str = "rules.txt") -> list[Passage]:
    return list(passages(document_from(path, f"corpus:{path}", text.encode())))


def _unit(text: str) -> tuple[Passage, Unit]:
    return next(
        (passage, unit)
        for passage in _passages(_RULES)
        for unit in passage.units
        if text in unit.text and unit.kind is not UnitKind.LIST
    )


@pytest.mark.parametrize(
    ("text", "section"),
    [
        ("前日までに", ("第２章 利用", "（貸出の手続）")),
        ("３日とする", ("第２章 利用", "（貸出の手続）")),
        ("閉館の３０分前", ("第２章 利用", "（返却）")),
        ("令和６年", ("附 則",)),
    ],
)
def test_a_clause_stands_under_its_caption_and_its_chapter(text: str, section: tuple[str, ...]) -> None:
    assert _unit(text)[0].section[-len(section) :] == section


@pytest.mark.parametrize("mark", ["２", "2"])
def test_a_numbered_paragraph_is_no_part_of_the_items_before_it(mark: str) -> None:
    text = f"第1条　次のものは持ち込めない。\n(1) 火気\n(2) 動物\n{mark}　前項の動物には、盲導犬を含まない。\n"
    units = [unit.text for passage in _passages(text) for unit in passage.units]
    assert "動物" in units
    assert f"{mark}　前項の動物には、盲導犬を含まない。" in units


def test_items_are_marked_by_kanji_and_their_items_by_kana() -> None:
    _, outer = _unit("登録をしていない者")
    _, inner = _unit("登録の期限")
    assert (outer.kind, outer.text) == (UnitKind.ITEM, "登録をしていない者")
    assert outer.context == ("２　次の各号のいずれかに該当する者には、貸し出さない。",)
    assert inner.context[0] == "登録をしていない者"
    assert _unit("前回の返却")[1].context == outer.context


def test_remarks_in_brackets_above_other_text_are_no_captions() -> None:
    text = "# お知らせ\n\n受付は二階です。\n（祝日を除く。）\n（三階ではありません）\n係員がご案内します。\n"
    assert {passage.section for passage in _passages(text, "a.md")} == {("お知らせ",)}


def test_an_article_that_is_cited_in_a_sentence_begins_nothing() -> None:
    text = "# 覚書\n\n費用の負担は、規約の\n第２章に定めるところにより、双方で\n等しく分ける。\n"
    (passage,) = _passages(text, "a.md")
    assert len(passage.units) == 1


_NUMBERED_WIDELY = """１．毎日の点検
　（１）庫内の温度を書く。
　（２）扉を見る。
２．停電のとき
　扉を開けない。
３．交換の時期
　パッキン　　　３年
　送風機　７年
４．持ち物

１．巻尺
２．手袋
"""


def test_a_wide_full_stop_after_a_number_marks_headings_and_items() -> None:
    read = [(passage.section[-1], [unit.text for unit in passage.units]) for passage in _passages(_NUMBERED_WIDELY)]
    sections = {heading: [text for text in texts if "\n" not in text] for heading, texts in read}

    assert sections == {
        "１．毎日の点検": ["庫内の温度を書く。", "扉を見る。"],
        "２．停電のとき": ["扉を開けない。"],
        "３．交換の時期": ["パッキン　　　３年", "送風機　７年"],
        "４．持ち物": ["巻尺", "手袋"],
    }
