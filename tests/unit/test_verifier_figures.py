"""A figure that no quote has is kept if it follows from the figures of the quotes."""

import pytest

from a2a_hub.grounding.evidence import Evidence
from tests.unit.verified_sentences import flaws

RENTAL = Evidence(
    1, "Snowboard set | 5,800 | 10,000 | 4,000", ("Rental prices in yen", "Item | 1 day | 2 days | Each further day")
)
LESSON = Evidence(1, "プライベート | 2時間 | 26,000", ("スクール料金(円)", "コース | 時間 | 料金"))
SCAN: list[Evidence | str] = ["The scan costs 1,500 yen a minute, the wet gate 400 yen. You have 40 minutes."]
SURCHARGE = Evidence(2, "外国語でのプライベートは3,000円の加算となります。")


@pytest.mark.parametrize(
    ("sentence", "quotes", "is_kept"),
    [
        ("Four days cost 18,000 yen: 10,000 yen for 2 days plus 2 × 4,000 yen.", [RENTAL], True),
        ("Four days cost 19,000 yen: 10,000 yen for 2 days plus 2 × 4,000 yen.", [RENTAL], False),
        ("Four days cost 18,500 yen: 10,500 yen for 2 days plus 2 × 4,000 yen.", [RENTAL], False),
        ("29,000円です（26,000円＋外国語の加算3,000円）。", [LESSON, SURCHARGE], True),
        ("28,000円です（26,000円＋外国語の加算3,000円）。", [LESSON, SURCHARGE], False),
        ("It is one and a half years, as the 3 years are halved.", ["The guarantee of 3 years is halved."], True),
        ("You get 1,280 yen: 40 km × 32 yen per kilometre.", ["The rate is 32 yen per km.", "You drove 40 km."], True),
        ("The price is 76,000 yen: 60,000 yen for 40 minutes plus 16,000 yen.", SCAN, True),
        ("8,000円の2割増しで9,600円です。", ["午前は8,000円です。土日は2割増しです。"], True),
        ("8,000円の2割増しで9,800円です。", ["午前は8,000円です。土日は2割増しです。"], False),
        ("合計797箱です（210＋198＋165＋224箱）。", ["210箱、198箱、165箱、224箱"], True),
        ("合計798箱です（210＋198＋165＋224箱）。", ["210箱、198箱、165箱、224箱"], False),
    ],
)  # fmt: skip
def test_what_is_computed_from_the_quotes_is_kept(
    sentence: str, quotes: list[Evidence | str], *, is_kept: bool
) -> None:
    assert (not flaws(sentence, *quotes)) is is_kept


STOCK = Evidence(1, "LL | 135 | 150", ("サイズ | 在庫(枚) | 発注点(枚)",))
RATES = Evidence(1, "和室10畳 | 18,700 | 23,100", ("部屋 | 平日（円） | 休前日（円）",))
TAX = Evidence(2, "入湯税は大人1名1泊150円。")


WAGON = Evidence(1, "Tank wagon | 24.8 | 65.2", ("Wagon | Tare (t) | Max payload (t)",))
FEES = Evidence(1, "小学生 | 350円 | 450円", ("区分 | 平日 | 土日祝",))
NEW = Evidence(1, "One lifeguard for every 40 swimmers.", ("Conditions of Hire 2026",))
OLD = Evidence(2, "One lifeguard for every 50 swimmers.", ("Conditions of Hire 2023",), in_force=False)


@pytest.mark.parametrize(
    ("sentence", "quotes", "is_kept"),
    [
        ("The tank wagon can carry a payload of 65.2 tonnes.", [WAGON], True),
        ("The tank wagon can carry a payload of 24.8 tonnes.", [WAGON], False),
        ("小学生の平日の入浴料は350円です。", [FEES], True),
        ("小学生の平日の入浴料は450円です。", [FEES], False),
        ("小学生の入浴料は、平日が350円、土日祝が450円です。", [FEES], True),
        ("The current conditions ask for one per 40 swimmers, those of 2023 for one per 50.", [NEW, OLD], True),
        ("One lifeguard is needed for every 50 swimmers.", [NEW, OLD], False),
        ("Nitrate has to stay below 10 mg/L.", [Evidence(1, "Reef | < 10", ("Tank | Nitrate (mg/L)",))], True),
        (
            "eGFRが45mL/分未満の方は参加できます。",
            ["Participants with an eGFR below 45 mL/min are not eligible."],
            False,
        ),
        (
            "eGFRが45mL/分未満の方は参加できません。",
            ["Participants with an eGFR below 45 mL/min are not eligible."],
            True,
        ),
        ("Nitrate has to stay below 10 g/L.", [Evidence(1, "Reef | < 10", ("Tank | Nitrate (mg/L)",))], False),
        ("食品部門の従業員は74人です。", [Evidence(1, "食品 | 74", ("部門 | 従業員数(人)",))], True),
        ("A request must be here five days ahead at the latest.", ["At least five days in advance."], True),
        ("601kcalから588kcalになりました。", ["新 | 588kcal", "旧 | 601kcal"], True),
        ("The batch expires on 15 January 2027.", ["Batch | 15.01.2027"], True),
        ("LLは在庫135枚で発注点150枚を下回っています。", [STOCK], True),
        ("LLは在庫135枚で発注点150枚を上回っています。", [STOCK], False),
        ("合計は37,700円で、1名様18,700円×2名と入湯税150円×2名の合計です。", [RATES, TAX], True),
        ("合計は38,700円で、1名様18,700円×2名と入湯税150円×2名の合計です。", [RATES, TAX], False),
        ("Two rooms, the twin and the suite, are free.", [Evidence(n, f"{n} | free") for n in (1, 2)], True),
        ("P3 fell by 3 points, from 70 to 67.", ["P3 | 70 | 67"], True),
        ("OEE rose by 4 points, from 70 to 67.", ["OEE | 70 | 67"], False),
        ("期限は翌々日です。", ["期限は納品日の翌日とする。"], False),
        ("Interest is 2.5 percent per month.", ["遅延利息は年2.5パーセントとする。"], False),
        ("The fine is €5 or 2 %, whichever is lower.", ["A fine of 2 % or €5, whichever is the greater."], False),
        ("雨具は、心配な場合に持たせればよいことになっています。", ["雨具は必ず持たせてください。"], False),
        ("To free space, delete snapshots by hand.", ["Do not delete snapshots by hand."], False),
        (
            "任意解約は、早くても2027年1月15日からです。",
            ["Termination is possible, but not before 15 January 2027."],
            True,
        ),
        ("The drug is given once a day.", ["Drug | once daily"], True),
        ("二枚貝は85度で1分30秒加熱します。", ["二枚貝は85℃で1分30秒とする。"], True),
        ("敷金は賃料の2か月分に当たります。", ["賃料は月額12万8,000円とする。", "敷金は25万6,000円とする。"], True),
        ("敷金は賃料の3か月分に当たります。", ["賃料は月額12万8,000円とする。", "敷金は25万6,000円とする。"], False),
        ("No fee is taken even on the day itself.", ["当日でも取消料をいただかない。"], True),
        (
            "Bookings before 1 May follow the old rule.",
            ["It is for bookings from 1 May.", "それより前は旧規程による。"],
            True,
        ),
    ],
)
def test_figures_are_compared_counted_and_reckoned(
    sentence: str, quotes: list[Evidence | str], *, is_kept: bool
) -> None:
    assert (not flaws(sentence, *quotes)) is is_kept


def test_figures_may_come_from_the_question() -> None:
    assert not flaws(
        "For your 7 visitors badges are free.", "Badges are free for visitors.", question="We are 7. Cost?"
    )


@pytest.mark.parametrize(
    ("sentence", "header", "row"),
    [
        ("It may stay in the shed for up to four hours.", "Tram | Max. time in shed (h)", "A | 4"),
        ("質料は月5％です。", "融資額 | 質料(月・%)", "10万円以下 | 5.0"),
        ("家具の粗利率は28.8％です。", "売場 | 売上高（千円） | 粗利率（％）", "家具 | 274,800 | 28.8"),
    ],
)
def test_a_bare_figure_has_the_unit_that_its_columns_name_ends_in(sentence: str, header: str, row: str) -> None:
    assert not flaws(sentence, Evidence(1, row, ("Rules", header)))
