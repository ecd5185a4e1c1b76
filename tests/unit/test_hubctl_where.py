"""Where hubctl looks for the hub when it was not told."""

import pytest

from hubctl.where import local_hub


@pytest.mark.parametrize(
    ("environment", "address"),
    [
        ({}, "http://127.0.0.1:8080"),
        ({"HUB_PORT": ""}, "http://127.0.0.1:8080"),
        ({"HUB_PORT": "28080"}, "http://127.0.0.1:28080"),
    ],
)
def test_it_is_where_make_run_has_started_one(environment: dict[str, str], address: str) -> None:
    assert local_hub(environment) == address
