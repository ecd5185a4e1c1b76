"""An agent in a conversation: what a follow-up is answered with, and whose questions it never takes up."""

from collections.abc import Callable, Iterator
from typing import Any

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import SendMessageRequest, text_of
from a2a_hub.a2a.reply import Data, Piece, Text
from a2a_hub.agents.conversation import LastTurns, in_conversation, turns_after
from functions.expense.app import KNOWLEDGE as POLICY
from functions.expense.desk import ExpenseDesk
from functions.expense.desk import load as load_policy
from functions.pm.advisor import Advisor
from functions.pm.advisor import load as load_practices
from functions.pm.app import KNOWLEDGE as PRACTICES
from tests.unit.agent_answers import Answer, ask


def knows(*words: str) -> Answer:
    """An agent that repeats a question in which one of the words stands, and has no answer to any other."""

    def answer(request: SendMessageRequest, call: Call) -> Iterator[Piece]:
        question = text_of(request.message)
        yield Text(question)
        yield Data({"answered": any(word in question for word in words)})

    return answer


def conversation(answer: Answer, context_id: str | None = "one") -> Callable[[str], tuple[str, dict[str, Any]]]:
    return lambda question: ask(answer, question, context_id=context_id)


def test_a_follow_up_without_an_answer_of_its_own_is_answered_together_with_the_question_before() -> None:
    say = conversation(in_conversation(knows("per diem")))
    say("What is the per diem?")
    assert say("and abroad?") == (
        "What is the per diem?\nand abroad?",
        {"answered": True, "understoodAs": "What is the per diem?\nand abroad?"},
    )


def test_a_follow_up_with_an_answer_of_its_own_gets_that_and_is_what_the_next_one_takes_up() -> None:
    say = conversation(in_conversation(knows("per diem", "hotel")))
    say("What is the per diem?")
    assert say("and how about hotels?") == ("and how about hotels?", {"answered": True})
    assert say("and abroad?")[0] == "and how about hotels?\nand abroad?"


def test_an_agent_that_finds_something_for_nearly_every_text_is_asked_what_is_meant_at_once() -> None:
    say = conversation(in_conversation(knows(""), alone_first=False))
    say("What is the per diem?")
    assert say("and how about hotels?")[0] == "What is the per diem?\nand how about hotels?"


def test_another_subject_is_asked_about_in_the_place_of_the_first_before_both() -> None:
    say = conversation(in_conversation(knows("開館時間は", "休館日"), alone_first=False))
    say("北館の開館時間は？")
    assert [say("南館は？")[0], say("休館日は？")[0]] == ["南館の開館時間は?", "休館日の開館時間は?"]


def test_what_was_said_of_one_subject_is_not_said_of_another() -> None:
    def answer(request: SendMessageRequest, call: Call) -> Iterator[Piece]:
        is_known = "北館" in text_of(request.message)
        yield Text("北館は9時からです" if is_known else "わかりません")
        yield Data({"answered": is_known})

    say = conversation(in_conversation(answer, alone_first=False))
    assert [say(each)[0] for each in ("北館の開館時間は？", "南館は？")] == ["北館は9時からです", "わかりません"]


def test_the_answer_before_is_no_answer_to_what_was_added_so_that_another_agent_may_have_one() -> None:
    def answer(request: SendMessageRequest, call: Call) -> Iterator[Piece]:
        is_known = "per diem" in text_of(request.message)
        yield Text("2,500 yen" if is_known else "unknown")
        yield Data({"answered": is_known})

    say = conversation(in_conversation(answer))
    said = [say(each) for each in ("What is the per diem?", "and on Sundays?", "are you sure?", "and on Mondays?")]
    assert [(text, "declines" in data) for text, data in said] == [
        ("2,500 yen", False),
        ("This is all I can say about it:\n2,500 yen", True),
        ("2,500 yen", False),
        ("This is all I can say about it:\n2,500 yen", True),
    ]


def test_another_member_of_a_series_is_asked_about_even_where_it_has_an_answer_of_its_own() -> None:
    say = conversation(in_conversation(knows("P-")))
    say("When must a P-1 be reported?")
    assert [say("and a P-2?")[0], say("and P-3?")[0]] == [
        "When must a P-2 be reported?",
        "When must a P-3 be reported?",
    ]


def test_a_follow_up_that_could_not_be_answered_is_not_what_the_next_one_takes_up() -> None:
    answered = ("What is the per diem?", "What is the per diem?\nand abroad?")

    def answer(request: SendMessageRequest, call: Call) -> Iterator[Piece]:
        question = text_of(request.message)
        yield Text(question)
        yield Data({"answered": question in answered})

    say = conversation(in_conversation(answer))
    for question in ("What is the per diem?", "and on Mars?"):
        say(question)
    assert say("and abroad?") == (answered[1], {"answered": True, "understoodAs": answered[1]})


def test_a_doubt_about_a_follow_up_without_an_answer_does_not_get_the_answer_before_it() -> None:
    say = conversation(in_conversation(knows("at home"), alone_first=False))
    say("What is the per diem?")
    assert say("and on Mars?")[0] == "What is the per diem?\nand on Mars?"
    assert say("are you sure?")[0] == "What is the per diem?\nand on Mars?\nare you sure?"
    assert say("in Japanese, please")[0].startswith("What is the per diem?\nand on Mars?\n")
    assert say("and abroad?")[0] == "What is the per diem?\nand abroad?"


def test_thanks_are_not_what_the_next_follow_up_takes_up() -> None:
    say = conversation(in_conversation(knows("per diem", "thanks")))
    say("What is the per diem?")
    assert say("thanks!") == ("thanks!", {"answered": True})
    assert say("and abroad?")[0] == "What is the per diem?\nand abroad?"


def test_a_question_of_its_own_is_left_as_it_is_and_begins_anew() -> None:
    say = conversation(in_conversation(knows("per diem", "taxi")))
    say("What is the per diem?")
    assert say("What is the taxi limit?") == ("What is the taxi limit?", {"answered": True})
    assert say("and abroad?")[0] == "What is the taxi limit?\nand abroad?"


def test_a_follow_up_takes_up_nothing_of_another_conversation_or_of_none() -> None:
    answer = in_conversation(knows("per diem"))
    conversation(answer, "one")("What is the per diem?")
    conversation(answer, None)("What is the per diem?")
    for elsewhere in ("two", None):
        assert conversation(answer, elsewhere)("and abroad?") == ("and abroad?", {"answered": False})


def test_the_conversation_unused_for_longest_is_forgotten_first_and_long_questions_are_not_kept() -> None:
    turns = LastTurns(max_conversations=2)
    for context_id in ("one", "two", "one", "three"):
        turns.put(context_id, turns_after(turns.get(context_id), f"about {context_id}", ""))
    known = {each: [turn.question for turn in turns.get(each)] for each in ("one", "two", "three")}
    assert known == {"one": ["about one"] * 2, "two": [], "three": ["about three"]}
    turns.put("three", turns_after(turns.get("three"), "x" * 3_000, ""))
    assert not turns.get("three")
    turns.put("x" * 201, turns_after((), "about a name of absurd length", ""))
    assert not turns.get("x" * 201)
    assert turns.get("one")


def test_the_per_diem_abroad_and_in_japanese_overseas_is_answered_after_the_one_at_home() -> None:
    desk = in_conversation(ExpenseDesk(load_policy(POLICY)).answer)
    for first, then, told in (
        ("What is the per diem for domestic trips?", "and for international trips?", "50 US dollars"),
        ("国内出張の日当はいくらですか", "じゃあ海外は?", "50米ドル"),
        ("What is the per diem for domestic trips?", "and how about hotels?", "14,000 yen"),
    ):
        say = conversation(desk, first)
        say(first)
        assert told in say(then)[0]


def test_more_tasks_go_on_where_the_list_ended_and_can_be_had_as_a_table() -> None:
    say = conversation(in_conversation(Advisor(load_practices(PRACTICES)).answer))
    first = say("List three tasks for creating a project WBS.")[1]["tasks"]
    text, data = say("two more")
    assert ("\n4. " in text, "\n5. " in text, "\n6. " in text) == (True, True, False)
    assert not any(task in first for task in data["tasks"])
    assert f"| 4 | {data['tasks'][0]['title']} |" in say("as a table, please")[0]


def test_when_all_tasks_were_told_the_advisor_says_so() -> None:
    say = conversation(in_conversation(Advisor(load_practices(PRACTICES)).answer))
    say("WBSのタスクを7つ挙げて")
    assert say("もう2つ")[0] == "私が知っているのは全部で7件です。"


def test_one_task_of_a_list_can_be_asked_for_and_the_first_is_the_most_important() -> None:
    advisor = in_conversation(Advisor(load_practices(PRACTICES)).answer)
    for question, place, then in (
        ("Give me three project risks", 2, "could you explain number 2?"),
        ("Give me three project risks", 3, "what is the third one about?"),
        ("Give me three project risks", 1, "which one is most important?"),
        ("プロジェクトのリスクを3つ挙げて", 2, "2番目を詳しく"),
        ("プロジェクトのリスクを3つ挙げて", 1, "どれが一番大事?"),
    ):
        say = conversation(advisor, then)
        tasks = say(question)[1]["tasks"]
        text, data = say(then)
        assert data["tasks"] == [tasks[place - 1]]
        assert f"\n{place}. " in text


def test_what_else_there_is_goes_on_after_what_was_told() -> None:
    say = conversation(in_conversation(Advisor(load_practices(PRACTICES)).answer))
    say("プロジェクトのリスクを3つ挙げて")
    assert "\n4. " in say("他には?")[0]


def test_a_doubt_is_about_the_answer_before_although_its_words_have_one_of_their_own() -> None:
    say = conversation(in_conversation(ExpenseDesk(load_policy(POLICY)).answer))
    first, _ = say("領収書をなくしました")
    for doubt in ("念のため確認ですが、本当に間違いないでしょうか。", "どうすればいい？", "本当ですか"):
        assert say(doubt)[0] == first


def test_what_follows_the_last_task_of_a_practice_is_said_to_be_nothing() -> None:
    say = conversation(in_conversation(Advisor(load_practices(PRACTICES)).answer))
    texts = [say(question)[0] for question in ("プロジェクト計画の作り方", "次は？", "それから？")]
    assert all(texts)
    assert texts[-1].startswith("私が知っているのは全部で")
