"""The paper's four questions through the gateway, in every form in which they can be asked."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.e2e.hubs import Hub
from tests.e2e.questions import FIRST_WORDINGS, QUESTIONS, Question
from tests.e2e.request_forms import FORMS, Form


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda each: f"{each.route}-{each.language}")
def test_each_question_gets_its_answer_in_every_wording(hub: Hub, question: Question) -> None:
    for wording in question.wordings:
        question.is_answered_by(FORMS[0].ask(hub.caller(), wording).text)


@pytest.mark.parametrize(("question", "wording"), FIRST_WORDINGS)
def test_each_question_gets_the_same_answer_in_every_form(hub: Hub, question: Question, wording: str) -> None:
    answers = [form.ask(hub.caller(), wording) for form in FORMS]
    question.is_answered_by(answers[0].text)
    assert len({answer.text for answer in answers}) == 1
    assert not any(answer.data for answer in answers)
    assert all(answer.context_id for answer in answers)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_a_conversation_goes_on_under_its_context_id(hub: Hub, form: Form) -> None:
    first = form.ask(hub.caller(), "P-1インシデントの際、インフラチームへの連絡期限は")
    second = form.ask(hub.caller(), "富士山の高さは", context_id=first.context_id)
    assert second.context_id == first.context_id
    assert "3,776 m" in second.text


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_the_structured_part_comes_only_to_a_client_that_names_json(hub: Hub, form: Form) -> None:
    question = "List three tasks for creating a project WBS."
    told = form.ask(hub.caller(), question, output_modes=["text/plain", "application/json"])
    assert [len(data.get("data", data)["tasks"]) for data in told.data] == [3]
    assert form.ask(hub.caller(), question, output_modes=["text/plain"]).data == []


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_a_skill_named_wins_over_the_text(hub: Hub, form: Form) -> None:
    told = form.ask(hub.caller(), "What is the height of Mount Fuji?", skill="expense")
    assert "3,776" not in told.text


def test_callers_at_the_same_time_get_each_their_own_answer(hub: Hub) -> None:
    asked = [(form, question) for form in FORMS for question in QUESTIONS for _ in range(3)]

    def ask(number: int) -> str:
        form, question = asked[number]
        told = form.ask(hub.caller(number % 2), question.wordings[number % 3])
        question.is_answered_by(told.text)
        return told.context_id

    with ThreadPoolExecutor(max_workers=24) as pool:
        context_ids = set(pool.map(ask, range(len(asked))))
    assert len(context_ids) == len(asked)
