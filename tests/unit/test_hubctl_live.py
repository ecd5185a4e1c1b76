"""`hubctl evaluate --live`, when it cannot be done as it was asked for."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.fakes.http_server import Exchange, HttpServer
from tests.unit.test_hubctl_check import LABELLED_FILE, hubctl


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([LABELLED_FILE, "--token", "t"], "--token is about a running hub: add --live"),
        (["--live", "--cloud", "cloud.json"], "--cloud is about the paper's evaluation: add --paper"),
        (["--live", "none.toml"], "none.toml cannot be read: No such file"),
        (["--live", LABELLED_FILE], "routing.tsv is not a file of questions like evaluation/paper.toml: "),
        (["--live", "--token", "日本"], "the token holds characters that no header can carry"),
    ],
)
def test_what_cannot_be_done_is_told_with_the_way_out(
    arguments: Sequence[str | Path], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hubctl("evaluate", *arguments)[0] == 2
    assert message in capsys.readouterr().err


def test_questions_that_are_none_are_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "questions.toml"
    file.write_text("")
    assert hubctl("evaluate", "--live", file)[0] == 2
    assert f"{file} holds no [[questions]]" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("status", "body", "token", "message"),
    [
        (401, b"{}", None, "the hub wants a token"),
        (401, b"{}", "old", "the hub refused the token"),
        (404, b"{}", None, "/ answered HTTP 404: is --url a hub's?"),
        (503, b"{}", None, "/ answered HTTP 503\n"),
        (200, b"<html>", None, "/ answered HTTP 200: is --url a hub's?"),
        (200, b'{"status": "ok"}', None, "/ is no hub: is --url right?"),
        (200, b'{"result": {"parts": ["text"]}}', None, "/ is no hub: is --url right?"),
        (200, b'{"error": {"message": "Not here"}}', None, "an error: Not here"),
        (200, b'{"result": {"parts": [{"kind": "text"}]}}', None, "/tools/query is no hub: is --url right?"),
    ],
)
def test_what_answers_in_the_place_of_a_hub_is_told(
    status: int, body: bytes, token: str | None, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def behave(exchange: Exchange) -> None:
        exchange.answer(status, body, content_type="application/json")

    with HttpServer(behave) as there:
        options = ["--token", token] if token else []
        assert hubctl("evaluate", "--live", "--url", there.url, *options)[0] == 2
    assert message in capsys.readouterr().err
