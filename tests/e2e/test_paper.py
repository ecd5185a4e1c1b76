"""`hubctl evaluate --live --paper`: the paper's evaluation over the local cloud."""

import io
from pathlib import Path

import pytest

from hubctl.live.paper import read_cases, read_questions
from hubctl.main import main
from local.cloud.wiring import CLOUD_FILE
from tests.e2e.hubs import ROOT
from tests.e2e.local_clouds import LocalCloud

EVALUATION = ROOT / "evaluation"


def reproduced(cloud: LocalCloud, *options: str) -> tuple[int, str]:
    out = io.StringIO()
    arguments = ["evaluate", "--live", "--paper", "--url", cloud.hub.url, "--token", cloud.hub.tokens[0]]
    place = ["--cloud", str(cloud.hub.logs / CLOUD_FILE)]
    return main([*arguments, *place, *options], environment={}, out=out), out.getvalue()


def test_the_questions_and_the_cases_are_those_of_the_paper() -> None:
    questions = [each for each in read_questions(EVALUATION / "paper.toml") if each.paper]
    assert [(each.paper, each.route) for each in questions] == [
        (1, "expense"),
        (2, "pm"),
        (3, "general"),
        (4, "docqa"),
    ]
    assert [each.status for each in read_cases(EVALUATION / "paper_cases.toml")] == [None, 401, 403, None]


def test_every_finding_is_as_the_paper_reports(cloud: LocalCloud) -> None:
    status, told = reproduced(cloud)
    assert "16 of 16 as the paper reports" in told
    assert "pm (iam): HTTP 401" in told
    assert "pm (iam): HTTP 403" in told
    assert "docqa (iam): unverified" in told
    assert status == 0
    assert not any(cloud.faults(stand_in) for stand_in in cloud.urls)


def test_the_tables_in_the_documentation_are_what_the_command_writes(cloud: LocalCloud) -> None:
    page = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    first, last = page.index("\n## Everything in order"), page.index("\n## Further statements")
    assert page[first:last] == reproduced(cloud)[1]


def test_what_is_not_as_the_paper_reports_is_told(cloud: LocalCloud) -> None:
    cloud.break_it("discovery-engine", "deny-search")
    status, told = reproduced(cloud)
    assert status == 1
    assert "12 of 16 as the paper reports" in told
    assert "/tools/query: no citation quotes “within 15 minutes of incident detection”" in told


def test_without_a_local_cloud_it_says_how_to_start_one(
    cloud: LocalCloud, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _ = reproduced(cloud, "--cloud", str(tmp_path / "cloud.json"))
    assert status == 2
    assert "make run CLOUD=local" in capsys.readouterr().err


def test_it_asks_a_running_hub_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "--paper"], environment={}, out=io.StringIO()) == 2
    assert "add --live" in capsys.readouterr().err
