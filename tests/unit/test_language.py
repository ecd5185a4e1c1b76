"""The language of an answer: that of the question, unless it asks for another."""

import pytest

from a2a_hub.agents.conversation import in_conversation
from a2a_hub.text.language import Language, answer_language, language_of
from functions.expense.app import KNOWLEDGE
from functions.expense.desk import ExpenseDesk, load
from tests.unit.agent_answers import ask

EN, JA = Language.EN, Language.JA
ASKED = {
    "What is the per diem?": EN,
    "日当はいくらですか": JA,
    "What is the per diem? Answer in Japanese.": JA,
    "Please explain the per diem briefly in Japanese": JA,
    "What is the per diem? In Japanese, please.": JA,
    "日当はいくらですか。英語で答えてください": EN,
    "日当を英語で教えて": EN,
    "What is the per diem? 日本語でお願いします": JA,
    "日当はいくらですか\nin English, please": EN,
    "日当はいくらですか\n英語で教えて\nand abroad?": EN,
    "日当はいくらですか\n英語で": EN,
    "日当はいくらですか\n英語で教えて\nじゃあ海外は?": JA,
    "What is the per diem?\nin Japanese, please\nmore": JA,
    "What is the per diem? Answer in Japanese.\nno, answer in English": EN,
    "List three tasks for creating a project WBS in Japanese": JA,
    "Please give me five risks of a website project in Japanese.": JA,
    "WBSのタスクを英語で三つ": EN,
    "主なリスクを英語で挙げてください": EN,
    "主なリスクは？\nin English\n日本語に戻して": JA,
    "？？": JA,
    "Ｐ－２": JA,
    "…!?": EN,
}
NOT_ASKED = {
    "How do I say thank you in Japanese?": EN,
    "What is the list of names in Japanese?": EN,
    "List three invoices in Japanese that were rejected": EN,
    "英語で書いたメールを三つ挙げて": JA,
    "Is the policy written in Japanese or in English?": EN,
    "英語で書かれた領収書でもいいですか": JA,
    "「経費」は英語で何ですか": JA,
}


@pytest.mark.parametrize(("question", "language"), [*ASKED.items(), *NOT_ASKED.items()])
def test_the_language_of_the_answer_is_that_of_the_question_unless_another_is_asked_for(
    question: str, language: Language
) -> None:
    assert answer_language(question) is language


def test_what_is_handed_over_with_a_question_asks_for_no_language() -> None:
    letter = "The invoice was paid. " * 1000
    assert answer_language(f"Answer in Japanese: {letter}") is JA
    assert answer_language(f"{letter}\nAnswer in Japanese.") is JA
    assert answer_language(f"What does this say?\n{letter}Answer in Japanese. {letter}") is EN
    assert answer_language(f"日当はいくらですか\n{letter}") is JA


def test_an_answer_can_be_had_again_in_the_other_language() -> None:
    say = in_conversation(ExpenseDesk(load(KNOWLEDGE)).answer)
    told = [
        ask(say, question, context_id="c")[0]
        for question in ("日当はいくらですか", "英語で教えて", "and in Japanese, please")
    ]
    assert [language_of(text) for text in told] == [JA, EN, JA]
    assert all("2,500" in text for text in told)
