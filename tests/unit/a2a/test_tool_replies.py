"""A person's reply to a question about a tool call: what is clear is taken for it, and nothing else is consent."""

import pytest

from a2a_hub.a2a.extensions.tool_confirmation import chosen, plain_choices
from a2a_hub.a2a.extensions.tool_updates import Action, Dialect, Option, ToolQuestion

ONCE, ALWAYS, REJECT = "proceed_once", "proceed_always", "cancel"


def asked(*options: Option) -> ToolQuestion:
    return ToolQuestion(
        call_id="call-1", dialect=Dialect.SNAKE, tool="Shell", action=Action.RUN, body="ls", options=options
    )


QUESTION = asked(Option(ONCE, "Allow Once"), Option(ALWAYS, "Always Allow"), Option(REJECT, "Reject"))
_ONCE = [
    "sure do it", "yes run it",
    "yes", "Yes.", "YES!!", "y", "ok", "OK", "Okay, go ahead.", "sure", "yes please", "Yes, please", "allow", "Allow once",
    "allow it", "approve", "do it", "1", " 1 ", "1.", "(1)", "#1", "１", "①", "option 1", "1. Allow once", "ｙｅｓ", "ｏｋ",
    "proceed_once", "はい", "はい。", "「はい」", "はい、お願いします。", "お願いします", "許可", "許可します",
    "実行してください", "承認", "どうぞ", "今回だけ", "今回だけ許可", "1番", "１番でお願いします", "1です",
    "はい。\n許可します。",
]  # fmt: skip
_REJECT = [
    "nope stop it", "うーん、やっぱりやめます", "Sorry. Never mind, cancel it",
    "no", "No.", "no thanks", "n", "cancel", "Cancel it!", "reject", "Reject", "deny", "stop", "don't", "Don’t allow", "3",
    "３", "③", "3.", "いいえ", "いいえ、やめてください", "キャンセル", "キャンセルして", "やめて", "やめて…", "中止",
    "拒否", "拒否します", "許可しない", "許可しません", "だめです", "不許可", "ダメ", "実行しないでください", "3番で",
    "cancel, please don't", "hmm, actually no", "wait, stop", "on second thought, don't",
    "いや、やっぱりやめる", "やっぱりやめます",
    "すみません、やっぱり中止してください",
]  # fmt: skip
_ALWAYS = [
    "2", "２", "②", "2番でお願いします", "Always Allow", "always allow.", ALWAYS, "この種類は今後も常に許可",
]  # fmt: skip
_UNCLEAR = [
    "", " ", "…", "?", "yes?", "はい？", "maybe", "ok no", "ok, no", "no yes", "なるほど", "うーん、はい、いや", "ok always",
    "yes and no", "yes. no.", "no, 1", "no 1", "1 2", "1, 2", "0", "4", "12",
    "-1", "1.5", "always", "all", "yes to all", "yes always", "はい、常に", "いつも", "全部許可", "allow everything",
    "what does it do?", "それは何をしますか", "yes, but only in src", "はい、でも a.txt だけ", "no, use b.txt instead",
    "not yes", "don't say yes", "いいです", "結構です", "大丈夫です", "了解です", "👍", "許可しないでもいい",
    "I don't allow", "wait", "hmm", "やっぱり", "wait, yes", "やっぱりはい", "no, actually yes",
    "delete it", "yes " * 60, "1" * 300,
]  # fmt: skip


@pytest.mark.parametrize("reply", _ONCE)
def test_a_yes_allows_it_this_once(reply: str) -> None:
    assert chosen(reply, QUESTION) == ONCE


@pytest.mark.parametrize("reply", _REJECT)
def test_a_no_rejects_it(reply: str) -> None:
    assert chosen(reply, QUESTION) == REJECT


@pytest.mark.parametrize("reply", _ALWAYS)
def test_what_allows_more_than_once_is_chosen_by_its_number_or_name(reply: str) -> None:
    assert chosen(reply, QUESTION) == ALWAYS


@pytest.mark.parametrize("reply", _UNCLEAR)
def test_what_is_not_clear_is_no_decision(reply: str) -> None:
    assert chosen(reply, QUESTION) is None


def test_a_yes_is_not_understood_where_nothing_allows_it_just_once() -> None:
    question = asked(Option(ALWAYS, "Always allow"), Option(REJECT, "Reject"))
    assert [chosen(reply, question) for reply in ("yes", "1", "no")] == [None, ALWAYS, REJECT]
    assert plain_choices(question) == (None, REJECT)


def test_a_yes_is_not_understood_where_two_choices_allow_it() -> None:
    question = asked(Option("allow"), Option("once"), Option(REJECT))
    assert [chosen(reply, question) for reply in ("yes", "2", "allow")] == [None, "once", "allow"]


def test_a_choice_is_known_by_the_name_that_its_agent_gave_it() -> None:
    question = asked(Option("a", "Run in sandbox"), Option("b", "はい"), Option("c", "Do not run"))
    replies = ("run in sandbox", "はい", "Do not run.", "no", "c")
    assert [chosen(reply, question) for reply in replies] == ["a", "b", "c", REJECT, "c"]


def test_two_choices_of_one_name_are_told_apart_by_number_alone() -> None:
    question = asked(Option("a", "Run"), Option("b", "run"))
    assert [chosen(reply, question) for reply in ("run", "1", "2")] == [None, "a", "b"]


def test_without_choices_of_its_agents_it_may_be_allowed_once_or_rejected() -> None:
    assert [chosen(reply, asked()) for reply in ("1", "2", "3", "yes", "いいえ")] == [
        ONCE,
        REJECT,
        None,
        ONCE,
        REJECT,
    ]
