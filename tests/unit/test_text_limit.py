"""A text that is too long to be read is answered with its length and the limit, in the language of the question."""

import json

import pytest

from a2a_hub.agents import settings
from a2a_hub.agents.function import MAX_TEXT_CHARACTERS, with_text_limit
from a2a_hub.http.messages import Request, body_of
from functions.expense.app import KNOWLEDGE, build
from functions.expense.desk import ExpenseDesk, load
from tests.unit.agent_answers import ask

LIMITED = with_text_limit(ExpenseDesk(load(KNOWLEDGE)).answer)


@pytest.mark.parametrize(
    ("piece", "told"),
    [("What is the per diem? ", "has 300,001 characters, and I read at most 300,000"), ("日当は？", "300,001文字")],
)
def test_a_text_beyond_the_limit_is_answered_with_both_numbers(piece: str, told: str) -> None:
    text, data = ask(LIMITED, (piece * MAX_TEXT_CHARACTERS)[:MAX_TEXT_CHARACTERS].replace(" ", "x") + "x")
    assert told in text
    assert data == {
        "answered": False,
        "textCharacters": MAX_TEXT_CHARACTERS + 1,
        "maxTextCharacters": MAX_TEXT_CHARACTERS,
    }


def test_a_text_at_the_limit_is_read() -> None:
    _, data = ask(LIMITED, "What is the per diem?".ljust(MAX_TEXT_CHARACTERS, "."))
    assert data["topic"] == "per_diem"


def test_every_agents_function_has_the_limit() -> None:
    handle = build(settings.read({"PORT": "1"}))
    message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "a" * (MAX_TEXT_CHARACTERS + 1)}]}
    headers = {"content-type": "application/json", "a2a-version": "1.0"}
    body = body_of(json.dumps({"message": message}).encode())
    response = handle(Request(method="POST", path="/message:send", headers=headers, read_body=body))
    assert isinstance(response.body, bytes)
    assert "at most 300,000" in json.loads(response.body)["message"]["parts"][0]["text"]
