"""The console of a whole run in a real browser, in both languages: a person signs in, asks, sees why, approves, looks around."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.npm import installed
from tests.deploy.tools import program
from tests.e2e.browsers import Browser, running_browser
from tests.e2e.hubs import ROOT, Hub

_ANSWER = ".log article:nth-of-type({}) "


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running_browser() as browser:
        yield browser


def sign_in(browser: Browser, hub: Hub, token: str, language: str = "en-US", **options: object) -> None:
    browser.open(url=hub.console.partition("/sign-in")[0], language=language, **options)
    browser.fill(selector="input[name=token]", text=token)
    browser.click(selector="form.token button")


def ask(browser: Browser, text: str) -> None:
    browser.fill(selector=".ask textarea", text=text)
    browser.press(selector=".ask textarea", key="Enter")


def answer_of(browser: Browser, turn: int) -> str:
    """The answer of a turn that has ended, with its reasons."""
    browser.click(selector=_ANSWER.format(turn) + "summary")
    words: str = browser.text(selector=_ANSWER.format(turn))
    return words


@pytest.mark.parametrize(
    ("language", "question", "answered", "why", "command", "names"),
    [
        (
            "en-US",
            "What is the deadline for notifying the infrastructure team for a P-1 incident?",
            ("within 15 minutes of incident detection", "Incident Response Policy · 2. P-1 incidents"),
            (
                "Why this answer · Internal documents",
                "Keywords: “P-1”, “infrastructure team”",
                "Internal documents",
                "A2A 1.0, JSONRPC",
            ),
            "run `echo hello`",
            ("Ask", "Tasks", "Routes", "Health", "Inspect"),
        ),
        (
            "ja-JP",
            "P-1インシデントの連絡期限は?",
            ("検知から15分以内", "第2条 P-1 インシデント"),
            ("この回答の理由 · 社内文書", "キーワード: “P-1”", "社内文書", "A2A 1.0, JSONRPC"),
            "「echo hello」を実行して",
            ("質問", "タスク", "ルート", "稼働状況", "通信内容"),
        ),
    ],
    ids=["en", "ja"],
)
def test_a_person_asks_sees_why_approves_and_looks_around(
    browser: Browser,
    hub: Hub,
    language: str,
    question: str,
    answered: tuple[str, ...],
    why: tuple[str, ...],
    command: str,
    names: tuple[str, ...],
) -> None:
    sign_in(browser, hub, hub.tokens[0], language)
    browser.wait(selector=".ask textarea")
    assert browser.text(selector="nav").split() == list(names)
    browser.click(selector="[data-t='ask.help']")
    browser.wait(selector=f".log article:has-text('{why[0].partition(' · ')[2]}')")
    browser.click(selector="[data-t='ask.new']")
    assert browser.evaluate(script="document.documentElement.lang") == language[:2]
    ask(browser, question)
    shown = answer_of(browser, 1)
    assert all(words in shown for words in (*answered, *why)), shown
    assert shown.count(answered[0]) == 2, "in the answer, and quoted under it"
    browser.click(selector=f"{_ANSWER.format(1)} .sources li:first-child a")
    assert answered[0] in browser.text(selector=".document mark")
    assert answered[1].rpartition(" · ")[2] in browser.text(selector=".document .whole")
    in_view = "(({top, bottom}) => top >= 0 && bottom <= innerHeight)(document.activeElement.getBoundingClientRect())"
    assert browser.evaluate(script=f"document.activeElement.matches('mark') && {in_view}")
    browser.click(selector=".document-page a[href='#ask']")
    browser.click(selector=f"{_ANSWER.format(1)} [data-t=compare]")
    browser.wait(selector=f".contracts .as_ui p:has-text('{answered[0]}')")
    as_program = json.loads(browser.text(selector=".contracts .as_program code"))
    assert as_program["status"]["state"] == "TASK_STATE_COMPLETED"
    assert answered[0] in json.dumps(as_program["artifacts"], ensure_ascii=False)
    assert any("data" in part for artifact in as_program["artifacts"] for part in artifact["parts"])
    browser.click(selector=f"{_ANSWER.format(1)} .rate button:first-child")
    browser.wait(selector=f"{_ANSWER.format(1)} .rate [data-t=rated]")
    assert '"feedback":"good"' in hub.logged_since({}, name="hub")

    ask(browser, command)
    browser.wait(selector=f"{_ANSWER.format(2)} .choices button")
    browser.click(selector=f"{_ANSWER.format(2)} .choices button:first-child")
    assert "hello" in answer_of(browser, 3)

    browser.click(selector="nav a[href='#tasks']")
    browser.click(selector=f".tasks button:text-is('{question}')")
    assert answered[0] in browser.text(selector=".tasks .detail .text")

    browser.click(selector="nav a[href='#routes']")
    browser.fill(selector=".routes form input", text=question)
    browser.press(selector=".routes form input", key="Enter")
    assert "docqa" in browser.text(selector=".routes [role=status] code")
    assert why[1] in browser.text(selector=".routes [role=status]")
    browser.fill(selector=".routes form input", text=f"WBS: {question}")
    browser.press(selector=".routes form input", key="Enter")
    other = browser.text(selector=".routes [role=status] li")
    assert (why[0].partition(" · ")[2] in other, "(priority " in other, "優先度" in other) == (
        True,
        language == "en-US",
        language == "ja-JP",
    )

    browser.click(selector="[data-t=misses]")
    browser.wait(selector=".routes .activity :is(td, [data-t='misses.none'])")
    browser.click(selector="nav a[href='#tasks']")
    browser.click(selector="[data-t=work]")
    browser.wait(selector=".tasks .activity :is(td, [data-t='work.none'])")

    browser.click(selector="nav a[href='#health']")
    assert "docqa" in browser.text(selector=".health tbody")

    browser.click(selector="nav a[href='#inspect']")
    assert "SendStreamingMessage" in browser.text(selector=".inspect .events")
    browser.fill(selector=".inspect form input", text=hub.url)
    browser.press(selector=".inspect form input", key="Enter")
    assert "url" in browser.text(selector=".inspect .card li:first-child")
    seen = browser.seen()
    assert (seen["complaints"], len(seen["hosts"])) == ([], 1)


def test_a_waiting_task_is_answered_or_cancelled_among_the_tasks(browser: Browser, hub: Hub) -> None:
    sign_in(browser, hub, hub.tokens[1])
    for command in ("run `echo one`", "run `echo two`"):
        ask(browser, command)
        browser.wait(selector=".log article:last-of-type .choices button")
        browser.click(selector=".ask button:text-is('New conversation')")
    browser.click(selector="nav a[href='#tasks']")
    browser.click(selector=".tasks button:text-is('run `echo one`')")
    browser.click(selector=".tasks .choices button:first-child")
    browser.wait(selector=".tasks .detail .text:has-text('ended successfully')")
    browser.click(selector=".tasks button:text-is('run `echo two`')")
    browser.click(selector=".tasks button:text-is('Cancel the task')")
    browser.wait(selector=".tasks .detail strong:text-is('Cancelled')")


def test_the_printed_link_signs_in_and_a_wrong_token_does_not(browser: Browser, hub: Hub) -> None:
    sign_in(browser, hub, "token-of-nobody")
    assert "does not admit" in browser.text(selector="[role=alert]")
    browser.choose(selector="#language", value="ja")
    browser.wait(selector="[role=alert]:text('利用できません')")
    assert browser.open(url=hub.console, language="en").endswith("/")
    browser.click(selector="header form button")
    browser.wait(selector=".sign-in")
    assert "signs in once" in browser.open(url=hub.console, language="en") + browser.text(selector="[role=alert]")


def test_every_page_is_accessible(browser: Browser, hub: Hub) -> None:
    """By the rules of axe-core; in the dark, by those on colours."""
    axe = (installed(program("npm"), ROOT / "tests" / "e2e" / "browser") / "axe-core" / "axe.min.js").read_text()
    found = []
    for dark in (False, True):
        browser.open(url=hub.console.partition("/sign-in")[0], language="en", dark=dark)
        rules = "{runOnly: ['color-contrast']}" if dark else ""
        for view in ("sign-in", "ask", "document-page", "tasks", "routes", "health", "inspect"):
            if view == "ask":
                sign_in(browser, hub, hub.tokens[0], dark=dark)
                ask(browser, "What is the deadline for notifying the infrastructure team for a P-1 incident?")
                answer_of(browser, 1)
                browser.click(selector="[data-t=compare]")
                browser.wait(selector=".contracts .as_program code")
            elif view == "document-page":
                browser.click(selector=".sources li:first-child a")
                browser.wait(selector=".document mark")
            elif view != "sign-in":
                browser.click(selector=f"nav a[href='#{view}']")
                browser.wait(selector=f"section.{view} :is(td, pre, li)")
                if view in ("tasks", "routes"):
                    browser.click(selector=f"section.{view} .activity summary")
                    browser.wait(selector=f"section.{view} .activity button")
            if view in ("sign-in", "ask"):
                browser.evaluate(script=axe)
            violations = browser.evaluate(script=f"axe.run({rules}).then((found) => found.violations)")
            found += [(view, dark, each["id"], each["nodes"][0]["html"]) for each in violations]
    assert found == []


def test_it_fits_a_phone_in_the_dark_and_switches_its_language(browser: Browser, hub: Hub, tmp_path: Path) -> None:
    fits = "document.documentElement.scrollWidth <= innerWidth"
    sign_in(browser, hub, hub.tokens[1], width=360, dark=True)
    ask(browser, "What is the hotel limit in Japan?")
    assert "14,000" in answer_of(browser, 1)
    long = "x" * 200
    (tmp_path / f"{long}.txt").write_text(long)
    browser.files(selector="#files", paths=[str(tmp_path / f"{long}.txt")])
    assert browser.evaluate(script=fits), "with the name of a file"
    ask(browser, long)
    answer_of(browser, 2)
    browser.click(selector="nav a[href='#tasks']")
    browser.click(selector=f".tasks button:has-text('{long[:100]}')")
    browser.wait(selector=".tasks .history li")
    assert browser.evaluate(script=fits), "with a long word in a task"
    browser.click(selector="nav a[href='#ask']")
    browser.choose(selector="#language", value="ja")
    browser.wait(selector=_ANSWER.format(1) + "summary span:text('この回答の理由')")
    place = "#document?route=docqa&uri=corpus:policies/incident-response-policy.md&start=0&quote=P-1"
    browser.evaluate(script=f"location.hash = '{place}'")
    browser.wait(selector=".document mark")
    assert browser.evaluate(script=fits)
    for view in ("ask", "tasks", "routes", "health", "inspect"):
        browser.click(selector=f"nav a[href='#{view}']")
        browser.wait(selector=f"section.{view}")
        assert browser.evaluate(script=fits), view
    heading = "getComputedStyle(document.querySelector('.routes tbody td:nth-child(3)'), '::before').content"
    assert browser.evaluate(script=heading) == '"優先度: "'
    dark = browser.evaluate(script="getComputedStyle(document.body).backgroundColor")
    assert dark == "rgb(20, 24, 31)"
