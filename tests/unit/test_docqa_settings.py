"""The settings of document QA: a folder, or one data store or engine, and every error at once."""

import subprocess
import sys
from pathlib import Path

import pytest

from a2a_hub.settings.reader import SettingsError
from functions.docqa.cloud.config import CloudConfig
from functions.docqa.config import read

ROOT = Path(__file__).parents[2]
COLLECTION = "projects/my-project/locations/{}/collections/default_collection"
STORE = {"GOOGLE_CLOUD_PROJECT": "my-project", "DISCOVERY_ENGINE_DATA_STORE": "rules"}


def cloud(**environment: str) -> CloudConfig:
    config = read(environment).cloud
    assert config is not None
    return config


def problems(**environment: str) -> list[str]:
    with pytest.raises(SettingsError) as raised:
        read(environment)
    return [line.strip() for line in str(raised.value).splitlines()[1:]]


def test_with_nothing_set_documents_come_from_the_folder() -> None:
    config = read({})
    assert config.cloud is None
    assert config.corpus_dir.is_dir()


def test_a_project_alone_is_no_reason_to_leave_the_folder() -> None:
    assert read({"GOOGLE_CLOUD_PROJECT": "my-project"}).cloud is None


@pytest.mark.parametrize(
    ("environment", "serving_config", "host"),
    [
        (
            STORE,
            COLLECTION.format("global") + "/dataStores/rules/servingConfigs/default_config",
            "discoveryengine.googleapis.com",
        ),
        (
            {**STORE, "DISCOVERY_ENGINE_LOCATION": "eu", "DISCOVERY_ENGINE_SERVING_CONFIG": "default_search"},
            COLLECTION.format("eu") + "/dataStores/rules/servingConfigs/default_search",
            "eu-discoveryengine.googleapis.com",
        ),
        (
            {"DISCOVERY_ENGINE_PROJECT": "my-project", "DISCOVERY_ENGINE_ENGINE": "search"},
            COLLECTION.format("global") + "/engines/search/servingConfigs/default_config",
            "discoveryengine.googleapis.com",
        ),
        (
            {
                "DISCOVERY_ENGINE_SERVING_CONFIG": COLLECTION.format("us")
                + "/engines/search/servingConfigs/default_search"
            },
            COLLECTION.format("us") + "/engines/search/servingConfigs/default_search",
            "us-discoveryengine.googleapis.com",
        ),
    ],
)
def test_a_data_store_or_an_engine_is_named_in_parts_or_in_full(
    environment: dict[str, str], serving_config: str, host: str
) -> None:
    config = cloud(**environment)
    assert (config.serving_config, config.search_endpoint, config.project) == (
        serving_config,
        host,
        "my-project",
    )


def test_the_data_stores_project_may_be_another_than_the_functions() -> None:
    config = cloud(**STORE, DISCOVERY_ENGINE_PROJECT="data-project")
    assert (config.project, config.serving_config.split("/")[1]) == ("data-project", "data-project")


def test_check_grounding_is_asked_where_that_is_configured() -> None:
    found = read({**STORE, "ANSWER_MODEL": "gemini-3.8-flash", "ANSWER_CHECK": "grounding"})
    assert found.answer_model
    assert found.answer_model.check == "grounding"
    (problem,) = problems(ANSWER_CHECK="grounding", ANSWER_MODEL="gemini-3.8-flash", GOOGLE_CLOUD_PROJECT="my-project")
    assert problem.startswith("ANSWER_CHECK")


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"DISCOVERY_ENGINE_DATA_STORE": "rules"}, "DISCOVERY_ENGINE_PROJECT"),
        ({**STORE, "DISCOVERY_ENGINE_ENGINE": "search"}, "DISCOVERY_ENGINE_DATA_STORE"),
        ({**STORE, "DISCOVERY_ENGINE_DATA_STORE": "Rules/.."}, "DISCOVERY_ENGINE_DATA_STORE"),
        ({**STORE, "GOOGLE_CLOUD_PROJECT": "a/b"}, "DISCOVERY_ENGINE_PROJECT"),
        ({**STORE, "DISCOVERY_ENGINE_LOCATION": "tokyo"}, "DISCOVERY_ENGINE_LOCATION"),
        ({**STORE, "CORPUS_DIR": str(ROOT)}, "CORPUS_DIR"),
        ({**STORE, "DISCOVERY_ENGINE_ENDPOINT": "http://example.com"}, "DISCOVERY_ENGINE_ENDPOINT"),
        ({**STORE, "DISCOVERY_ENGINE_ENDPOINT": "https://example.com/v1"}, "DISCOVERY_ENGINE_ENDPOINT"),
        ({**STORE, "STORAGE_EMULATOR_HOST": "http://10.0.0.1:9000"}, "STORAGE_EMULATOR_HOST"),
        ({**STORE, "STORAGE_EMULATOR_HOST": "localhost:9000"}, "STORAGE_EMULATOR_HOST"),
        ({**STORE, "ANSWER_TIMEOUT_SECONDS": "soon"}, "ANSWER_TIMEOUT_SECONDS"),
    ],
)
def test_what_is_wrong_is_named(environment: dict[str, str], named: str) -> None:
    (problem,) = problems(**environment)
    assert problem.startswith(named)


def test_everything_that_is_wrong_is_said_at_once() -> None:
    told = problems(DISCOVERY_ENGINE_LOCATION="moon", DISCOVERY_ENGINE_ENDPOINT="ftp://x", PUBLIC_URL="nowhere")
    assert len(told) == 5


def test_a_stand_in_is_an_address_on_this_machine() -> None:
    config = cloud(
        **STORE,
        DISCOVERY_ENGINE_ENDPOINT="http://127.0.0.1:9001/",
        STORAGE_EMULATOR_HOST="http://localhost:9002",
    )
    assert (config.search_endpoint, config.storage_endpoint) == (
        "http://127.0.0.1:9001",
        "http://localhost:9002",
    )


@pytest.mark.parametrize("environment", [{}, STORE], ids=["folder", "cloud"])
def test_googles_libraries_wait_for_the_first_question(environment: dict[str, str]) -> None:
    code = (
        f"import sys; from functions.docqa.app import build; from functions.docqa.config import read;"
        f"build(read({environment!r}));"
        "print([name for name in sys.modules if name.startswith(('google.cloud.', 'google.api_core', 'requests'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
