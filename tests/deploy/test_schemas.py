"""The JSON Schemas for editors are those of the readers, and accept what the readers accept."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from deploy import schemas
from tests.unit.test_hubctl_check import hubctl

ROOT = Path(__file__).resolve().parents[2]
ROUTES, DEPLOY = schemas.routes_schema, schemas.deploy_schema


def mistakes(make: Any, text: str) -> list[str]:
    schema = make()
    Draft7Validator.check_schema(schema)
    return [error.message for error in Draft7Validator(schema).iter_errors(tomllib.loads(text))]


def test_the_files_are_up_to_date_and_hubctl_prints_them() -> None:
    for file, text in schemas.files().items():
        assert file.read_text(encoding="utf-8") == text, "run: python -m deploy.schemas"
        assert hubctl("schema", file.name.partition(".")[0]) == (0, text)


@pytest.mark.parametrize(
    ("make", "name"), [(ROUTES, "routes.toml"), (ROUTES, "workers/routes.toml"), (DEPLOY, "deploy.example.toml")]
)
def test_the_samples_are_valid(make: Any, name: str) -> None:
    assert mistakes(make, (ROOT / name).read_text(encoding="utf-8")) == []


_ROUTE = '[[routes]]\nid = "a"\nname = "A"\ndescription = "d"\n'
_DEPLOY = 'project = "my-project"\nregion = "asia-northeast1"\n'


@pytest.mark.parametrize(
    ("make", "text", "mistake"),
    [
        (ROUTES, _ROUTE.replace('id = "a"\n', ""), "'id' is a required property"),
        (ROUTES, _ROUTE + "timeout_secs = 3", "'timeout_secs' was unexpected"),
        (ROUTES, _ROUTE + "retries = -1", "-1 is less than the minimum of 0"),
        (ROUTES, _ROUTE + 'boundary = "pubic"', "'pubic' is not one of ['public', 'iam'"),
        (ROUTES, _ROUTE + "breaker = { failure = 2 }", "is not valid under any"),
        (DEPLOY, 'region = "asia-northeast1"', "'project' is a required property"),
        (DEPLOY, _DEPLOY + '[functions.hub]\nmemory = "1 GB"', "'1 GB' does not match"),
        (DEPLOY, _DEPLOY + "[functions.hubb]", "'hubb' was unexpected"),
        (DEPLOY, _DEPLOY + "[functions.hub.environment]\nTHREADS = 3", "3 is not of type 'string'"),
    ],
)
def test_a_mistake_is_found(make: Any, text: str, mistake: str) -> None:
    (found,) = mistakes(make, text)
    assert mistake in found
