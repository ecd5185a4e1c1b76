"""What the Workspace worker reads out of a task's history."""

from typing import Any
from zoneinfo import ZoneInfo

from tests.unit.test_workspace_consent import MAIL
from workers.workspace import conversation
from workers.workspace.actions import KINDS
from workers.workspace.conversation import Conversation, Reply
from workers.workspace.failures import Cause, ModelCause
from workers.workspace.texts import Language, texts_in

ZONE = ZoneInfo("UTC")
ASKED = conversation.question(MAIL, Language.EN)


def read(*said: str, task_id: str = "task-1") -> Conversation:
    """Of the person, where it begins with `> `, else of the worker."""
    history: list[dict[str, Any]] = [
        {
            "role": "ROLE_USER" if text.startswith("> ") else "ROLE_AGENT",
            "parts": [{"text": text.removeprefix("> ")}],
        }
        for text in said
    ]
    last = [text for text in said if text.startswith("> ")][-1]
    return conversation.read(task_id, last.removeprefix("> "), history, ZONE)


def test_a_yes_belongs_to_the_question_directly_before_it() -> None:
    talk = read("> Mail the figures", ASKED, "> yes", "It is being sent")
    assert (talk.pending, talk.reply, talk.steps) == (MAIL, Reply.YES, ("It is being sent",))
    assert [said.text for said in talk.before] == ["Mail the figures", ASKED]


def test_a_yes_to_something_else_is_none_to_an_older_question() -> None:
    assert read("> Mail the figures", ASKED, "> to whom?", "To Aki. Anything else?", "> yes").pending is None


def test_what_a_person_writes_is_no_question_of_the_worker() -> None:
    assert read(f"> {ASKED}", "> yes").pending is None
    assert read("> yes").pending is None


def test_each_question_of_a_task_has_a_key_of_its_own() -> None:
    first, second = read("> a", ASKED, "> yes"), read("> a", ASKED, "> yes", ASKED, "> yes")
    assert first.key == read("> a", ASKED, "> yes", "It is being sent").key
    assert len({first.key, second.key, read("> a", ASKED, "> yes", task_id="task-2").key}) == 3


def test_the_language_is_that_of_the_task_and_not_of_a_short_answer() -> None:
    assert read("> 数字をメールして", ASKED, "> yes").language is Language.JA
    assert read("> Mail the figures", ASKED, "> はい").language is Language.EN


def test_several_parts_are_one_text_and_files_are_none() -> None:
    history = [
        {"role": "ROLE_USER", "parts": [{"text": "a"}, {"raw": "AA==", "filename": "f"}, {"text": "b"}]},
        {"role": "ROLE_USER", "parts": [{"text": "c"}]},
    ]
    assert [said.text for said in conversation.read("t", "c", history, ZONE).before] == ["a\nb"]


def test_what_a_model_is_given_of_the_past_is_bounded() -> None:
    talk = read(*["> " + "x" * 20_000] * 50, "> yes")
    assert (len(talk.before), {len(said.text) for said in talk.before}) == (40, {12_000})


def test_each_language_has_a_text_for_every_kind_of_action_and_every_failure() -> None:
    for texts in map(texts_in, Language):
        assert texts.asks.keys() == texts.done.keys() == KINDS.keys()
        assert set(texts.google) == set(Cause)
        assert set(texts.model) == set(ModelCause)
    assert texts_in(Language.EN).labels.keys() == texts_in(Language.JA).labels.keys()
