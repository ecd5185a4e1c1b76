"""The expense desk: each question finds its entry, and none is answered beyond the policy."""

import time
from pathlib import Path

import pytest

from a2a_hub.agents import settings
from a2a_hub.settings.reader import SettingsError
from a2a_hub.text.language import language_of
from functions.expense.app import KNOWLEDGE
from functions.expense.desk import ExpenseDesk, load
from tests.unit.agent_answers import ask

POLICY = load(KNOWLEDGE)
DESK = ExpenseDesk(POLICY)

QUESTIONS = {
    "What is the expense reimbursement submission deadline?": "deadline",
    "When is the expense reimbursement due?": "deadline",
    "By when must I hand in my expenses for October?": "deadline",
    "What happens if I submit my expense claim late?": "deadline",
    "How many days after a purchase can I still be reimbursed?": "deadline",
    "経費精算の申請期限はいつですか": "deadline",
    "経費の申請っていつまで？": "deadline",
    "ｹｲﾋ精算の締切は？": "deadline",
    "立替経費の精算期日を教えてください": "deadline",
    "先月分の交通費を出し忘れました": "deadline",
    "When will my expenses be paid?": "payment_date",
    "立て替えたお金はいつ振り込まれますか": "payment_date",
    "I lost a receipt. What should I do?": "lost_receipt",
    "領収書をなくした場合はどうすればいいですか": "lost_receipt",
    "レシートしかない場合でも精算できますか": "receipts",
    "Do I need receipts for amounts under 3,000 yen?": "receipts",
    "電子領収書でも大丈夫ですか": "receipt_copies",
    "領収証の宛名は何と書けばよいですか": "receipt_name",
    "What is the per diem for business trips to Singapore?": "per_diem",
    "出張の日当はいくらですか": "per_diem",
    "What is the hotel cost limit for a business trip to Osaka?": "hotel",
    "宿泊費の上限はいくらまで?": "hotel",
    "How do I claim back a taxi fare from last night?": "taxi",
    "タクシー代は経費で落ちますか": "taxi",
    "I missed the last train, can I take a taxi?": "taxi",
    "What does the policy say about business class flights?": "flights",
    "新幹線のグリーン車代は精算対象ですか": "trains",
    "Is the green car reimbursed?": "trains",
    "Which mileage rate applies when I drive my own car to a customer?": "own_car",
    "客先への交通費は精算できますか": "local_transport",
    "定期券代の申請はどうしたらいい?": "commuting",
    "Can I get reimbursed for a client dinner?": "entertainment",
    "接待の上限は": "entertainment",
    "Who has to approve travel expenses above 100,000 yen?": "approval",
    "接待交際費の承認は誰がしますか": "approval_beforehand",
    "How do I settle a cash advance after a trip?": "advance",
    "My expense claim was rejected, how can I correct it?": "returned_claim",
    "My claim was declined": "returned_claim",
    "My corporate card was declined at the hotel": "company_card",
    "インボイス番号のない領収書でも精算できますか": "qualified_invoice",
    "レシートをスキャンした後、原本は捨ててもいいですか": "receipt_copies",
    "領収書を捨ててしまいました": "lost_receipt",
    "レシートを洗濯してしまいました": "lost_receipt",
    "ホテルの領収書が見当たりません": "lost_receipt",
    "ポイントで支払った分は精算できますか": "private_card",
    "Which exchange rate is used for foreign currency?": "currency",
    "法人カードをなくしました": "company_card",
    "旅費精算に必要な書類は何ですか": "attachments",
    "立替払いした費用の精算方法を教えてください": "how_to_submit",
    "Are tips reimbursable abroad?": "tips",
    "Do you reimburse gym memberships?": "not_reimbursed",
    "経費で落とせるものを教えて": "what_is_reimbursed",
    "Do I need approval before a client dinner?": "approval_beforehand",
    "Is the gift for our supplier to be approved in advance?": "approval_beforehand",
    "接待は事前に許可がいりますか": "approval_beforehand",
    "Took a client to a steakhouse, can I expense it?": "entertainment",
    "Can the company pay for my hotel when I visit a customer?": "hotel",
    "Is breakfast included in the hotel limit?": "hotel",
    "When is the money paid?": "payment_date",
    "Until which day can I file my October expense report?": "deadline",
    "What do I need to attach when I ask for my money back?": "attachments",
}


@pytest.mark.parametrize(("question", "topic"), QUESTIONS.items())
def test_a_question_finds_its_entry_and_is_answered_in_its_language(question: str, topic: str) -> None:
    text, data = ask(DESK.answer, question)
    assert data["topic"] == topic
    assert language_of(text) is language_of(question)


def test_the_deadline_stands_in_the_first_sentence() -> None:
    english, data = ask(DESK.answer, "What is the expense reimbursement submission deadline?")
    japanese, _ = ask(DESK.answer, "経費精算の申請期限はいつですか")
    assert "5th business day of the month after" in english.split(". ")[0]
    assert "翌月第5営業日" in japanese.split("。")[0]
    assert data["facts"]["submission_deadline"] == "5th business day of the following month"
    assert data["answer"] == english


@pytest.mark.parametrize(
    ("question", "facts"),
    [
        ("How do I claim a taxi, and who approves it?", ("6,000 yen", "department head")),
        ("What is the hotel limit? And the taxi limit?", ("14,000 yen", "6,000 yen")),
        ("領収書の提出期限と、ついでに日当の金額も教えて", ("翌月第5営業日", "2,500円")),
        ("日当はいくらですか。また、ホテルの上限は?", ("2,500円", "14,000円")),
        ("出張の日当と宿泊費の上限を教えて", ("2,500円", "14,000円")),
        ("申請期限と振込日はいつですか", ("翌月第5営業日", "25日")),
    ],
)
def test_two_questions_get_two_answers_in_their_order(question: str, facts: tuple[str, str]) -> None:
    text, data = ask(DESK.answer, question)
    first, second = text.split("\n\n")
    assert (facts[0] in first, facts[1] in second) == (True, True)
    assert (data["answer"], data["answered"]) == (text, True)


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("I lost a receipt. What should I do?", "lost_receipt"),
        ("I am back from Nagoya with my hotel bill. Until when do I have to hand it in?", "deadline"),
        ("先週の出張の件です。領収書をなくしました。どうすればいいですか。", "lost_receipt"),
        ("取引先との会食の上限は", "entertainment"),
        ("上司と出張する場合の宿泊費の上限は", "hotel"),
    ],
)
def test_what_is_told_before_one_question_is_no_second_question(question: str, topic: str) -> None:
    text, data = ask(DESK.answer, question)
    assert (data["topic"], text.count("\n\n")) == (topic, 0)


_MAIL = "Hi team,\n\nI had dinner with two customers, and took a taxi home.\n\nBest,\nKen\n\n"
_MAIL_JA = "お疲れ様です。\n\n先週、お客様と会食し、タクシーで帰りました。\n\n"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (_MAIL + "Can I get the taxi reimbursed?", "Taxis are reimbursed"),
        (_MAIL_JA + "タクシー代は精算できますか？", "タクシー代は1回6,000円"),
        (_MAIL_JA + "Can I get the taxi reimbursed?", "Taxis are reimbursed"),
        (_MAIL + "Is that reimbursed?", "Client entertainment"),
        ("Is the taxi reimbursed?\n\nI had dinner with two customers.", "Taxis are reimbursed"),
    ],
)
def test_the_paragraph_that_asks_decides_about_the_topic_and_the_language(question: str, answer: str) -> None:
    assert ask(DESK.answer, question)[0].startswith(answer)


@pytest.mark.parametrize("question", ["What is the taxi limit, in one sentence?", "タクシー代の上限を一言で"])
def test_a_brief_answer_is_the_sentence_that_holds_the_fact(question: str) -> None:
    text, data = ask(DESK.answer, question)
    assert "6,000" in text
    assert text.count(". ") + text.count("。") <= 1
    assert data["answer"] == text


@pytest.mark.parametrize(
    "question",
    [
        "ペットのホテル代は経費で落ちますか",
        "Can I expense a hotel for my dog?",
        "Does the company pay back my dog's vet?",
        "経費で犬を飼えますか",
    ],
)
def test_an_expense_that_the_policy_does_not_name_is_not_answered_but_what_it_names_is_listed(
    question: str,
) -> None:
    text, data = ask(DESK.answer, question)
    assert data["answered"] is False
    assert ("submission deadline" if language_of(question) == "en" else "申請期限") in text


@pytest.mark.parametrize(
    "question",
    ["What is the height of Mount Fuji?", "富士山の高さは", "List three tasks for a WBS", "こんにちは"],
)
def test_what_has_nothing_to_do_with_expenses_is_not_answered(question: str) -> None:
    text, data = ask(DESK.answer, question)
    topics = [topic.id for topic in POLICY.topics]
    assert data == {"topic": None, "answered": False, "topics": topics, "declines": "nothing_known"}
    assert not any(character.isdigit() for character in text)


def test_a_text_of_very_many_questions_takes_no_longer_than_one_of_that_length() -> None:
    started = time.process_time()
    for piece in ("? ", "か。", "taxi? ", "and how much is a taxi, "):
        text, _ = ask(DESK.answer, piece * (100_000 // len(piece)))
        assert text
    assert time.process_time() - started < 5


def test_without_a_text_the_agent_asks_back() -> None:
    text, data = ask(DESK.answer, " ")
    assert text.startswith("What would you like to know")
    assert data == {}


def test_every_entry_is_complete_and_has_a_name_of_its_own() -> None:
    assert len({topic.id for topic in POLICY.topics}) == len(POLICY.topics)
    for topic in POLICY.topics:
        assert language_of(topic.answer.en) == "en", topic.id
        assert language_of(topic.answer.ja) == "ja", topic.id
        assert topic.facts, topic.id
        assert "\n" not in topic.answer.en.strip() + topic.answer.ja.strip(), topic.id


def test_an_entry_that_lacks_something_is_refused(tmp_path: Path) -> None:
    (tmp_path / "claims.toml").write_text('[[topics]]\nid = "x"\n')
    with pytest.raises(ValueError, match="rank"):
        load(tmp_path)


def test_settings_report_all_mistakes_at_once() -> None:
    with pytest.raises(SettingsError) as error:
        settings.read({"PORT": "none", "PUBLIC_URL": "ftp://x", "LOG_TEXT": "perhaps"})
    assert all(name in str(error.value) for name in ("PORT", "PUBLIC_URL", "LOG_TEXT"))


def test_the_card_says_where_the_function_is() -> None:
    assert settings.read({}).public_url == "http://127.0.0.1:8080"
    assert settings.read({"PORT": "9000"}).public_url == "http://127.0.0.1:9000"
    assert settings.read({"PUBLIC_URL": "https://x.example/"}).public_url == "https://x.example"
