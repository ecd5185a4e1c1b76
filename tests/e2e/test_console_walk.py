"""A new user's walk through the console of a whole run over the local cloud, in both languages, with a picture of each station.

They ask the four questions of the paper, see why, open the cited line, approve a tool call, and find an agent that is down with
the command that fixes it. `make screenshots` keeps the pictures for the documentation.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from hubctl.live.paper import Question, read_questions
from tests.e2e.browsers import Browser, running_browser
from tests.e2e.cloud_faults import MENDED
from tests.e2e.hubs import ROOT
from tests.e2e.local_clouds import LocalCloud
from tests.e2e.test_console import answer_of, ask, sign_in
from tests.e2e.test_doctor import carry_out

_QUESTIONS = read_questions(ROOT / "evaluation" / "paper.toml")
_COMMANDS = {"en-US": "run `echo hello`", "ja-JP": "「echo hello」を実行して"}
(_DOWN,) = (each for each in MENDED if str(each) == "expense-front revoke-invoker")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running_browser() as browser:
        yield browser


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """The folder of the pictures."""
    return ROOT / os.environ["SCREENSHOTS"] if "SCREENSHOTS" in os.environ else tmp_path


@pytest.mark.parametrize(
    ("language", "questions"), [("en-US", _QUESTIONS[:4]), ("ja-JP", _QUESTIONS[4:])], ids=["en", "ja"]
)
def test_a_new_user_walks_through_the_console(
    browser: Browser, cloud: LocalCloud, pictures: Path, language: str, questions: list[Question]
) -> None:
    def shoot(station: str) -> None:
        browser.shoot(path=str(pictures / f"console{station}-{language[:2]}.png"), whole=not station)

    sign_in(browser, cloud.hub, cloud.hub.tokens[0], language)
    *others, on_documents = questions
    for turn, question in enumerate(others, 1):
        ask(browser, question.text)
        shown = answer_of(browser, turn)
        assert all(words in shown for words in (*question.contains, question.route)), shown

    browser.click(selector="[data-t='ask.new']")
    ask(browser, on_documents.text)
    shown = answer_of(browser, 1)
    assert all(words in shown for words in (*on_documents.contains, on_documents.route, "P-1")), shown

    browser.click(selector=f".sources li:has-text('{on_documents.quote}') a")
    assert on_documents.quote in browser.text(selector=".document mark")
    shoot("-document")
    browser.click(selector=".document-page a[href='#ask']")

    ask(browser, _COMMANDS[language])
    browser.wait(selector=".choices button")
    shoot("")
    browser.click(selector=".choices button:first-child")
    assert "hello" in answer_of(browser, 3)

    cloud.break_it(_DOWN.stand_in, _DOWN.name, **_DOWN.parameters)
    browser.click(selector="[data-t='ask.new']")
    ask(browser, questions[0].text)
    assert not any(words in answer_of(browser, 1) for words in questions[0].contains)
    browser.click(selector="nav a[href='#health']")
    first = ".health tbody tr:first-child"
    assert browser.text(selector=f"{first} th") == _DOWN.subject
    command = browser.text(selector=f"{first}.error code")
    assert command.startswith(_DOWN.command)
    shoot("-health")

    carry_out(cloud, command)
    browser.click(selector="[data-t='health.examine']")
    browser.wait(selector=".health tbody:not(:has(tr.error))")
    browser.click(selector="nav a[href='#ask']")
    browser.click(selector="[data-t='ask.new']")
    ask(browser, questions[0].text)
    shown = answer_of(browser, 1)
    assert all(words in shown for words in questions[0].contains), shown
    seen = browser.seen()
    assert (seen["complaints"], len(seen["hosts"])) == ([], 1)
