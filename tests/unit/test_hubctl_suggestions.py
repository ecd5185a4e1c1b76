"""A misspelt command, option, value or route gets the name that was meant."""

from pathlib import Path

import pytest

from tests.unit.route_tables import DEFAULT, route_text
from tests.unit.test_hubctl_check import hubctl


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["chek"], 'did you mean "check"?'),
        (["check", "--tekst", "WBS"], 'did you mean "--text"?'),
        (["card", "--for", "gemini-enterprize"], 'did you mean "gemini-enterprise"?'),
        (["tasks", "bakup", "file"], 'did you mean "backup"?'),
    ],
)
def test_a_misspelt_word_is_suggested(arguments: list[str], hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        hubctl(*arguments)
    assert refused.value.code == 2
    assert hint in capsys.readouterr().err


def test_without_a_command_all_of_them_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert hubctl()[0] == 2
    assert "ask a running hub one question" in capsys.readouterr().err


def test_a_word_like_no_other_gets_no_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        hubctl("xyzzy")
    assert "did you mean" not in capsys.readouterr().err


def test_a_misspelt_route_is_suggested(tmp_path: Path) -> None:
    file = tmp_path / "routes.toml"
    file.write_text(route_text("travel", 'keywords = ["train"]', 'fallbacks = ["othr"]', priority=1) + DEFAULT)
    assert 'did you mean "other"?' in hubctl("check", "--routes", file)[1]
    file.write_text(file.read_text().replace("othr", "other"))
    for option in ("--skill", "--last-route"):
        assert 'did you mean "travel"?' in hubctl("check", "--routes", file, "--text", "hm", option, "travl")[1]
