"""The settings of the agent for general questions: what turns the model on, and every mistake at once."""

import pytest

from a2a_hub.settings.reader import SettingsError
from functions.general import config

MODEL = {"GENERAL_MODEL": "gemini-2.5-flash", "GOOGLE_CLOUD_PROJECT": "my-hub-project"}


@pytest.mark.parametrize(
    "environ", [{}, {"GOOGLE_CLOUD_PROJECT": "my-hub-project", "GOOGLE_CLOUD_LOCATION": "us-central1"}]
)
def test_without_a_model_the_almanac_answers(environ: dict[str, str]) -> None:
    assert config.read(environ).gemini is None


def test_a_model_and_a_project_are_enough() -> None:
    gemini = config.read(MODEL).gemini
    assert gemini is not None
    assert (gemini.model, gemini.project, gemini.location) == ("gemini-2.5-flash", "my-hub-project", "global")
    assert gemini.endpoint is None
    # Less than the 30 s that the hub's route gives.
    assert gemini.timeout_seconds < 30


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("GENERAL_MODEL", "models/../secrets"),
        ("GENERAL_MODEL", "gemini flash"),
        ("GOOGLE_CLOUD_PROJECT", ""),
        ("GOOGLE_CLOUD_LOCATION", "https://evil.example"),
        ("VERTEX_AI_ENDPOINT", "http://vertex.example"),
        ("VERTEX_AI_ENDPOINT", "https://vertex.example/path"),
        ("MODEL_TIMEOUT_SECONDS", "soon"),
        ("MODEL_IDLE_SECONDS", "0"),
        ("MODEL_MAX_OUTPUT_TOKENS", "1"),
    ],
)
def test_a_wrong_setting_stops_the_start_and_is_named(variable: str, value: str) -> None:
    with pytest.raises(SettingsError, match=variable):
        config.read(MODEL | {variable: value})


def test_all_mistakes_are_told_at_once() -> None:
    wrong = {"GENERAL_MODEL": "?", "GOOGLE_CLOUD_LOCATION": "?", "VERTEX_AI_ENDPOINT": "?", "LOG_TEXT": "?"}
    with pytest.raises(SettingsError) as told:
        config.read(wrong)
    assert all(name in str(told.value) for name in (*wrong, "GOOGLE_CLOUD_PROJECT"))


@pytest.mark.parametrize("endpoint", ["https://vertex.example", "http://127.0.0.1:8123/"])
def test_a_token_goes_to_a_trusted_endpoint_only(endpoint: str) -> None:
    gemini = config.read(MODEL | {"VERTEX_AI_ENDPOINT": endpoint}).gemini
    assert gemini is not None
    assert gemini.endpoint == endpoint.rstrip("/")
