"""Renamed settings: the former name works for one version, with a warning."""

from __future__ import annotations

import pytest

from a2a_hub.settings.reader import Settings

_ALIASES = {"MODEL_SECONDS": "PATIENCE"}


def _read(environ: dict[str, str]) -> tuple[str | None, list[str]]:
    warnings: list[str] = []
    settings = Settings(environ, aliases=_ALIASES, warn=warnings.append)
    return settings.optional("MODEL_SECONDS"), warnings


def test_a_former_name_is_read_with_a_warning_that_names_both_and_no_value() -> None:
    value, warnings = _read({"PATIENCE": "5"})
    assert value == "5"
    assert warnings == ["PATIENCE is now called MODEL_SECONDS; the former name works until the next version"]


def test_the_present_name_wins_over_the_former_one() -> None:
    assert _read({"PATIENCE": "5", "MODEL_SECONDS": "6"})[0] == "6"
    assert _read({"PATIENCE": "5", "MODEL_SECONDS": ""})[0] == "5"


def test_the_present_name_alone_warns_of_nothing() -> None:
    assert _read({"MODEL_SECONDS": "6"}) == ("6", [])
    assert _read({}) == (None, [])


def test_without_another_place_warnings_go_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert Settings({"PATIENCE": "5"}, aliases=_ALIASES).optional("MODEL_SECONDS") == "5"
    written = capsys.readouterr()
    assert written.err.startswith("WARNING: PATIENCE is now called MODEL_SECONDS")
    assert not written.out
