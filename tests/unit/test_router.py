"""The router: which rule wins, what counts as a word, and that no text upsets it."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2a_hub.routing.parser import load
from a2a_hub.routing.router import Router, Rule
from tests.unit.route_tables import DEFAULT, route_text, router, shipped_table

SHIPPED = Router(shipped_table())
SHIPPED_AGAIN = Router(shipped_table())

QUESTIONS = [
    ("What is the expense reimbursement submission deadline?", "expense"),
    ("経費精算の申請期限はいつですか", "expense"),
    ("List three tasks for creating a project WBS.", "pm"),
    ("プロジェクトのWBSを作成するためのタスクを3つ挙げて", "pm"),
    ("What is the height of Mount Fuji?", "general"),
    ("富士山の高さは", "general"),
    ("What is the deadline for notifying the infrastructure team for a P-1 incident?", "docqa"),
    ("P-1インシデントの際、インフラチームへの連絡期限は", "docqa"),
]


@pytest.mark.parametrize("text", ["and Japan?", "じゃあ日本は？", "二番目は？"])
def test_in_the_sample_a_follow_up_stays_with_the_agent_that_answered_before(text: str) -> None:
    for last in ("general", "expense", "pm", "docqa", "devtool"):
        choice = SHIPPED.choose(text, last_route=last)
        assert (choice.route.id, choice.rule) == (last, Rule.FOLLOW_UP)


@pytest.mark.parametrize(("text", "route"), QUESTIONS)
def test_the_papers_four_questions_take_their_routes_in_both_languages(text: str, route: str) -> None:
    assert SHIPPED.choose(text).reaches(route)


@pytest.mark.parametrize(
    "text",
    [
        "According to our handbook, who approves the project plan?",
        "What does the employee handbook say about the Python files in my workspace?",
        "In our manual, how is a WBS numbered?",
        "社内文書では経費精算の期限はいつですか",
        "旅費規程によるとタクシー代は誰が払いますか",
        "規定では、プロジェクトの進捗は誰に報告しますか",
    ],
)
def test_a_text_that_names_the_documents_goes_there_whatever_else_it_says(text: str) -> None:
    choice = SHIPPED.choose(text)
    assert (choice.route.id, choice.rule) == ("docqa", Rule.NAMED)
    assert choice.reason_without_text == 'named: one of "docqa"'


def test_a_name_wins_over_every_keyword_and_pattern_and_over_the_exceptions() -> None:
    names = ('names = ["Travel Guide 2026"]', "named_by = ['per the docs']", "unless = ['taxi']")
    rules = router(route_text("docs", *names, priority=1), route_text("expense", 'keywords = ["taxi"]', priority=2))
    for text in ("Is a taxi in the “travel guide 2026”?", "Is a taxi allowed, per the docs?"):
        assert (rules.choose(text).route.id, rules.choose(text).rule) == ("docs", Rule.NAMED)
    assert rules.choose("Is a taxi in the guide?").route.id == "expense"


def test_a_keyword_wins_over_a_pattern_of_higher_priority() -> None:
    rules = router(
        route_text("low", 'keywords = ["budget"]', priority=1),
        route_text("high", "patterns = ['budget.*plan']", priority=2),
    )
    choice = rules.choose("Our budget for the plan")
    assert (choice.route.id, choice.rule, choice.words) == ("low", Rule.KEYWORD, ("budget",))


@pytest.mark.parametrize("rule", ['keywords = ["{0}"]', "patterns = ['{0}']"])
def test_of_two_routes_that_match_the_higher_priority_wins_wherever_it_stands(rule: str) -> None:
    one = route_text("one", rule.format("alpha"), priority=1)
    two = route_text("two", rule.format("beta"), priority=2)
    for order in ((one, two), (two, one)):
        assert router(*order).choose("alpha and beta").route.id == "two"


def test_the_reason_names_the_rule_and_all_words_of_the_winner() -> None:
    rules = router(route_text("pm", 'keywords = ["WBS", "進捗", "Gantt"]', priority=1))
    choice = rules.choose("進捗を wbs で管理する")
    assert choice.words == ("WBS", "進捗")
    assert choice.reason == 'keyword: "WBS", "進捗" belongs to "pm"'


def test_a_patterns_words_are_what_it_matched_cut_to_a_line() -> None:
    rules = router(route_text("pm", "patterns = ['project.*late', 'wbs.*']", priority=1))
    assert rules.choose("Our PROJECT is  late!").words == ("project is late",)
    assert rules.choose("wbs" + " x" * 1_000).words == (("wbs" + " x" * 1_000)[:59] + "…",)


def test_what_a_text_says_itself_goes_before_what_it_quotes_and_how_it_is_signed() -> None:
    rules = router(
        route_text("expense", 'keywords = ["taxi"]', priority=1),
        route_text("pm", 'keywords = ["project"]', priority=2),
    )
    for mail in (
        "> How is the project?\nWho pays the taxi?",
        "Who pays the taxi?\n\nBest regards\nTom, Project X",
    ):
        assert rules.choose(mail).route.id == "expense"
    assert rules.choose("Please see below.\n> How is the project?").route.id == "pm"
    assert rules.choose("Please see below.\nThanks\nTom, Taxi Desk\n> How is the project?").route.id == "pm"
    assert rules.choose("Dear taxi desk,\nplease call me.").route.id == "expense"


def test_a_signature_and_what_stands_under_it_decide_nothing() -> None:
    rules = router(route_text("pm", 'keywords = ["project", "confidential"]', priority=2))
    for mail in (
        "How high is Mount Fuji?\nBest\nTom\nProject Office\nThis e-mail is confidential.",
        "How high is Mount Fuji?\nThanks\nTom\nProject Office\n-----Original Message-----\nFrom: Mia\nWho comes to lunch?",
        "富士山の高さを教えてください。\nよろしくお願いいたします。\n田中（Project推進室）",
    ):
        assert rules.choose(mail).rule is Rule.DEFAULT


def test_a_text_that_matches_nothing_takes_the_default() -> None:
    choice = router(route_text("pm", 'keywords = ["wbs"]', priority=1)).choose("Good morning")
    assert (choice.route.id, choice.rule, choice.words) == ("other", Rule.DEFAULT, ())


def test_a_text_that_matches_nothing_stays_with_a_sticky_last_route() -> None:
    sticky = route_text("talk", 'keywords = ["talk"]', "sticky = true", priority=1)
    rules = router(sticky, route_text("pm", 'keywords = ["wbs"]', priority=2))
    assert rules.choose("And then?", last_route="talk").rule is Rule.STICKY
    assert rules.choose("And the WBS?", last_route="talk").route.id == "pm"
    assert rules.choose("And then?", last_route="pm").route.id == "other"
    assert rules.choose("And then?", last_route="gone").route.id == "other"


def test_a_follow_up_that_matches_nothing_stays_with_a_last_route_that_keeps_follow_ups() -> None:
    talk = route_text("talk", 'keywords = ["talk"]', "follow_ups = true", priority=1)
    rules = router(talk, route_text("pm", 'keywords = ["wbs"]', priority=2))
    choice = rules.choose("and abroad?", last_route="talk")
    assert (choice.route.id, choice.rule) == ("talk", Rule.FOLLOW_UP)
    assert choice.reason == 'follow-up: it takes up the question before, which went to "talk"'
    assert rules.choose("What is the height of Mount Fuji?", last_route="talk").rule is Rule.DEFAULT
    assert rules.choose("and the WBS?", last_route="talk").route.id == "pm"
    for last in ("pm", "gone", None):
        assert rules.choose("and abroad?", last_route=last).rule is Rule.DEFAULT


@pytest.mark.parametrize(("text", "route"), QUESTIONS)
def test_the_papers_four_questions_take_their_routes_after_any_other(text: str, route: str) -> None:
    for last in ("expense", "pm", "docqa", "devtool", "general"):
        assert SHIPPED.choose(text, last_route=last).reaches(route)


def test_a_named_skill_wins_over_the_text() -> None:
    choice = SHIPPED.choose("List three tasks for creating a project WBS.", skill="expense")
    assert (choice.route.id, choice.rule, choice.words) == ("expense", Rule.SKILL, ("expense",))


def test_an_exception_takes_a_route_out_for_keywords_and_patterns_but_not_for_its_name() -> None:
    rules = router(
        route_text("pm", 'keywords = ["milestone"]', "patterns = ['plan']", "unless = ['birthday']", priority=2),
        route_text("hr", "patterns = ['plan']", priority=1),
    )
    assert rules.choose("milestone").route.id == "pm"
    assert rules.choose("milestone BIRTHDAY").route.id == "other"
    assert rules.choose("plan the birthday").route.id == "hr"
    assert rules.choose("milestone birthday", skill="pm").route.id == "pm"


WORDS = [
    ("pm", "the PM said", True),
    ("pm", "PMの役割", True),
    ("pm", "(pm)", True),
    ("pm", "rpm", False),
    ("pm", "3pm", False),
    ("pm", "pm_id", False),
    ("pm", "rpm and pm", True),
    ("wbs", "two WBSs", False),
    ("milestone", "Milestones!", True),
    ("policy", "our policies", True),
    ("survey", "surveys", True),
    ("tax", "taxes", True),
    ("expense report", "expense  reports", True),
    ("expense report", "expense reporting", False),
    ("p-1", "P−1インシデント", True),
    ("p-1", "p-10", False),
    ("cafe", "cafés", False),
    ("経費", "交通経費精算", True),
    ("プロジェクト", "社内ﾌﾟﾛｼﾞｪｸﾄの", True),
    ("ﾌﾟﾛｼﾞｪｸﾄ", "プロジェクト", True),
    ("リスク", "アスタリスク", False),
    ("リスク", "リスク管理", True),
    ("リスク", "リスクー", False),
    ("経費精算", "経\u200b費精算", True),
    ("ＷＢＳ", "wbs", True),
    ("c++", "C++ or C", True),
    ("精", "精算", True),
]


@pytest.mark.parametrize(("keyword", "text", "matches"), WORDS)
def test_what_counts_as_a_keyword_of_a_text(keyword: str, text: str, matches: bool) -> None:
    rules = router(route_text("it", f'keywords = ["{keyword}"]', priority=1))
    assert rules.choose(text).route.id == ("it" if matches else "other")


words = st.sampled_from(
    [
        "wbs",
        "WBS",
        "pm",
        "3pm",
        "incident",
        "インシデント",
        "経費",
        "精算",
        "p-1",
        "milestone",
        "birthday",
        "project",
        "plan",
        "。",
        "、",
        "の",
        "?",
        "富士山",
        "リスク",
        "ｶﾅ",
    ]
)
sentences = st.lists(words | st.text(max_size=5), max_size=12).map(" ".join)


@given(sentences)
def test_the_same_text_always_takes_the_same_route(text: str) -> None:
    assert SHIPPED.choose(text) == SHIPPED_AGAIN.choose(text)


@given(sentences)
def test_width_and_case_do_not_matter(text: str) -> None:
    wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)
    expected = SHIPPED.choose(text).route.id
    assert SHIPPED.choose(wide).route.id == expected
    assert SHIPPED.choose(text.swapcase().swapcase()).route.id == expected
    assert SHIPPED.choose(unicodedata.normalize("NFD", text)).route.id == expected


@given(st.text() | st.text(alphabet=st.characters(categories=["Cs", "Cc", "Mn", "Cf"])))
def test_no_text_is_an_error(text: str) -> None:
    assert SHIPPED.choose(text).route.id in {"expense", "pm", "docqa", "devtool", "general"}


@pytest.mark.parametrize(
    "piece", ["a", "rpm ", "(" * 9, "経費精算システム", "project ", "ﾌﾟ", "\u0301", "p-", "\x00", "。"]
)
def test_a_megabyte_of_anything_is_decided(piece: str) -> None:
    text = piece * (1_000_000 // len(piece.encode()))
    assert SHIPPED.choose(text) == SHIPPED.choose(text)


@pytest.mark.parametrize("text", ["{question}\n{pasted}", "{pasted}\n{question}"])
def test_a_question_before_or_after_a_pasted_document_is_routed(text: str) -> None:
    written = text.format(question="How do I claim a taxi receipt?", pasted="lorem ipsum " * 100_000)
    assert SHIPPED.choose(written).route.id == "expense"


def test_the_only_rule_among_a_thousand_is_found() -> None:
    routes = [
        route_text(
            f"r{n}",
            f'keywords = ["word {n}", "課題{n}号"]',
            f"patterns = ['order {n}\\b.*refund']",
            priority=n,
        )
        for n in range(1, 1_001)
    ]
    rules = Router(load("\n".join([*routes, DEFAULT]), variables={}))
    assert rules.choose("lorem word 617 ipsum").route.id == "r617"
    assert rules.choose("課題42号について").route.id == "r42"
    assert rules.choose("order 7 needs a refund").route.id == "r7"
    assert rules.choose("lorem ipsum").route.id == "other"
