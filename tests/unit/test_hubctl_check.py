"""`hubctl check` and `hubctl evaluate`, as an operator calls them."""

import io
import json
import re
from collections.abc import Mapping
from pathlib import Path
from unicodedata import normalize

import pytest

from hubctl.main import main
from tests.unit.route_tables import DEFAULT, SHIPPED_FILE, route_text

LABELLED_FILE = SHIPPED_FILE.parent / "evaluation" / "routing.tsv"


def hubctl(*arguments: str | Path, environment: Mapping[str, str] | None = None) -> tuple[int, str]:
    out = io.StringIO()
    return main([str(argument) for argument in arguments], environment=environment or {}, out=out), out.getvalue()


@pytest.fixture
def routes(tmp_path: Path) -> Path:
    file = tmp_path / "routes.toml"
    file.write_text(route_text("pm", 'keywords = ["WBS"]', 'examples = ["a WBS"]', priority=1) + DEFAULT)
    return file


def test_the_shipped_table_passes_without_its_variables_but_says_that_they_are_missing() -> None:
    status, told = hubctl("check")
    assert status == 0
    assert "warning: EXPENSE_URL is not set" in told


def test_variables_that_are_set_are_checked_and_not_warned_of() -> None:
    status, told = hubctl("check", environment={"EXPENSE_URL": "http://expense.example"})
    assert status == 1
    assert "use https" in told
    assert "EXPENSE_URL is not set" not in told


def test_a_text_is_shown_with_its_route_and_why(routes: Path) -> None:
    status, told = hubctl("check", "--routes", routes, "--text", "My wbs")
    assert status == 0
    assert 'reason  keyword: "WBS" belongs to "pm"' in told


def test_json_holds_the_choice(routes: Path) -> None:
    status, told = hubctl("check", "--routes", routes, "--json", "--text", "hm", "--last-route", "pm")
    assert status == 0
    assert json.loads(told) == {
        "routes": ["pm", "other"],
        "problems": [],
        "warnings": [],
        "choice": {
            "route": "other",
            "rule": "default",
            "words": [],
            "reason": 'default: no rule matched, so "other" answers',
        },
        "also": [],
    }


def test_the_routes_that_a_text_passed_over_are_told_with_the_reason(routes: Path) -> None:
    hr = route_text("hr", 'keywords = ["leave"]', """patterns = ['wbs.*late']""", "unless = ['maternity']", priority=3)
    fac = route_text("rooms", 'keywords = ["room"]', priority=2)
    routes.write_text(routes.read_text() + hr + fac)
    told = hubctl("check", "--routes", routes, "--text", "A room for the WBS of maternity leave")[1]
    assert told.splitlines()[-3:] == [
        'reason  keyword: "room" belongs to "rooms"',
        'also    keyword: "leave" belongs to "hr" (its unless takes it out)',
        'also    keyword: "WBS" belongs to "pm" (priority 1)',
    ]
    assert "also" not in hubctl("check", "--routes", routes, "--text", "A WBS", "--skill", "hr")[1]


def test_a_keyword_that_always_loses_to_a_shorter_one_of_another_route_is_told(routes: Path) -> None:
    higher = route_text("plans", 'keywords = ["plan"]', priority=3)
    lower = route_text("hr", 'keywords = ["leave plan", "leave"]', priority=2)
    routes.write_text(routes.read_text() + higher + lower)
    status, told = hubctl("check", "--routes", routes)
    assert (status, [line for line in told.splitlines() if "warning" in line]) == (
        0,
        [
            'warning: keyword "leave plan" of "hr" decides nothing: keyword: "plan" belongs to "plans", whose priority is higher'
        ],
    )
    # What takes the other route out may leave it a text.
    routes.write_text(routes.read_text().replace('keywords = ["plan"]', """keywords = ["plan"]\nunless = ['leave']"""))
    assert "decides nothing" not in hubctl("check", "--routes", routes)[1]


def test_an_unknown_skill_is_told_with_the_known_ones(routes: Path) -> None:
    status, told = hubctl("check", "--routes", routes, "--text", "hm", "--skill", "hr")
    assert status == 1
    assert "known skills: pm, other" in told


def test_a_last_route_that_there_is_not_is_told_with_the_known_ones(routes: Path) -> None:
    status, told = hubctl("check", "--routes", routes, "--text", "hm", "--last-route", "hr")
    assert status == 1
    assert "there is no route 'hr'; known routes: pm, other" in told


def test_a_file_that_is_no_toml_is_told_by_its_own_name(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[[routes]]\nid = \n")
    status, told = hubctl("check", "--routes", file)
    assert status == 1
    assert told.startswith(f"{file}:2: this is not TOML")


def test_a_file_that_is_nested_too_deeply_is_told_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[hub]\nname = " + "[" * 100_000)
    status, told = hubctl("check", "--routes", file)
    assert status == 1
    assert told.startswith(f"{file}:2: this is not TOML: Too many tables and lists in one another")


def test_every_mistake_of_a_table_is_told_with_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / "broken.toml"
    file.write_text(DEFAULT + "retires = 1\nsticky = 1\n")
    status, told = hubctl("check", "--routes", file)
    assert status == 1
    assert told.splitlines() == [
        f"{file}:8: unknown key 'retires': did you mean \"retries\"?",
        f"{file}:9: sticky is 1: it must be true or false",
    ]
    status, told = hubctl("check", "--routes", file, "--json")
    assert (status, [problem["line"] for problem in json.loads(told)["problems"]]) == (1, [8, 9])


def test_an_example_that_does_not_reach_its_route_is_told(routes: Path) -> None:
    routes.write_text(routes.read_text().replace('["a WBS"]', '["a plan"]'))
    status, told = hubctl("check", "--routes", routes)
    assert status == 1
    assert '"a plan", an example of "pm", goes to "other"' in told


def test_a_call_without_sense_ends_with_status_2(routes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert hubctl("check", "--routes", routes.parent / "none.toml")[0] == 2
    assert hubctl("check", "--skill", "pm")[0] == 2
    assert hubctl("check", "--routes", routes, "--text", " \n") == (2, "")
    assert hubctl("evaluate", routes.parent / "none.tsv")[0] == 2
    told = capsys.readouterr().err
    assert "cannot be read: No such file" in told
    assert "add --text TEXT" in told
    assert "--text is empty: write the text to route, as in --text 'QUESTION'" in told


def test_the_route_of_the_documentation_takes_its_examples_and_nothing_else(tmp_path: Path) -> None:
    page = (SHIPPED_FILE.parent / "docs/routes.md").read_text(encoding="utf-8")
    (route,) = re.findall(r"```toml\n(\[\[routes\]\]\n.*?)```", page, re.DOTALL)
    (text,) = re.findall(r"hubctl check --text '(.*?)'", page)
    table = tmp_path / "routes.toml"
    table.write_text(SHIPPED_FILE.read_text(encoding="utf-8") + "\n" + route, encoding="utf-8")
    status, told = hubctl("check", "--routes", table, "--text", text)
    assert (status, told.splitlines()[-3].split()) == (0, ["route", "travel"])
    assert hubctl("evaluate", LABELLED_FILE, "--routes", table)[0] == 0


def test_the_shipped_questions_all_take_the_route_of_their_label() -> None:
    status, told = hubctl("evaluate", LABELLED_FILE)
    assert status == 0, told
    assert told.endswith("right (100.0%)\n")


def test_the_shipped_questions_are_many_different_and_half_japanese() -> None:
    lines = [line for line in LABELLED_FILE.read_text(encoding="utf-8").splitlines() if "\t" in line]
    # Full stops, question marks and the width of letters do not make another question.
    texts = {re.sub(r"[\s?!.,。、]+", "", normalize("NFKC", line.split("\t")[0])).casefold() for line in lines}
    assert len(texts) == len(lines) >= 160
    assert 0.45 < sum(not text.isascii() for text in texts) / len(texts) < 0.6


def test_a_misrouted_question_is_listed_counted_and_fails_the_run(routes: Path, tmp_path: Path) -> None:
    file = tmp_path / "questions.tsv"
    file.write_text("\ufefftext\troute\n# a comment\n\nmy WBS\tpm\nmy plan\tpm\n")
    status, told = hubctl("evaluate", file, "--routes", routes)
    assert status == 1
    assert f"{file}:5: expected pm, got other" in told
    assert "1 of 2 right (50.0%)" in told
    assert [line.split() for line in told.splitlines()[:3]] == [
        ["expected", "pm", "other", "(default)"],
        ["pm", "1", "0", "1"],
        ["other", "0", "0", "0"],
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("WBS\n", "1: write a text, a tab"),
        ("WBS\thr\n", "1: there is no route 'hr'"),
        ("# none\n", "no questions"),
        ("WBS\n\nplan\tpm\nplan\thr\n", "4: there is no route 'hr'"),
        ("WBS\n\nplan\tpm\nplan\thr\n", "1: write a text, a tab"),
    ],
)
def test_a_file_of_questions_that_makes_no_sense_is_refused(
    content: str, message: str, routes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "questions.tsv"
    file.write_text(content)
    assert hubctl("evaluate", file, "--routes", routes)[0] == 2
    assert message in capsys.readouterr().err
