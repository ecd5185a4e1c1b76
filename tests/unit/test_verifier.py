"""A sentence is kept if it says nothing but what its quotes say, in whichever words, numerals and language."""

import pytest

from a2a_hub.grounding.evidence import Evidence, Sentence
from a2a_hub.grounding.verifier import verify
from tests.unit.verified_sentences import flaws

LEAVE = (
    "Employees may carry over up to five days of unused annual leave, if they request it in writing before 31 January."
)
PASSWORDS = (
    "Section 4.2: Passwords shall have at least 14 characters and should be changed every 180 days. "
    "Passwords must not be shared with anyone, including IT staff."
)
BADGES = "The visitor badge must be returned to reception no later than 18:00 on the day of the visit."
GYM = "Contractors are not permitted to use the gym. Permanent employees can use it free of charge until 10 p.m."
FOOTAGE = "監視カメラの映像は原則30日間保存し、捜査機関から要請があった場合を除き、第三者に提供しない。"
REMOTE = "第12条の2　在宅勤務を希望する者は、前週の金曜日までに所属長の承認を得なければならない。"
SIDE_JOB = "社員は、会社の許可なく副業を行ってはならない。"
FEE = "入館証を紛失した者は、24時間以内に総務部に届け出なければならず、再発行手数料2,200円（税込）を負担する。"
ALLOWANCE = "令和8年4月1日から、通勤手当の上限は月額3万円とする。"
RATE = "The rate is 3.5 % for deposits of JPY 10 million or more and 2 % for smaller amounts."
DUES = "組合費は基本給の百分の二とし、毎月二十五日に給与から控除する。"
SIGN_OFF = "Travel above EUR 1.5 million requires the approval of both the CFO and the General Counsel."
CHECKED = "差異率が0.5%を超えたときは、倉庫長が3営業日以内に原因を調査して報告する。"


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("Up to 5 days of unused annual leave can be carried over if requested in writing before January 31.", LEAVE),
        ("Personal files stay shut for three decades.", "Files remain closed for 30 years."),
        ("After 14 days returns are no longer accepted.", "Returns are accepted within 14 days of delivery."),
        ("Above €5,000 you need at least three quotes.", "A minimum of three quotes is required above €5,000."),
        ("Late applications (after 31 May) won't be considered.", "Applications after 31 May will not be considered."),
        ("The second floor is closed to visitors.", "蔵の2階には入れません。"),
        ("You have to be at least 18 to take part.", "18歳以上の方が参加できます。"),
        ("They cost $72, not including shipping.", "Three cost $72. Prices do not include shipping."),
        ("24万食です。", "月産（千食） | 240千食"),
        ("The belt is checked once a month.", "ベルトの張りは月1回点検してください。"),
        ("可燃ごみは、火曜日と金曜日に収集されます。", "松ヶ丘 | 火・金 | C-5"),
        ("忘れ物は7日間営業所で保管されます。", "忘れ物は営業所で7日間保管します。"),
        ("7秒以内です。", "Slalom | 8 s or less | 7 s or less"),
        ("The shift takes eight hours.", "Each shift is 8h."),
        ("双胴艇の額は616,000円の1.5倍で、924,000円です。", "単胴艇は616,000円、双胴艇は上表の1.5倍とする。"),
        ("616,000円に1.5を掛けて924,000円です。", "単胴艇は616,000円、双胴艇はその1.5倍とする。"),
        ("時速30キロまで出せます。", "The speed limit is 30 km/h."),
        ("飲酒したあとの入浴は控えるよう求められています。", "飲酒後の入浴はご遠慮ください。"),
        ("It is halted when the wind exceeds 15 metres per second.", "風速が毎秒15メートルを超えた場合は運転を中止する。"),
        ("未使用の年次休暇は、1月31日より前に書面で申請すれば、最大5日まで繰り越せます。", LEAVE),
        ("Passwords need to have a minimum of 14 characters.", PASSWORDS),
        ("It is recommended to change passwords every 180 days.", PASSWORDS),
        ("パスワードは180日ごとに変更することが推奨されます。", PASSWORDS),
        ("Sharing passwords with anyone is prohibited, including with IT staff.", PASSWORDS),
        ("Visitor badges have to be returned to reception by 6 pm on the day of the visit.", BADGES),
        ("来訪者バッジは、訪問当日の午後6時までに受付へ返却しなければなりません。", BADGES),
        ("The gym can be used by permanent employees free of charge until 22:00.", GYM),
        ("Contractors cannot use the gym.", GYM),
        ("捜査機関の要請がある場合を除いて、映像は第三者に提供されません。", FOOTAGE),
        ("Camera footage is kept for 30 days in principle.", FOOTAGE),
        ("第12条の2によれば、所属長の承認を前週金曜日までに得る必要があります。", REMOTE),
        ("Those who wish to work from home must obtain approval by Friday of the preceding week.", REMOTE),
        ("いいえ、会社の許可がなければ副業はできません。", SIDE_JOB),
        ("A side job requires the company's permission.", SIDE_JOB),
        ("再発行の手数料は税込2,200円です。", FEE),
        ("From 1 April 2026 the commuting allowance is capped at 30,000 yen a month.", ALLOWANCE),
        ("2026年4月1日から、通勤手当は月額30,000円が上限です。", ALLOWANCE),
        ("Deposits of at least 10,000,000 yen bear 3.5 percent.", RATE),
        ("Union dues are 2 percent of basic pay and are deducted on the 25th of each month.", DUES),
        ("Travel over €1,500,000 needs to be approved by both the CFO and the General Counsel.", SIGN_OFF),
        ("If the rate exceeds 0.5 percent, the warehouse manager reports within three business days.", CHECKED),
        ("The generator lasts for a day and a half.", "The generator lasts for 18 hours, then for 1.5 days."),
        ("You have two days to reply.", "You have 48 hours to reply."),
        ("Call by a quarter past eight in the evening.", "Call by 20:15."),
        ("The pool is shut from August 3 to August 21.", "The pool is closed from 3 to 21 August 2026."),
        ("A gift of exactly 50 euros is allowed.", "Gifts of more than 50 euros are not allowed."),
        ("Late items cost €0.20 a day.", "For late return, 20 cents per item and day are charged."),
    ],
)  # fmt: skip
def test_a_faithful_sentence_is_kept(sentence: str, quote: str) -> None:
    assert not flaws(sentence, quote)


ROWS = "Class | Entry fee\n17 Heather honey | £2.00\n22 Beeswax candles | £2.50"
LAPSE = "Requests must arrive 14 days before the event. Late ones are settled by the 10th of the following month."
CLOSING = (
    "Open from 09:00 to 18:00. Last admission is 60 minutes before closing. Tell the desk by 16:00 on the previous day."
)


@pytest.mark.parametrize(
    ("sentence", "question", "quote"),
    [
        ("Please ask by 6 October.", "We plan an event on 20 October.", LAPSE),
        ("For July they are settled by 10 August.", "When are the late ones of July settled?", LAPSE),
        ("Be there by five in the afternoon.", "When is the last admission?", CLOSING),
        (
            "You can get in until twenty to five.",
            "And until when?",
            "Admission ends at 17:00, the till closes 20 minutes earlier.",
        ),
        ("It is open for nine hours.", "How long is it open?", "Open from 09:00 to 18:00."),
        ("Tell them on Wednesday.", "I cannot come on Thursday. When do I say so?", CLOSING),
        ("It starts at half past one.", "When does it start?", "The tour starts at 13:30."),
        ("That comes to €16,000.", "I have 50 ares. What do I pay?", "The levy is €3,200 for 10 ares."),
        ("You save £7.", "How much do I save with a card of 10?", "A ticket is £5.50. A card of 10 is £48."),
        (
            "35,400円です:(62円 − 3円)× 600kg。",
            "煎茶600kgでいくら？",
            "加工料は1kg当たり62円とし、500kg以上は3円を引く。",
        ),
        ("93.4%で、94.6%より下がりました。", "上がった？", "2025年は93.4%、2024年は94.6%であった。"),
        ("Candles in class 22 cost £2.50.", "What is the fee for candles?", ROWS),
        ("No, guests may not vote.", "May guests vote?", "Members may vote if they are present; guests may not."),
        ("ー です。", "？", "値は ー です。"),
        ("The standard room is €80.", "And without the balcony?", "Room | Price\nStandard | €80\nWith balcony | €95"),
        ("Please reply as soon as you can.", "When?", "できるだけ早くご返信ください。"),
        ("Send it by 28 February.", "When?", "Send it on the day before 1 March."),
        ("5月4日までに出します。", "いつまで？", "5月3日の翌日までに出す。"),
        ("Half of it is kept, €20.", "What is kept?", "€40 are paid; half is kept."),
        ("年額3,600円なので、月あたりでは300円になります。", "月あたりでは？", "会費は年額3,600円とする。"),
        ("撮影料5,500円の50％、つまり2,750円です。", "当日は？", "撮影料は5,500円。当日の取消しは50％を申し受けます。"),
        ("£85 and half of £48, so £109 in total.", "Both?", "A cello is £85, a violin £48. The cheaper one is half."),
        (
            "A rack there costs $170 more: $1,150 compared with $980.",
            "How much more?",
            "Hall B is $980, Hall C $1,150.",
        ),
        ("合計390シンガポールドルです。", "再受験も含めて？", "The exam fee is SGD 240; a resit costs SGD 150."),
        (
            "No, your 5-year-old may not enter it.",
            "can my 5 yr old come along",
            "Children under 6 may not enter the vault.",
        ),
        ("大人340円、小児170円で、あわせて510円です。", "2人でいくら？", "大人は340円、小児は170円です。"),
        ("That makes six readings in 24 hours.", "How many in 24 hours?", "Readings are logged every 4 hours."),
        ("収入が186万円、支出が152万円で、34万円の黒字です。", "赤字？", "収入は186万円、支出は152万円であった。"),
        ("最低請求は2時間です。", "いくらから？", "The minimum charge is two hours."),
        ("到着が6:15から6:45に変わります。", "いつ？", "到着の目安を6:15から6:45に変更する。"),
        ("It costs you £90 more every month.", "Large or medium?", "Room | Rent (£)\nMedium | 129\nLarge | 219"),
        (
            "The harvest of the year before was 374 tonnes.",
            "Harvest?",
            "A harvest of 412 tonnes, 38 more than last year.",
        ),
        ("敷地は75,000平方メートルです。", "広さは？", "The site covers 7.5 hectares."),
        ("It has gone up from two years to three.", "How long?", "Guarantee: 36 months; until then 24 months."),
        ("You never pay more than €21 a day.", "And all day?", "Car park | Day maximum (€)\nForecourt | 21.00"),
        ("It costs S$295 a month.", "How much?", "plan | monthly_sgd\nhot desk | 295"),
        ("6 hours fall under 4 to 24 hours, so 50%.", "I cancel 6 hours before", "4 to 24 hours | 50%"),
        ("Oslo's are cheaper by 200 kr.", "Which are cheaper?", "Size | Oslo | Bergen\nLarge | 800 kr | 1,000 kr"),
        ("箱のほうが5営業日長く、違います。", "何営業日違う？", "ラベルは10営業日、箱は15営業日とする。"),
        ("時間は入退場を含みません。", "何分？", "時間は入退場を含まない。"),
        ("区分Eは回数の制限がありません。", "何回？", "区分Eは回数の制限を設けないとする。"),
        ("Version 5 reduced it from 12 to 8 hours.", "How long?", "v5: validity reduced from 12 to 8 hours."),
    ],
)
def test_what_follows_from_quotes_and_question_is_kept(sentence: str, question: str, quote: str) -> None:
    assert not flaws(sentence, quote, question=question)


@pytest.mark.parametrize(
    ("sentence", "question", "quote", "flaw"),
    [
        ("Please ask by 7 October.", "We plan an event on 20 October.", LAPSE, "date"),
        ("Be there by four in the afternoon on Sunday.", "When is the last admission?", CLOSING, "weekday"),
        ("Be there by half past four.", "When is the last admission?", CLOSING, "time"),
        ("Tell them on Tuesday.", "I cannot come on Thursday. When do I say so?", CLOSING, "weekday"),
        ("That comes to €17,000.", "I have 50 ares. What do I pay?", "The levy is €3,200 for 10 ares.", "number"),
        ("A card for 10 visits costs €480.", "A card for 10 visits?", "A card for ten visits costs €48.", "number"),
        ("Send it by 2 March.", "When?", "Send it on the day before 1 March.", "date"),
        ("5月2日までに出します。", "いつまで？", "5月3日の翌日までに出す。", "date"),
        ("Half of the fee is refunded.", "How much?", "25% of the fee is refunded.", "number"),
        ("It costs HK$295.", "How much?", "A desk costs S$295.", "unit"),
        ("Plans go up no more than 12 days before.", "When?", "Plans are posted at least 12 days before.", "boundary"),
        ("In the morning it costs 900 yen per hour.", "How much?", "区分 | 午前（9時～12時）\n会議室 | 900円", "unit"),
        ("Candles in class 22 cost £2.00.", "What is the fee for candles?", ROWS, "number"),
        ("It is due on 3 May 2026.", "When?", "It is due 99999999999 days after 1 May 2026.", "date"),
        ("It is due on 3 May 2026.", "When?", "It is due 36,000 days before 1 May 0050, after 2 May 9999.", "date"),
    ],
)
def test_what_does_not_follow_is_rejected(sentence: str, question: str, quote: str, flaw: str) -> None:
    assert flaw in flaws(sentence, quote, question=question)


@pytest.mark.parametrize(
    ("sentence", "quote", "flaw"),
    [
        ("Employees may carry over up to six days of unused annual leave.", LEAVE, "number"),
        ("Employees may carry over up to five weeks of unused annual leave.", LEAVE, "number"),
        ("1月30日より前に申請すれば5日まで繰り越せます。", LEAVE, "date"),
        ("Employees may carry over at least five days of unused annual leave.", LEAVE, "boundary"),
        ("Employees must carry over up to five days of unused annual leave.", LEAVE, "modality"),
        ("Employees may not carry over unused annual leave.", LEAVE, "negation"),
        ("Passwords must be changed every 180 days.", PASSWORDS, "modality"),
        ("パスワードは14文字以下でなければなりません。", PASSWORDS, "boundary"),
        ("According to Section 4.3, passwords shall have at least 14 characters.", PASSWORDS, "clause"),
        ("Visitor badges must be returned by 8 pm.", BADGES, "time"),
        ("来訪者バッジは18時までに受付へ返却できます。", BADGES, "modality"),
        ("Contractors are permitted to use the gym.", GYM, "negation"),
        ("請負業者は社内ジムを利用できます。", GYM, "negation"),
        ("捜査機関から要請があった場合を除き、映像は第三者に提供される。", FOOTAGE, "negation"),
        ("第12条によれば、前週の金曜日までに所属長の承認を得なければなりません。", REMOTE, "clause"),
        ("在宅勤務を希望する者は、所属長の承認を得る必要はありません。", REMOTE, "modality"),
        ("入館証を紛失した場合は、24時間以内に人事部へ届け出る必要があります。", FEE, "name"),
        ("再発行の手数料は2,200円（税抜）です。", FEE, "opposite"),
        ("平成8年4月1日から、通勤手当の上限は月額3万円です。", ALLOWANCE, "date"),
        ("2026年4月1日から、通勤手当の上限は月額3千円です。", ALLOWANCE, "number"),
        ("通勤手当の上限は年額3万円です。", ALLOWANCE, "opposite"),
        ("1,000万円を超える預金の金利は3.5%です。", RATE, "boundary"),
        ("Union dues are 20 percent of basic pay.", DUES, "number"),
        ("Travel above USD 1.5 million requires the approval of both the CFO and the General Counsel.", SIGN_OFF, "unit"),
        ("Travel above EUR 1.5 million requires the approval of either the CFO or the General Counsel.", SIGN_OFF, "either"),
        ("差異率が0.5%以上のときは、倉庫長が3営業日以内に報告する。", CHECKED, "boundary"),
        ("差異率が0.5%を超えたときは、3日以内に報告する。", CHECKED, "unit"),
        ("Users pay 38 cents per kilometre.", "Users pay 38 cents per mile.", "unit"),
        ("Two warnings oblige the board to dismiss.", "The board may dismiss after two warnings.", "modality"),
        ("A ticket can be passed on.", "A ticket is non-transferable.", "negation"),
        ("18歳未満の方が参加できます。", "18歳以上の方が参加できます。", "boundary"),
        ("遅れた申込みは必ず断られます。", "Late requests may be declined.", "modality"),
        ("会員でない方も利用できます。", "会員でない方は利用できません。", "negation"),
        ("Everybody pays for the badge, even visitors.", "The badge costs $5. This does not apply to visitors.", "exception"),
        ("Wellington boots are compulsory.", "We suggest that children bring wellington boots.", "modality"),
        ("必ず水筒を持たせなければなりません。", "水筒を持たせることをおすすめします。", "modality"),
        ("年3回の草刈りでは除草剤を使用します。", "草刈りは年3回行います。除草剤は使用しません。", "negation"),
        (
            "純正以外の材料による故障も無償修理の対象になります。",
            "純正以外の材料による故障は、無償修理の対象になりません。",
            "negation",
        ),
        (
            "Strings have to be replaced by the player, and all other repairs must be done by the workshop.",
            "Strings may be replaced by the player; all other repairs must be done by our workshop.",
            "modality",
        ),
    ],
)  # fmt: skip
def test_a_corrupted_sentence_is_rejected(sentence: str, quote: str, flaw: str) -> None:
    assert flaw in flaws(sentence, quote)


@pytest.mark.parametrize(
    ("sentence", "is_kept"),
    [
        ("営業部の予算は450万円です。", True),
        ("The sales department's budget is 4.5 million yen.", True),
        ("営業部の予算は4,500円です。", False),
        ("営業部の予算は4,500万円です。", False),
        ("営業部の予算は4,500千ドルです。", False),
    ],
)
def test_a_columns_name_gives_a_figure_its_unit_and_scale(sentence: str, is_kept: bool) -> None:
    row = Evidence(1, "営業部 | 4,500 | 120", ("2026年度予算", "部門 | 予算（千円） | 人員（名）"))
    assert (flaws(sentence, row) == []) == is_kept


def test_a_note_beside_a_table_gives_its_bare_figures_their_unit() -> None:
    row = Evidence(1, "10m以上12m未満 | 616,000 | 319,000", ("全長 | 年額 | 半年払い",))
    note = Evidence(2, "金額は税込み(円)")
    assert not flaws("年額616,000円です。", row, note)
    assert flaws("年額616,000ドルです。", row, note) == ["unit"]
    assert (
        flaws("年額616,000円です。", row)
        == flaws("年額616,000円です。", row, Evidence(2, "30円の切手を貼る。"))
        == ["unit"]
    )


def test_a_bare_figure_of_the_question_gets_no_unit_from_a_column() -> None:
    row = Evidence(1, "Adults | 12", ("Group | Entry fee (EUR)",))
    assert flaws("The entry fee is €7.", row, question="We are 7. What does it cost?")


def test_bare_figures_of_a_table_are_reckoned_with_in_their_columns_unit() -> None:
    row = Evidence(1, "冷凍 | 7,800 | 5パレット", ("温度帯 | 1パレット月額（円） | 最低契約",))
    question = "冷凍で8パレット預けると月いくらですか。"
    assert not flaws("冷凍は1パレット月額7,800円ですので、8パレットで月62,400円です。", row, question=question)
    assert flaws("8パレットで月62,500円です。", row, question=question) == ["number"]


def test_an_id_that_was_not_given_is_forged() -> None:
    evidence = {1: Evidence(1, BADGES)}
    assert verify(Sentence(BADGES, (1, 2)), evidence, question="") == ("forged_id",)
    assert verify(Sentence(BADGES, ()), evidence, question="") == ("forged_id",)


@pytest.mark.parametrize(
    ("sentence", "question", "is_kept"),
    [
        ("The allowance is 4,000 yen.", "What is the allowance?", False),
        ("The allowance was formerly 4,000 yen.", "What is the allowance?", True),
        ("The allowance is 4,000 yen.", "What is the allowance in the rules of 2019?", True),
        ("The allowance of 4,000 yen still applies.", "What is the allowance in the rules of 2019?", False),
        ("The allowance is currently 4,000 yen.", "What was the allowance in the rules of 2019?", False),
        ("The allowance rose from 4,000 yen.", "How did the allowance change, compared with the rules before?", True),
        ("手当は4,000円です。", "前の規則では手当はいくらでしたか", True),
    ],
)
def test_a_former_edition_is_cited_as_such_only(sentence: str, question: str, is_kept: bool) -> None:
    old = Evidence(1, "The allowance is 4,000 yen.", ("Travel Rules 2019",), in_force=False)
    assert (flaws(sentence, old, question=question) == []) == is_kept


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("いいえ、支払方法は現金のみのため、カードは使えません。", "支払方法 | 現金のみ"),
        ("前日までなら無料で取り消せます。", "It can be cancelled without charge until the day before."),
        ("おとりを買える店は、もう1か所あります。", "おとりを買える店はもう一つある。"),
    ],
    ids=["a consequence", "free of charge", "one more"],
)
def test_what_follows_from_a_quote_is_kept(sentence: str, quote: str) -> None:
    assert not flaws(sentence, quote)


BURIAL = Evidence(
    1, "Under a shared tree | 480 | 140,000 yen | none", ("Fees", "Kind | Places | Fee per person | Yearly charge")
)


@pytest.mark.parametrize(
    "sentence", ["There are 480 places under a shared tree.", "There is no yearly charge under a shared tree."]
)
def test_a_negation_in_one_cell_of_a_row_denies_no_other(sentence: str) -> None:
    assert not flaws(sentence, BURIAL)


@pytest.mark.parametrize(
    ("sentence", "quote", "question"),
    [
        ("Yes, the limit is 5,000 yen per night.", "The hotel limit is 3,000 yen per night.", "Is the limit 5000?"),
        ("You must apply 10 days before.", "Apply 14 days before the event.", "We are 10, when must we apply?"),
        ("The fee would be 80 %.", "The fee is 20 %. A deposit of 5 % is due.", "What is the fee?"),
    ],
)
def test_a_bare_number_of_the_question_and_an_idle_word_bear_out_nothing(
    sentence: str, quote: str, question: str
) -> None:
    assert flaws(sentence, quote, question=question)


@pytest.mark.parametrize(
    ("sentence", "is_kept"),
    [
        ("The pass is valid until Sunday, 4 October 2026.", True),
        ("The pass is valid until Monday, 4 October 2026.", False),
        ("Passes from March 2026 end in March 2028.", True),
        ("Passes from March 2026 end in May 2028.", False),
        ("The desk is open for four hours, from 18:00 to 22:00.", True),
        ("The desk is open for three hours, from 18:00 to 22:00.", False),
        ("For 12 stamps at 20p each you pay £2.40 in total.", True),
        ("For 12 stamps at 20p each you pay £5.70 in total.", False),
    ],
)
def test_what_the_calendar_and_the_units_make_of_a_figure_follows(sentence: str, *, is_kept: bool) -> None:
    quote = (
        "Passes end 24 months after purchase; the last is valid until 4 October 2026. "
        "The desk opens 18:00–22:00. Stamps cost 20p."
    )
    assert (not flaws(sentence, quote, question="I bought a pass in March 2026, and 12 stamps?")) is is_kept


@pytest.mark.parametrize(
    ("sentence", "is_kept"),
    [
        ("A tanker pays at least €2,400.", True),
        ("A tanker pays more than €2,400.", False),
        ("A tanker may stay for at most 8 days.", True),
        ("A tanker may stay for at least 8 days.", False),
    ],
)
def test_the_name_of_a_column_is_the_limit_of_its_figures(sentence: str, *, is_kept: bool) -> None:
    row = Evidence(1, "Tanker | 2,400 | 8", ("Vessel | Minimum charge (EUR) | Maximum stay (days)",))
    assert (not flaws(sentence, row)) is is_kept


@pytest.mark.parametrize(
    ("sentence", "quote", "is_kept"),
    [
        ("With less than 24 hours to go you pay ¥4,000.", "24時間前を過ぎてからの取消しは4,000円を請求する。", True),
        ("予約は少なくとも2時間からです。", "最短の予約時間は2時間とする。", True),
        ("The cover ends after 3 years.", "The cover ends after the 3 years.", True),
        ("Before 1 May it was £4.", "Since 1 May it is £5 (previously £4).", True),
        ("48時間が過ぎれば、調理に戻れます。", "症状が消えて48時間を経過するまで調理に従事してはならない。", True),
        ("できれば電話をするとよいでしょう。", "電話をしなければならない。", False),
        ("The office is bound to extend the loan.", "The office may extend the loan.", False),
        ("ペットは入館できません。", Evidence(1, "ペット", ("入館できない方",)), True),
        ("電源は発電機でまかないます。", "停電中の電源は発電機でまかないます。", True),
        ("The generator covers the power.", "停電中の電源は発電機でまかないます。", True),
        ("Houses built in or after April 2018 pay half.", "2018年4月以降に建てられた家は半額を負担する。", True),
        ("50歳以上は12か月有効です。", Evidence(1, "From 50 years | 12", ("Age | Valid (months)",)), True),
        ("60歳以上は12か月有効です。", Evidence(1, "From 50 years | 12", ("Age | Valid (months)",)), False),
        (
            "481 to 720 hours pay 7.1 yen per kWh.",
            Evidence(1, "481 to 720 | 7.1", ("Hours | Pay (yen per kWh)",)),
            True,
        ),
        (
            "481 to 720 minutes pay 7.1 yen per kWh.",
            Evidence(1, "481 to 720 | 7.1", ("Hours | Pay (yen per kWh)",)),
            False,
        ),
        ("A regular 煮干し醤油 costs 930 yen in the shop.", Evidence(1, "煮干し醤油 | 930", ("麺類(円)",)), True),
    ],
)
def test_limits_and_duties_are_read_in_other_words(sentence: str, quote: Evidence | str, *, is_kept: bool) -> None:
    assert (not flaws(sentence, quote)) is is_kept


def test_what_a_sentence_repeats_it_does_not_turn_around() -> None:
    quote = "Vehicles of more than 2 and up to 4 tonnes need a permit for the day."
    assert not flaws("はい、入れますが、2トンを超え4トンまでの車両にはその日の許可が必要です。", quote)
    assert flaws("2トンを超え4トンまでの車両は自由に入れます。", quote)


@pytest.mark.parametrize(
    "text", ["1,", "1〜2日", "may not ", "以上を超えない", "a-1/", "not (1) ", "第一条の二", "five and "]
)
def test_what_repeats_itself_is_checked_like_any_other_sentence(text: str) -> None:
    assert not flaws(text * 100, text * 400)
