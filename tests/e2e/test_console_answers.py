"""The console in a real browser, before a hub that does what hubs and agents should not: pauses, breaks off, refuses, attacks."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from local.ports import free_ports
from tests.e2e.browsers import Browser, running_browser
from tests.fakes.console_hub import DOCUMENT, FakeHub, task_state
from tests.integration.gates import function


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def hub() -> Iterator[FakeHub]:
    with FakeHub() as hub:
        yield hub


@pytest.fixture(scope="module")
def console(hub: FakeHub, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a console whose people sign in at the fake Google."""
    (port,) = free_ports(1)
    settings = {
        "PORT": str(port),
        "PUBLIC_URL": f"http://127.0.0.1:{port}",
        "HUB_PUBLIC_URL": hub.url,
        "GOOGLE_CLIENT_ID": "client",
        "GOOGLE_CLIENT_SECRET": "secret",
        "GOOGLE_AUTHORIZATION_URL": f"{hub.url}/google",
        "GOOGLE_TOKEN_URL": f"{hub.url}/token",
    }
    with function("console", tmp_path_factory.mktemp("console"), **settings):
        yield settings["PUBLIC_URL"]


@pytest.fixture
def asked(browser: Browser, console: str, hub: FakeHub) -> Iterator[Browser]:
    """The browser of a person who has signed in with Google."""
    hub.go_on.clear()
    browser.open(url=console, language="en-US")
    browser.click(selector="a.button")
    browser.wait(selector=".ask textarea")
    yield browser
    hub.go_on.set()


def ask(browser: Browser, text: str) -> None:
    browser.fill(selector=".ask textarea", text=text)
    browser.press(selector=".ask textarea", key="Enter")


def test_whom_the_hub_does_not_admit_is_refused_after_google(browser: Browser, console: str, hub: FakeHub) -> None:
    hub.token = "of-a-stranger"
    browser.open(url=console, language="en-US")
    browser.click(selector="a.button")
    assert "does not admit" in browser.text(selector="[role=alert]")
    hub.token = "of-hanako"


def test_words_are_shown_as_they_come(asked: Browser, hub: FakeHub) -> None:
    ask(asked, "slow")
    asked.wait(selector="article[aria-busy=true] p:text-is('the first words')")
    hub.go_on.set()
    asked.wait(selector="article[aria-busy=false] p:text-is('the first words, and the last')")


def test_stop_cancels_the_task(asked: Browser, hub: FakeHub) -> None:
    ask(asked, "slow")
    asked.wait(selector="article p:text-is('the first words')")
    asked.click(selector=".ask button:text-is('Stop')")
    assert "Cancelled" in asked.text(selector="article[aria-busy=false]")
    assert hub.cancelled.wait(10)


def test_a_broken_stream_is_taken_up_again_and_inspect_has_the_events_of_both(asked: Browser) -> None:
    ask(asked, "break")
    asked.wait(selector="article[aria-busy=false] p:text-is('whole after all')")
    asked.click(selector="nav a[href='#inspect']")
    assert "whole after all" in asked.text(selector=".inspect .events")
    asked.evaluate(script="document.querySelector('.inspect select').selectedIndex = 1")
    asked.evaluate(script="document.querySelector('.inspect select').dispatchEvent(new Event('change'))")
    assert "the first words" in asked.text(selector=".inspect .events")


def test_a_hub_that_restarts_in_the_middle_of_a_stream_is_waited_for(asked: Browser, hub: FakeHub) -> None:
    hub.restarts = 2
    ask(asked, "break")
    asked.wait(selector="article[aria-busy=false] p:text-is('whole after all')")
    assert not asked.evaluate(script="document.querySelectorAll('.problem:not(:empty)').length")


def test_a_page_that_is_reloaded_in_the_middle_of_an_answer_goes_on_with_it(asked: Browser) -> None:
    ask(asked, "slow")
    asked.wait(selector="article[aria-busy=true] p:text-is('the first words')")
    asked.evaluate(script="location.reload()")
    asked.wait(selector="article[aria-busy=false] p:text-is('whole after all')")
    assert "slow" in asked.text(selector=".question")
    asked.click(selector="[data-t='ask.new']")
    asked.evaluate(script="location.reload()")
    asked.wait(selector=".ask .empty button")


def test_a_page_of_an_earlier_session_asks_to_sign_in_and_keeps_the_question(asked: Browser) -> None:
    asked.evaluate(script="document.querySelector('meta[name=csrf]').content = 'of the session before'")
    ask(asked, "What now?")
    asked.click(selector="article [role=alert] a")
    asked.click(selector="a.button")
    asked.wait(selector=".ask textarea")
    assert asked.evaluate(script="document.querySelector('.ask textarea').value") == "What now?"


def test_a_malformed_answer_shows_no_error_of_the_script(asked: Browser) -> None:
    ask(asked, "malformed")
    shown = asked.text(selector="article[aria-busy=false]")
    assert "The answer broke off" in shown
    assert "null" not in shown
    assert "TypeError" not in shown


def test_a_new_person_is_offered_questions_in_the_language_of_the_page(asked: Browser, hub: FakeHub) -> None:
    texts = dict.fromkeys(("id", "description", "descriptionJa", "boundary"), "x")
    lists = {"keywords": [], "patterns": [], "fallbacks": [], "priority": 1}
    examples = ["cite", "choose", "hostile", "富士山の高さは"]
    hub.routes = [{**texts, **lists, "name": "Facts", "nameJa": "事実", "examples": examples}]
    asked.evaluate(script="location.reload()")
    asked.wait(selector=".examples button")
    assert asked.text(selector=".examples").split() == ["Facts", "cite", "choose"]
    asked.choose(selector="#language", value="ja")
    asked.wait(selector=".examples button:text-is('富士山の高さは')")
    asked.choose(selector="#language", value="en")
    asked.click(selector=".examples button:text-is('cite')")
    asked.wait(selector="article[aria-busy=false] .sources")
    hub.routes = []


def test_a_failure_leads_to_what_is_down(asked: Browser) -> None:
    ask(asked, "fail")
    asked.click(selector="article[aria-busy=false] a[href='#health']")
    asked.wait(selector=".health [data-t='error.operators']")


def test_a_limit_says_when_to_try_again(asked: Browser) -> None:
    ask(asked, "busy")
    assert "in 7 seconds" in asked.text(selector="article [role=alert]")
    asked.wait(selector="article button:text-is('Try again')")


def test_a_token_that_is_revoked_meanwhile_leads_back_to_the_sign_in(asked: Browser) -> None:
    ask(asked, "revoked")
    assert "Your session has ended" in asked.text(selector="article [role=alert]")
    asked.click(selector="article [role=alert] a")
    asked.click(selector="a.button")
    asked.wait(selector=".ask textarea")
    assert asked.evaluate(script="document.querySelector('.ask textarea').value") == "revoked"
    asked.evaluate(script="location.reload()")
    asked.wait(selector=".ask .empty button")
    assert not asked.evaluate(script="document.querySelector('.ask textarea').value")


def test_a_citation_opens_its_document_at_the_quote(asked: Browser) -> None:
    ask(asked, "cite")
    assert asked.text(selector="article[aria-busy=false] .text") == "Five days. [1]"
    assert "<b>None</b>" in asked.text(selector=".sources")
    links = asked.evaluate(script="[...document.querySelectorAll('.sources a')].map((a) => [a.innerText, a.href])")
    assert links[:2] == [
        ["Leave", "https://docs.example/leave.html#:~:text=Five%20paid%2Dleave%20days"],
        ["Travel", "https://docs.example/travel.pdf#page=3"],
    ]
    assert links[2][1].partition("#")[2].startswith("document?route=docs&uri=gs%3A%2F%2Fbucket%2Fpay.md&start=5&quote=")
    assert links[3] == ["docs.example", "https://docs.example/pay.md#:~:text=%3Cb%3E9%2C000%3C%2Fb%3E%20euros"]
    # An address that is none leads nowhere, and the rest is shown all the same.
    assert [words for words, _ in links[4:]] == ["gs://bucket/odd.md"]


def test_a_hostile_document_is_text_and_one_that_may_not_be_read_says_so(asked: Browser, hub: FakeHub) -> None:
    ask(asked, "cite")
    hub.document = {"document": DOCUMENT}
    asked.click(selector=".sources a:text-is('Pay')")
    assert asked.text(selector=".document mark") == DOCUMENT["quote"]
    shown = asked.text(selector=".document")
    assert all(words in shown for words in ("<i>Pay</i>", "javascript:alert(4)"))
    assert "<script>alert(2)</script>" in shown
    assert "\u202e" not in shown
    assert asked.evaluate(script="document.querySelectorAll('.document :is(a, i, b, img, script)').length") == 0
    sent = hub.received[-1].json
    place = {"uri": "gs://bucket/pay.md", "start": 5, "quote": DOCUMENT["quote"]}
    # The address may be anybody's: its text is no question.
    assert sent == {"query": "Show this document.", "route": "docs", "document": place}
    for declines, told in (("nothing_known", "no_document"), ("failed", "document_down")):
        hub.document = {"declines": declines}
        asked.evaluate(script=f"location.hash = '#document?route=docs&uri=x&start=0&quote={declines}'")
        asked.wait(selector=f".document [data-t='error.{told}']")
    seen = asked.seen()
    assert seen["complaints"] == []


def test_a_question_that_was_answered_waits_no_longer(asked: Browser) -> None:
    ask(asked, "choose")
    asked.wait(selector="article .choices button")
    # The answer may be typed as well.
    ask(asked, "hostile")
    asked.wait(selector="article:nth-of-type(2)[aria-busy=false]")
    assert not asked.evaluate(script="document.querySelectorAll('.choices, [data-t=\"state.INPUT_REQUIRED\"]').length")


def test_a_question_whose_task_has_ended_elsewhere_does_not_end_the_conversation(asked: Browser, hub: FakeHub) -> None:
    ask(asked, "choose")
    asked.wait(selector="article .choices button")
    ask(asked, "late")
    asked.wait(selector="article [role=alert] .detail:text-is('The task has ended')")
    hub.go_on.set()
    ask(asked, "late")
    asked.wait(selector="article:nth-of-type(3)[aria-busy=false] p:text-is('the first words, and the last')")
    assert hub.received[-1].json["params"]["message"]["contextId"] == "context"


def test_what_one_person_typed_is_not_shown_to_the_next(asked: Browser, hub: FakeHub) -> None:
    ask(asked, "revoked")
    asked.click(selector="article [role=alert] a")
    hub.email = "jiro@example.com"
    asked.click(selector="a.button")
    asked.wait(selector="header bdi:text-is('jiro@example.com')")
    asked.wait(selector=".ask .empty button")
    assert not asked.evaluate(script="document.querySelector('.ask textarea').value")
    hub.email = "hanako@example.com"


def test_who_comes_back_from_a_document_is_where_they_left(asked: Browser) -> None:
    ask(asked, "cite")
    asked.wait(selector="article[aria-busy=false] .sources a")
    for turn in range(2, 7):
        ask(asked, "hostile")
        asked.wait(selector=f"article:nth-of-type({turn})[aria-busy=false]")
    asked.evaluate(script="scrollTo(0, 40)")
    asked.evaluate(script="document.querySelector('.sources a[href^=\"#document\"]').click()")
    asked.wait(selector=".document > *")
    asked.click(selector=".document-page a[href='#ask']")
    asked.wait(selector=".ask textarea")
    assert asked.evaluate(script="scrollY") == 40


def test_an_answer_says_who_declined_and_what_was_dropped(asked: Browser) -> None:
    ask(asked, "hostile")
    asked.click(selector="article[aria-busy=false] summary")
    shown = asked.text(selector="article dl")
    assert "<b>Wiki</b>: knows nothing about this" in shown
    assert "It is <i>9 m</i> high. figure" in shown


def test_health_is_for_operators(asked: Browser) -> None:
    asked.click(selector="nav a[href='#health']")
    assert "Only operators" in asked.text(selector=".health [data-t='error.operators']")


def test_health_shows_what_is_down_first_with_the_command_that_fixes_it(asked: Browser, hub: FakeHub) -> None:
    command = "gcloud run services add-iam-policy-binding pm --member=<hub>"
    down = {"check": "network", "outcome": "error", "message": "HTTP 403", "fix": "let the hub in", "command": command}
    fine = {"check": "network", "outcome": "ok", "message": "it answers"}
    hub.report = {"examined": [{"subject": "docqa", "steps": [fine]}, {"subject": "pm", "steps": [down]}]}
    asked.click(selector="nav a[href='#health']")
    assert asked.text(selector=".health tbody tr:first-child").split("\n")[0].startswith("pm")
    assert asked.text(selector=".health tbody tr:first-child code") == command
    hub.report = None


def test_health_is_in_the_language_of_the_page_and_a_foreign_sentence_stays_as_it_is(
    asked: Browser, hub: FakeHub
) -> None:
    found = {
        "HTTP 403: sa@p lacks roles/run.invoker on a2a-hub": "HTTP 403: sa@p に a2a-hub の roles/run.invoker がありません",
        "the hub does not answer the gate: no answer in time": "ハブが gate に応答しません: 時間内に応答がありませんでした",
        "<i>my</i> own words: all is well": "<i>my</i> own words: all is well",
    }
    steps = [{"check": "iam", "outcome": "error", "message": each, "fix": "run the command"} for each in found]
    hub.report = {"examined": [{"subject": "pm", "steps": steps}]}
    asked.click(selector="nav a[href='#health']")
    asked.wait(selector=".health tbody td")
    messages = "[...document.querySelectorAll('.health td:last-child > span')].map((each) => each.innerText)"
    assert asked.evaluate(script=messages) == list(found)
    asked.choose(selector="#language", value="ja")
    asked.wait(selector=".health p:text-is('次のコマンドを実行してください')")
    assert asked.evaluate(script=messages) == list(found.values())
    hub.report = None


def test_operators_see_workers_and_their_leases(asked: Browser, hub: FakeHub) -> None:
    asked.click(selector="nav a[href='#tasks']")
    asked.click(selector=".tasks .activity summary")
    asked.wait(selector=".tasks .activity [data-t='error.operators']")
    task = {"id": "t-1", "role": "reviewer", "state": "WORKING", "attempt": 2, "createdAt": 1_700_000_000}
    leases = [("<b>w</b>", 4_000_000_000), ("gone", 1_700_000_100), (None, None)]
    hub.activity = {"tasks": [{**task, "holder": holder, "leaseUntil": until} for holder, until in leases]}
    asked.click(selector=".tasks .activity summary")
    asked.click(selector=".tasks .activity summary")
    asked.wait(selector=".tasks .activity td:text-is('<b>w</b>')")
    keys = "[...document.querySelectorAll('.activity td:last-child span')].map((each) => each.dataset.t)"
    assert asked.evaluate(script=keys) == ["work.leased", "work.expired", "work.waits"]
    hub.activity = None


def test_a_task_that_is_shown_follows_what_happens_to_it_elsewhere(asked: Browser, hub: FakeHub) -> None:
    def task(state: str, timestamp: str, *texts: str) -> dict[str, Any]:
        said = [{"role": "ROLE_USER", "parts": [{"text": "Which?"}]}]
        artifacts = [{"artifactId": "a", "parts": [{"text": each}]} for each in texts]
        status = task_state(state)["status"] | {"timestamp": timestamp}
        return {"id": "task", "history": said, "artifacts": artifacts, "status": status}

    hub.tasks = [task("INPUT_REQUIRED", "2026-11-28T10:00:00Z")]
    asked.click(selector="nav a[href='#tasks']")
    asked.click(selector=".tasks button:text-is('Which?')")
    asked.wait(selector=".tasks .detail [data-t='state.INPUT_REQUIRED']")
    hub.tasks = [task("COMPLETED", "2026-11-28T10:00:01Z", "The first.")]
    asked.wait(selector=".tasks .detail p:text-is('The first.')")
    hub.tasks = []


def test_routes_show_clashes_of_keywords_and_operators_see_the_misses(asked: Browser, hub: FakeHub) -> None:
    def route(name: str, priority: int, *keywords: str) -> dict[str, Any]:
        texts = dict.fromkeys(("name", "nameJa", "description", "descriptionJa", "boundary"), name)
        return {"id": name, "priority": priority, "keywords": keywords, "patterns": [], "fallbacks": [], **texts}

    hub.routes = [route("a", 20, "Release", "経費"), route("b", 10, "release notes", "released", "旅費経費", "plan")]
    misses = [("unrouted", "How <i>high</i>?", 3), ("unanswered", None, 2)]
    told = [{"kind": kind, "route": "a", "text": text, "count": count} for kind, text, count in misses]
    hub.activity = {"misses": told, "days": 7}
    asked.click(selector="nav a[href='#routes']")
    asked.click(selector="[data-t=clashes]")
    asked.wait(selector="[data-t=clash]")
    clashes = asked.evaluate(script="[...document.querySelectorAll('[data-t=clash]')].map((each) => each.innerText)")
    assert [each.partition(" never")[0] for each in clashes] == ["“release notes” of b", "“旅費経費” of b"]
    first = "getComputedStyle(document.querySelector('.routes tbody td:nth-child(3)'), '::before').content"
    assert asked.evaluate(script=first) == "none"
    asked.click(selector="[data-t=misses]")
    shown = asked.text(selector=".routes .activity tbody")
    assert [line.split("\t") for line in shown.split("\n")] == [
        ["3", "No rule matched", "a", "How <i>high</i>?"],
        ["2", "No agent had an answer", "a", "(not recorded: LOG_TEXT is off)"],
    ]
    hub.routes, hub.activity = [], None


def test_a_hostile_answer_is_text_and_its_links_show_where_they_lead(asked: Browser) -> None:
    ask(asked, "hostile")
    shown = asked.text(selector="article[aria-busy=false] .text")
    assert "<script>alert(2)</script>" in shown
    assert "bank (evil.example)" in shown
    assert "https://fine.example/a https://mybank.example/ (bank.example)" in shown
    assert "https://bank.example@evil.example/z (evil.example)" in shown
    assert "[a](javascript:alert(3))" in shown
    assert not {"\u202e", "\u2066", "\u061c", "\U000e0041"} & set(shown)
    links = asked.evaluate(script="[...document.querySelectorAll('article a')].map((a) => a.href)")
    assert links == [
        "https://evil.example/x",
        "https://evil.example/pixel.png",
        "https://fine.example/a",
        "https://bank.example/y",
        "https://bank.example@evil.example/z",
    ]
    asked.click(selector="article summary")
    asked.click(selector="article [data-t=compare]")
    as_program = asked.text(selector=".as_program code")
    assert "\\u202e" in as_program
    assert "\\udb40\\udc41" in as_program
    assert not {"\u202e", "\u061c", "\U000e0041"} & set(as_program)
    assert asked.evaluate(script="document.querySelectorAll('article :is(img, script, iframe)').length") == 0
    seen = asked.seen()
    assert seen["complaints"] == []
    assert not {host for host in seen["hosts"] if not host.startswith("127.0.0.1:")}


def test_ten_megabytes_do_not_stop_the_page(asked: Browser) -> None:
    ask(asked, "huge")
    assert "longer than this page shows" in asked.text(selector="article[aria-busy=false] .text")
    ask(asked, "hostile")
    asked.wait(selector="article:nth-of-type(2)[aria-busy=false]")


def test_a_file_goes_with_the_question(asked: Browser, tmp_path: Path) -> None:
    (tmp_path / "メモ.txt").write_text("hello")
    asked.files(selector="#files", paths=[str(tmp_path / "メモ.txt")])
    ask(asked, "file")
    assert "メモ.txt: text/plain aGVsbG8=" in asked.text(selector="article[aria-busy=false] .text")


def test_a_turn_that_is_copied_as_curl_runs_in_a_shell_with_its_file(
    asked: Browser, hub: FakeHub, tmp_path: Path
) -> None:
    (tmp_path / "it's.txt").write_text("メモ" * 50_000)
    asked.files(selector="#files", paths=[str(tmp_path / "it's.txt")])
    ask(asked, "file")
    asked.wait(selector="article[aria-busy=false]")
    sent = hub.received[-1]
    asked.evaluate(script="navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    asked.click(selector="nav a[href='#inspect']")
    asked.click(selector="[data-t='inspect.curl']")
    asked.wait(selector="[data-t='inspect.curl']:text-is('Copied')")
    command = asked.evaluate(script="window.copied")
    shell = subprocess.run(
        ["sh"], input=command, text=True, capture_output=True, check=True, env={**os.environ, "TOKEN": "t"}
    )
    assert "COMPLETED" in shell.stdout
    again = hub.received[-1]
    assert again is not sent
    assert (again.json, again.headers["authorization"]) == (sent.json, "Bearer t")


def test_enter_that_chooses_a_word_while_japanese_is_composed_sends_nothing(asked: Browser) -> None:
    asked.fill(selector=".ask textarea", text="かんじ")
    composed = "new KeyboardEvent('keydown', {key: 'Enter', isComposing: true, bubbles: true, cancelable: true})"
    assert asked.evaluate(script=f"document.querySelector('.ask textarea').dispatchEvent({composed})")
    assert asked.evaluate(script="document.querySelectorAll('.question').length") == 0
