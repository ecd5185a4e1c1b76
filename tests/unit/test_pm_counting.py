"""How many things a question asks for, in digits and words of both languages."""

import pytest

from functions.pm.counting import requested_count

COUNTS = {
    "List three tasks for creating a project WBS.": 3,
    "List 3 tasks": 3,
    "give me the five most important WBS tasks": 5,
    "What are 10 steps for a WBS?": 10,
    "Name a couple of risks": 2,
    "top 4": 4,
    "Our project is 2 weeks behind, list four steps": 4,
    "タスクを3つ挙げて": 3,
    "タスクを三つ挙げて": 3,
    "タスクを３つ": 3,
    "タスクをみっつ": 3,
    "手順を5点": 5,
    "十個のタスク": 10,
    "WBSの作り方": None,
    "Our project is two weeks behind schedule.": None,
    "a six-month project": None,
    "プロジェクトが2週間遅れています": None,
    "半年間の計画": None,
    "list 0 tasks": None,
    "the project with one manager": None,
    "2つ目のタスク": None,
    "half a dozen tasks for a WBS": 6,
    "a few tasks, please": 3,
    "Few tasks are done": None,
    "thirteen tasks for a plan": 13,
    "five to seven tasks": 7,
    "Give me 3-5 tasks": 5,
    "three (3) tasks": 3,
    "my top-3 tasks": 3,
    "name me five": 5,
    "We are a team of five to seven people": None,
    "タスクを十五個": 15,
    "タスクを二十個": 20,
    "タスクのベスト3": 3,
    "タスクTOP5": 5,
}


@pytest.mark.parametrize(("question", "count"), COUNTS.items())
def test_the_number_of_things_asked_for_is_understood(question: str, count: int | None) -> None:
    assert requested_count(question) == count


@pytest.mark.parametrize(
    ("words", "count"),
    [
        ("top ", None),
        ("give me the only ", None),
        ("three a b ", None),
        ("1 ", None),
        ("a " * 3, None),
        ("3 tasks-", 3),
        ("つ", None),
        ("１", None),
    ],
)
def test_a_megabyte_of_anything_is_read(words: str, count: int | None) -> None:
    """Time that grows with the square of the text would be hours."""
    assert requested_count(words * (1_000_000 // len(words))) == count
