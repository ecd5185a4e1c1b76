"""Ranges of texts and table rows, and the amounts of questions that fall into them."""

import pytest

from a2a_hub.text.normalization import normalise
from functions.docqa.retrieval.ranges import measures, selects


def _selected(question: str, text: str) -> bool | None:
    found = [selects(asked, text) for asked in measures(normalise(question))]
    return True if True in found else False if False in found else None


@pytest.mark.parametrize(
    ("question", "text", "wanted"),
    [
        ("勤続4年の休暇は何日ですか", "3年以上5年未満 | 12日", True),
        ("勤続5年の休暇は何日ですか", "3年以上5年未満 | 12日", False),
        ("勤続3年6か月だと何日？", "3年6か月以上4年6か月未満 | 14日", True),
        ("入社して1年です", "6か月～1年6か月 | 10日", True),
        ("25名で予約したい", "20〜29名 | 5%", True),
        ("Who approves €3,200?", "5,001 - 10,000 EUR | the head", False),
        ("Who approves €3,200?", "10–4,999 | 400", None),
        ("Who approves $3,200?", "Up to €5,000 needs no approval.", None),
        ("80,000円の備品は誰が承認しますか", "5万円以上10万円未満 | 部長", True),
        ("10万円の備品は誰が承認しますか", "5万円以上10万円未満 | 部長", False),
        ("300円です", "500円を超え、3,000円以下", False),
        ("15,000円のとき", "1〜2万円は課長が決裁する。", True),
        ("Is 500,000 yen too much?", "Over 500,000 yen the board decides.", False),
        ("Is 600,000 yen too much?", "Over 500,000 yen the board decides.", True),
        ("70歳です", "65歳以上 | 無料", True),
        ("a stay of 3 days", "2–5 days | 40", True),
        ("a parcel of 7 kg", "more than 5 kg, up to 10 kg | 9.90", True),
        ("a parcel of 5 kg", "more than 5 kg, up to 10 kg | 9.90", False),
        ("availability of 98%", "below 99% but at least 97% | 10% credit", True),
        ("availability of 96%", "99%未満97%以上 | 10%", False),
        ("What changed in 2024?", "1,000–4,999 | 400", None),
        ("12 people", "The hall is open on weekdays.", None),
        ("12 people", "The hall holds 40 people.", None),
        ("I cancel 5 days before", "8 days before or earlier | nothing", False),
        ("I cancel 5 days before", "7 to 3 days before | 220 yen", True),
        ("10日前に取り消す", "20日前〜8日前 | 30%", True),
        ("25日前に取り消す", "乗船日の21日前まで | なし", True),
        ("10日前に取り消す", "乗船日の21日前まで | なし", False),
    ],
)
def test_a_value_selects_the_range_that_holds_it(question: str, text: str, wanted: bool | None) -> None:
    assert _selected(question, text) is wanted


@pytest.mark.parametrize(
    ("text", "neighbour", "wanted"),
    [
        ("over 10 m/s | open", "over 15 m/s | closed", False),
        ("over 15 m/s | closed", "over 10 m/s | open", True),
        ("over 10 m/s | open", "over 20 m/s | evacuated", True),
        ("Roof: over 10 m/s | closed", "Terrace: over 15 m/s | closed", True),
    ],
)
def test_of_the_ranges_that_hold_a_value_the_narrowest_is_selected(text: str, neighbour: str, wanted: bool) -> None:
    (asked,) = measures(normalise("Is it open at 18 m/s?"))
    assert selects(asked, text, [neighbour]) is wanted
