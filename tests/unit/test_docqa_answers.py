"""Answers in quotes: asserted if the quotes settle the question, and otherwise shown as the nearest."""

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from a2a_hub.agents.conversation import in_conversation
from a2a_hub.text.language import Language
from evaluation.documents.measure import SAMPLE_CORPUS, engine, judged
from functions.docqa.app import answers_of
from functions.docqa.engine import DocumentQA
from functions.docqa.model import DocAnswer
from hubctl.live.corpus_questions import Outcome
from tests.fakes.documents import Ask, answering_from
from tests.unit.agent_answers import ask as ask_agent

_RULES = """# Depot rules

## Keys

The keys of the depot are returned within 3 days. However, keys of the cold store are returned on the same day.

## Errors

| Code | Meaning | Who is told |
|---|---|---|
| E4711 | Pump blocked | Maintenance team |
| E4712 | Door open | Gate keeper |

## Visitors

The visitor pass of Aldgate costs 12 euros. The visitor pass of Birchwood costs 15 euros.

Is smoking allowed in the depot?
"""


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    with answering_from(tmp_path_factory.mktemp("corpus"), {"rules.md": _RULES}) as answer:
        yield answer


@pytest.fixture(scope="module")
def sample() -> Iterator[DocumentQA]:
    with closing(DocumentQA(SAMPLE_CORPUS, None)) as engine:
        yield engine


def _quotes(answer: DocAnswer) -> list[str]:
    return [citation.quote for citation in answer.citations]


def test_a_rule_is_told_with_its_exception(ask: Ask) -> None:
    answer = ask("Within how many days are the keys of the depot returned?")
    assert [quote.split()[0] for quote in _quotes(answer)] == ["The", "However,"]
    assert answer.text.startswith("The documents say:\nThe keys of the depot are returned within 3 days. [1]\nHowever,")


def test_a_row_is_shown_under_its_header(ask: Ask) -> None:
    answer = ask("What is the meaning of code E4712?")
    assert answer.text == "The documents say:\nCode: E4712 | Meaning: Door open | Who is told: Gate keeper [1]"


def test_rows_that_are_shown_keep_apart(ask: Ask) -> None:
    assert "E4711 | Pump blocked | Maintenance team / E4712 |" in ask("Who is told of the error code E4713?").text


@pytest.mark.parametrize(
    "question",
    [
        "Who is told of the error code E4713?",
        "How much is the visitor pass of Granton?",
        "How much is the visitor pass?",
        "What does the director of the depot earn?",
        "Is smoking allowed in the depot?",
        "Who repaints the zebra crossing?",
        "",
        "?",
        "the of and",
        '" OR * NEAR(',
        "\x00",
        "はい",
    ],
    ids=["another code", "another name", "two values", "other words", "a question", "nothing", *map(str, range(6))],
)
def test_what_the_quotes_do_not_settle_is_not_asserted(ask: Ask, question: str) -> None:
    answer = ask(question)
    assert (answer.grounded, answer.citations) == (False, ())
    assert all(line in _RULES for each in answer.nearest for line in each.quote.splitlines())


def test_the_nearest_quotes_are_said_to_be_no_answer(ask: Ask) -> None:
    answer = ask("How much is the visitor pass of Granton?")
    assert "would rather not answer it" in answer.text
    assert any("costs 12 euros" in each.quote for each in answer.nearest)


def test_where_nothing_is_near_people_are_told_what_to_add(ask: Ask) -> None:
    assert "Please name the subject or the document" in ask("Quis custodiet?").text
    assert "書き添えて" in ask("あいうえお？").text


def test_figures_alone_are_about_nothing_that_has_only_one_of_them(ask: Ask) -> None:
    assert not any(ask(text).nearest for text in ("3 * 12?", "12", "What's 15% of 12 euros?"))
    assert ask("12 euros?").nearest or ask("12 euros?").citations


@pytest.mark.parametrize(
    "text", ["いまのアメリカの大統領って誰？", "なんか全然役に立たないんだけど", "then remind me at 2:30"]
)
def test_passages_that_say_no_word_of_a_text_are_not_shown(sample: DocumentQA, text: str) -> None:
    assert not sample.answer(text).nearest


@pytest.mark.parametrize("text", ["海外のホテルは一泊いくらまで", "P-1って？", "when may I use a taxi"])
def test_passages_that_say_a_word_of_it_in_either_language_are_shown(sample: DocumentQA, text: str) -> None:
    answer = sample.answer(text)
    assert answer.nearest or answer.citations


def test_a_code_alone_settles_nothing_that_is_asked_of_it(sample: DocumentQA) -> None:
    assert not sample.answer("Who approves a P-2 and can I skip that?").grounded


@pytest.mark.parametrize(
    "text",
    [
        "ありがとう",
        "ありがとうございます！",
        "はじめまして",
        "助かりました",
        "もう一度",
        "ありがとう、助かりました！",
        "ok cool",
        "never mind",
        "キャンセル",
        "確かですか",
        "答えになってない",
    ],
)
def test_what_names_no_thing_is_not_answered_from_letters_that_a_document_shares(sample: DocumentQA, text: str) -> None:
    assert not sample.answer(text).grounded


@pytest.mark.parametrize("text", ["vacation", "Password?", "パスワード", "出張"])
def test_one_word_asks_nothing(sample: DocumentQA, text: str) -> None:
    assert not sample.answer(text).grounded


@pytest.mark.parametrize("text", ["and in Tokyo?", "どこに連絡するの"])
def test_a_follow_up_without_its_question_is_not_answered(sample: DocumentQA, text: str) -> None:
    assert not sample.answer(text).grounded


@pytest.mark.parametrize(
    ("question", "quote", "document"),
    [
        (
            "What is the deadline for notifying the infrastructure team for a P-1 incident?",
            "within 15 minutes of incident detection",
            "corpus:policies/incident-response-policy.md",
        ),
        ("Ｐ－１インシデントの際、インフラチームへの連絡期限は何分以内ですか", "検知から15分以内", ""),
    ],
)
def test_the_deadline_for_p1_comes_from_the_policy_in_force(
    sample: DocumentQA, question: str, quote: str, document: str
) -> None:
    answer = sample.answer(question)
    assert answer.grounded
    assert quote in answer.citations[0].quote
    assert answer.citations[0].uri.startswith(document)


def test_an_edition_that_is_no_longer_in_force_is_told_as_such_to_whom_asks_for_it(sample: DocumentQA) -> None:
    answer = sample.answer("What was the deadline for notifying the infrastructure team for a P-1 incident in 2024?")
    assert "within 30 minutes" in answer.text
    assert "not in force" in answer.text


@pytest.mark.parametrize(
    ("rule", "question", "notice"),
    [
        (
            "# Ferry fares\n\nEffective 1 April 2099\n\n## Bicycles\n\nA bicycle on the ferry costs 7 euros.\n",
            "How much does a bicycle cost on the ferry?",
            "Not yet in force: Ferry fares takes effect on 2099-04-01.",
        ),
        (
            "# 運賃表\n\n2099年4月1日施行\n\n## 自転車\n\n自転車の運賃は700円とする。\n",
            "自転車の運賃はいくらですか",
            "運賃表は2099-04-01から適用されます（まだ効力はありません）。",
        ),
    ],
)
def test_an_answer_from_what_is_not_yet_in_force_tells_from_when_it_is(
    tmp_path: Path, rule: str, question: str, notice: str
) -> None:
    with answering_from(tmp_path, {"fares.md": rule}) as ask:
        answer = ask(question)
        shown = ask(f"{question[:-1]} 2031 XK-7?")
    assert answer.grounded
    assert answer.text.endswith(notice)
    assert not shown.grounded
    assert shown.nearest
    assert shown.text.endswith(notice)


def test_a_passage_that_says_a_word_of_one_kanji_and_kana_is_shown(tmp_path: Path) -> None:
    rule = "# 入館証\n\n## 退職\n\n退職する日に総務課へ返してください。\n"
    with answering_from(tmp_path, {"card.md": rule}) as ask:
        assert ask("それ、いつ返しますか").nearest
        assert not ask("明日は晴れますか").nearest


def test_a_month_selects_no_amount_and_hides_no_passage(tmp_path: Path) -> None:
    rule = "# 旅費\n\n## 宿泊\n\n| 地域 | 上限 |\n|-|-|\n| 大阪 | 14,000円 |\n| 札幌 | 12,000円 |\n"
    with answering_from(tmp_path, {"travel.md": rule}) as ask:
        answer = ask("12月に大阪へ泊まりで行きます。いくらまで出ますか")
    assert not answer.grounded
    assert "14,000円" in answer.nearest[0].quote


def test_an_abstention_speaks_the_language_of_the_question(sample: DocumentQA) -> None:
    assert "控えます" in sample.answer("火星への出張手当はいくらですか?").text
    assert "no passage" in sample.answer("What is the allowance for a trip to Mars?").text
    assert "控えます" in sample.answer("What is the allowance for a trip to Mars?", language=Language.JA).text


# Regression sets; docs/benchmarks.md has the figures of sets that nothing was tuned on.
def test_few_assertions_are_wrong_and_most_answers_are_shown() -> None:
    results = [each for name in ("plant", "museum", "payments", "campus", "pilotage") for each in judged(name, engine)]
    of = Counter((each.question.answerable, each.outcome) for each in results)
    answerable = sum(each.question.answerable for each in results)
    assert of[True, Outcome.RIGHT] >= answerable / 3
    assert of[True, Outcome.WRONG] <= 0.05 * answerable
    assert of[True, Outcome.RIGHT] + of[True, Outcome.SHOWN] >= 0.75 * answerable
    assert of[False, Outcome.ABSTAINED] >= 0.9 * (len(results) - answerable)


@pytest.mark.parametrize(
    ("question", "once_more", "text"),
    [
        ("How often is the on-call rotation changed?", "日本語で教えて", "文書には次のように書かれています"),
        ("在宅勤務の手当はいくら？", "in English", "The documents say, in Japanese:"),
        ("How often is the on-call rotation changed?", "are you sure?", "The documents say:"),
        ("How often is the on-call rotation changed?", "Would it be possible to have that in Japanese?", "（英語）"),
    ],
)
def test_a_request_for_the_same_answer_is_no_part_of_what_is_searched_for(
    sample: DocumentQA, question: str, once_more: str, text: str
) -> None:
    answer = in_conversation(answers_of(sample), alone_first=False)
    first, data = ask_agent(answer, question, context_id="one")
    again, repeated = ask_agent(answer, once_more, context_id="one")
    assert first
    assert data["citations"] == repeated["citations"] != []
    assert text in again


@pytest.mark.parametrize("question", ["How long do we keep support tickets?", "support tickets?"])
@pytest.mark.parametrize("correction", ["no, customer contracts", "No, I meant access logs", "no, lawn mowers"])
def test_what_was_not_meant_is_not_answered_once_more(sample: DocumentQA, question: str, correction: str) -> None:
    answer = in_conversation(answers_of(sample), alone_first=False)
    _, before = ask_agent(answer, question, context_id="one")
    _, after = ask_agent(answer, correction, context_id="one")
    assert before["grounded"]
    assert not after["grounded"] or after["citations"] != before["citations"]


@pytest.mark.parametrize("follow_up", ["who do I phone then?", "and with a helicopter?", "それって上司にも必要ですか"])
def test_a_follow_up_about_something_else_is_not_answered_as_the_question_before(
    sample: DocumentQA, follow_up: str
) -> None:
    answer = in_conversation(answers_of(sample), alone_first=False)
    _, before = ask_agent(answer, "How long do we keep support tickets?", context_id="one")
    _, after = ask_agent(answer, follow_up, context_id="one")
    assert before["grounded"]
    assert not after["grounded"]
