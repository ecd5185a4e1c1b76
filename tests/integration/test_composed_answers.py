"""Agents that answer from their own knowledge with a model: only verified sentences, and the rules where it fails."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from a2a_hub.agents.composition import composed
from a2a_hub.agents.conversation import in_conversation
from a2a_hub.grounding.composer import Composer
from a2a_hub.grounding.settings import ComposerSettings, configured_composer
from functions.expense.app import KNOWLEDGE
from functions.expense.desk import ExpenseDesk, load
from functions.pm.advisor import Advisor
from functions.pm.advisor import load as load_practices
from functions.pm.app import KNOWLEDGE as PRACTICES
from tests.fakes.chat_completions import ChatCompletions, Reply, openai_settings
from tests.fakes.http_server import Exchange
from tests.fakes.vertex import AgentReply, said
from tests.unit.agent_answers import Answer, ask

QUESTION = "What is the deadline for expense claims?"
DEADLINE = "Expense claims must be submitted by the 5th business day of the month after the expense was incurred."
DESK = ExpenseDesk(load(KNOWLEDGE))


class Model:
    """A scripted model. `sentences` are (text, the beginning of the quote that it cites); `rewritten` is a question in full."""

    def __init__(self, server: ChatCompletions) -> None:
        self.server = server
        self.sentences: list[tuple[str, str]] = [(DEADLINE, "Expense claims must")]
        self.raw: Reply | None = None
        self.rewritten = ""
        self.asked: list[list[dict[str, Any]]] = []

    def reply(self, body: dict[str, Any]) -> Reply:
        lines = [json.loads(line) for line in body["messages"][1]["content"].splitlines()]
        if "claim" in lines[0]:
            return (json.dumps({"mistake": "", "supported": True}),)
        schema = body["response_format"]["json_schema"]["schema"]["properties"]
        if "sentences" not in schema:
            return (json.dumps({"question": self.rewritten or lines[-1]["question"]}),)
        self.asked.append(lines)
        if self.raw is not None:
            return self.raw
        ids = {line["text"]: line["id"] for line in lines if "id" in line}
        sentences = [
            {"text": text, "cites": [id_ for quote, id_ in ids.items() if quote.startswith(start)][:1]}
            for text, start in self.sentences
        ]
        return (json.dumps({"answerable": bool(sentences), "missing": "", "sentences": sentences}),)

    def composer(self) -> Composer:
        settings = openai_settings(f"{self.server.url}/v1")
        composer = configured_composer(ComposerSettings(model=settings, check="model"))
        assert composer is not None
        return composer

    def desk(self) -> Answer:
        return composed(DESK.answer, DESK, self.composer())


@pytest.fixture
def model() -> Iterator[Model]:
    def reply(body: dict[str, Any], exchange: Exchange) -> Reply:
        return scripted.reply(body)

    with ChatCompletions(reply) as server:
        scripted = Model(server)
        yield scripted


def test_a_composed_answer_cites_the_entry_and_has_its_figures(model: Model) -> None:
    answer = said(model.desk(), QUESTION)

    assert answer.text == f"{DEADLINE} [1]"
    assert (answer.data["topic"], answer.data["answered"], answer.data["grounded"]) == ("deadline", True, True)
    assert answer.data["facts"]["late_claims_approved_by"] == "department head"
    assert [each["quote"] for each in answer.data["citations"]] == [DEADLINE]
    assert "dropped" not in answer.data
    assert answer.record["composed"]["kept"] == 1


def test_an_invented_sentence_is_left_out_counted_and_shown_to_operators(model: Model) -> None:
    model.sentences.append(("Mr Secret pays 99,000 yen at once.", "Expense claims must"))
    answer = said(model.desk(), QUESTION)

    assert answer.text.startswith(f"{DEADLINE} [1]\n\n(Left out here: 1 ")
    assert answer.data["dropped"][0]["text"] == "Mr Secret pays 99,000 yen at once."
    assert answer.data["dropped"][0]["flaws"]
    assert "Secret" not in json.dumps(answer.record)


@pytest.mark.parametrize(
    "raw",
    [
        ("It is free, says the boss.",),
        ('{"answerable": true, "missing": "", "sentences": [{"text": "It is fr',),
        (),
        (json.dumps({"answerable": True, "missing": "", "sentences": [{"text": "It is free.", "cites": [999]}]}),),
        (json.dumps({"answerable": True, "missing": "", "sentences": [{"text": "It is free.", "cites": []}]}),),
    ],
    ids=["rubbish", "half a JSON", "nothing", "unknown source", "no source"],
)
def test_without_a_verified_sentence_the_policy_answers_as_it_is_written(model: Model, raw: Reply) -> None:
    model.raw = raw
    answer = said(model.desk(), QUESTION)
    assert answer.text == said(DESK.answer, QUESTION).text
    assert answer.data["topic"] == "deadline"


def test_a_model_that_declines_makes_the_agent_abstain(model: Model) -> None:
    model.raw = (json.dumps({"answerable": False, "missing": "Call Mr Secret.", "sentences": []}),)
    answer = said(model.desk(), QUESTION)
    assert (answer.data["answered"], answer.data["topic"]) == (False, None)
    assert "Secret" not in answer.text
    assert answer.data["dropped"] == [{"text": "Call Mr Secret.", "flaws": ("declined",)}]


def test_a_follow_up_is_completed_by_the_model_and_shown(model: Model) -> None:
    answer = in_conversation(model.desk(), model=model.composer().model)
    ask(answer, QUESTION, context_id="one")
    model.rewritten = "What is the deadline for expense claims from abroad?"
    _, data = ask(answer, "and abroad?", context_id="one")
    assert data["understoodAs"] == model.rewritten
    assert model.asked[-1][-1] == {"question": model.rewritten}


def test_a_number_may_take_the_unit_of_the_question_before(model: Model) -> None:
    answer = in_conversation(model.desk(), model=model.composer().model)
    ask(answer, "May a bag of 31 kg be claimed?", context_id="one")
    model.rewritten = "May a bag of 46 kg be claimed?"
    assert ask(answer, "and of 46?", context_id="one")[1]["understoodAs"] == model.rewritten


@pytest.mark.parametrize(
    "rewritten",
    ["Is the deadline for expense claims 99 days?", "経費の期限はいつですか", "x" * 501, " "],
    ids=["a number of its own", "another language", "too long", "nothing"],
)
def test_what_the_model_may_not_make_of_a_follow_up_is_completed_by_rules(model: Model, rewritten: str) -> None:
    answer = in_conversation(model.desk(), alone_first=False, model=model.composer().model)
    ask(answer, QUESTION, context_id="one")
    model.rewritten = rewritten
    _, data = ask(answer, "and abroad?", context_id="one")
    assert data["understoodAs"] == f"{QUESTION}\nand abroad?"


def test_a_list_of_tasks_is_given_as_it_is_written_and_a_question_is_composed(model: Model) -> None:
    advisor = Advisor(load_practices(PRACTICES))
    answer = composed(advisor.answer, advisor, model.composer())
    listed: AgentReply = said(answer, "List three tasks for creating a project WBS.")
    assert (len(listed.data["tasks"]), model.asked) == (3, [])
    model.sentences = [("Break the deliverables down into work packages.", "Break the deliverables down")]
    told = said(answer, "How does one begin a WBS?")
    assert told.text == "Break the deliverables down into work packages. [1]"
    assert [each["title"] for each in told.data["tasks"]] == ["Break the deliverables down into work packages"]
