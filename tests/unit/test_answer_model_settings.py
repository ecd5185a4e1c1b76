"""The settings of the answer model: what turns it on, and every mistake at once."""

import pytest

from a2a_hub.agents import settings
from a2a_hub.gemini.settings import GeminiSettings
from a2a_hub.language_models.openai_compatible import OpenAiSettings
from a2a_hub.settings.reader import SettingsError

GEMINI = {"ANSWER_MODEL": "gemini-2.5-flash", "GOOGLE_CLOUD_PROJECT": "my-hub-project"}
LOCAL = {"ANSWER_MODEL": "llama3.3:70b", "ANSWER_MODEL_URL": "http://127.0.0.1:11434/v1/"}


@pytest.mark.parametrize(
    "environ", [{}, {"GOOGLE_CLOUD_PROJECT": "my-hub-project", "GOOGLE_CLOUD_LOCATION": "us-central1"}]
)
def test_without_a_model_none_is_asked(environ: dict[str, str]) -> None:
    assert settings.read(environ).answer_model is None


def test_gemini_needs_a_project_and_no_more() -> None:
    found = settings.read(GEMINI).answer_model
    assert found is not None
    assert isinstance(found.model, GeminiSettings)
    assert (found.model.model, found.model.project, found.model.location) == (*GEMINI.values(), "global")
    assert (found.model.endpoint, found.check) == (None, "model")
    # Less than the 30 s that the hub's route gives.
    assert found.model.timeout_seconds < 30


def test_any_other_model_has_an_address() -> None:
    found = settings.read({**LOCAL, "ANSWER_MODEL_KEY": "secret", "ANSWER_CHECK": "none"}).answer_model
    assert found is not None
    assert isinstance(found.model, OpenAiSettings)
    assert (found.model.url, found.model.model, found.model.key) == (
        "http://127.0.0.1:11434/v1",
        LOCAL["ANSWER_MODEL"],
        "secret",
    )
    assert found.check == "none"


@pytest.mark.parametrize(
    ("environ", "variable"),
    [
        (GEMINI | {"ANSWER_MODEL": "models/../secrets"}, "ANSWER_MODEL"),
        (GEMINI | {"ANSWER_MODEL": "gemini flash"}, "ANSWER_MODEL"),
        (GEMINI | {"GOOGLE_CLOUD_PROJECT": ""}, "GOOGLE_CLOUD_PROJECT"),
        (GEMINI | {"GOOGLE_CLOUD_LOCATION": "https://evil.example"}, "GOOGLE_CLOUD_LOCATION"),
        (GEMINI | {"VERTEX_AI_ENDPOINT": "http://vertex.example"}, "VERTEX_AI_ENDPOINT"),
        (GEMINI | {"VERTEX_AI_ENDPOINT": "https://vertex.example/path"}, "VERTEX_AI_ENDPOINT"),
        (GEMINI | {"MODEL_TIMEOUT_SECONDS": "soon"}, "MODEL_TIMEOUT_SECONDS"),
        (GEMINI | {"MODEL_IDLE_SECONDS": "0"}, "MODEL_IDLE_SECONDS"),
        (GEMINI | {"MODEL_MAX_OUTPUT_TOKENS": "1"}, "MODEL_MAX_OUTPUT_TOKENS"),
        (GEMINI | {"ANSWER_CHECK": "maybe"}, "ANSWER_CHECK"),
        (LOCAL | {"ANSWER_MODEL": ""}, "ANSWER_MODEL"),
        (LOCAL | {"ANSWER_MODEL_URL": "http://models.example/v1"}, "ANSWER_MODEL_URL"),
        ({"PHRASE_MODEL": "gemini-2.5-flash"}, "PHRASE_MODEL"),
        ({"SELECT_MODEL": "gemini-2.5-flash"}, "SELECT_MODEL"),
        ({"GENERAL_MODEL": "gemini-2.5-flash"}, "GENERAL_MODEL"),
    ],
)
def test_a_wrong_setting_stops_the_start_and_is_named(environ: dict[str, str], variable: str) -> None:
    with pytest.raises(SettingsError, match=variable):
        settings.read(environ)


def test_a_removed_setting_names_the_new_one() -> None:
    with pytest.raises(SettingsError, match="ANSWER_MODEL"):
        settings.read({"PHRASE_MODEL": "gemini-2.5-flash"})


def test_a_turn_has_more_time_than_its_model_and_less_than_its_route() -> None:
    assert settings.read({}).answer_seconds == 25
    assert settings.read({"MODEL_TIMEOUT_SECONDS": "100"}).answer_seconds == 105
    assert settings.read({"MODEL_TIMEOUT_SECONDS": "100", "ANSWER_TIMEOUT_SECONDS": "30"}).answer_seconds == 30


def test_all_mistakes_are_told_at_once() -> None:
    wrong = {"ANSWER_MODEL": "?", "GOOGLE_CLOUD_LOCATION": "?", "VERTEX_AI_ENDPOINT": "?", "LOG_TEXT": "?"}
    with pytest.raises(SettingsError) as told:
        settings.read(wrong)
    assert all(name in str(told.value) for name in (*wrong, "GOOGLE_CLOUD_PROJECT"))


@pytest.mark.parametrize("endpoint", ["https://vertex.example", "http://127.0.0.1:8123/"])
def test_a_token_goes_to_a_trusted_endpoint_only(endpoint: str) -> None:
    found = settings.read(GEMINI | {"VERTEX_AI_ENDPOINT": endpoint}).answer_model
    assert found is not None
    assert isinstance(found.model, GeminiSettings)
    assert found.model.endpoint == endpoint.rstrip("/")
