"""`make audit` over a stand-in of the advisory database."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from local.audit import FOUND, NOT_CHECKED, ROOT, Pin, main, pins
from tests.fakes.http_server import Exchange, HttpServer

_LOCK = {
    "packages": {
        "": {},
        "node_modules/bats": {"version": "1.13.0"},
        "node_modules/a/node_modules/@b/c": {"version": "2.0.0"},
    }
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A tree with two requirements files, a lock file of npm, and an environment, which is not looked at."""
    for place in ("requirements/run.txt", "functions/hub/requirements.txt", ".venv/requirements.txt"):
        file = tmp_path / place
        file.parent.mkdir(parents=True)
        file.write_text("flask==3.1.3 \\\n    --hash=sha256:00\ngoogle-auth[requests]==2.0.0 ; python_version > '3'\n")
    (tmp_path / "package-lock.json").write_text(json.dumps(_LOCK))
    return tmp_path


def _answering(known: Mapping[str, Sequence[str]]) -> Callable[[Exchange], None]:
    def answer(exchange: Exchange) -> None:
        asked = [query["package"]["name"] for query in exchange.received.json["queries"]]
        exchange.json(
            {"results": [{"vulns": [{"id": each} for each in known[name]]} if name in known else {} for name in asked]}
        )

    return answer


def test_every_pin_is_asked_for_once(project: Path) -> None:
    files = ["functions/hub/requirements.txt", "requirements/run.txt"]
    assert pins(project) == {
        Pin("PyPI", "flask", "3.1.3"): files,
        Pin("PyPI", "google-auth", "2.0.0"): files,
        Pin("npm", "bats", "1.13.0"): ["package-lock.json"],
        Pin("npm", "@b/c", "2.0.0"): ["package-lock.json"],
    }
    assert {"bench/sdk/requirements.txt", "workers/workspace/requirements.txt"} <= {
        file for named in pins(ROOT).values() for file in named
    }


def test_a_known_vulnerability_is_told_with_the_files_that_pin_it(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with HttpServer(_answering({"flask": ["GHSA-1", "PYSEC-2"]})) as database:
        assert main(root=project, url=database.url) == FOUND
    assert capsys.readouterr().out.splitlines() == [
        "flask 3.1.3: https://osv.dev/GHSA-1 (functions/hub/requirements.txt, requirements/run.txt)",
        "flask 3.1.3: https://osv.dev/PYSEC-2 (functions/hub/requirements.txt, requirements/run.txt)",
        "4 pinned packages, 2 known vulnerabilities",
    ]


def test_without_any_the_status_is_0(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with HttpServer(_answering({})) as database:
        assert main(root=project, url=database.url) == 0
    assert capsys.readouterr().out == "4 pinned packages, 0 known vulnerabilities\n"


def test_a_database_that_does_not_answer_is_told_and_is_no_success(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with HttpServer(lambda exchange: exchange.answer(503)) as database:
        assert main(root=project, url=database.url) == NOT_CHECKED
    assert "NOT CHECKED: the advisory database cannot be reached from here" in capsys.readouterr().err
