"""gateway/openapi.yaml is one that API Gateway takes (its documentation: path-templating, oasv3-extensions)."""

import re
from collections import Counter
from typing import Any

import pytest
import yaml
from openapi_spec_validator import OpenAPIV30SpecValidator

from gateway.generate import rendered
from local.envoy import DOCUMENT, operations

TEXT = DOCUMENT.read_text(encoding="utf-8")
RAW: dict[str, Any] = yaml.safe_load(TEXT)
OPERATIONS = {
    (method, path): item
    for path, each in RAW["paths"].items()
    for method, item in each.items()
    if method != "parameters"
}
# A segment is a literal or one variable; only the last one may have a custom verb.
_SEGMENT = r"(?:[A-Za-z0-9._~-]+|\{[A-Za-z_][A-Za-z0-9_.-]*\})"
_PATH = re.compile(rf"/|(?:/{_SEGMENT})+(?::[A-Za-z][A-Za-z0-9]*)?")


def test_the_file_is_what_the_code_makes_and_is_openapi() -> None:
    assert rendered() == TEXT
    assert list(OpenAPIV30SpecValidator(RAW).iter_errors()) == []


@pytest.mark.parametrize("path", RAW["paths"])
def test_a_path_is_a_template_that_api_gateway_takes(path: str) -> None:
    assert _PATH.fullmatch(path)


@pytest.mark.parametrize("path", ["/tasks/task-{id}", "/tasks/{id}{tenant}", "/tasks/{id=**}", "/tasks/{id}:"])
def test_other_templates_are_not_taken(path: str) -> None:
    assert not _PATH.fullmatch(path)


def test_each_operation_has_an_id_of_its_own_and_no_security_requirement() -> None:
    ids = Counter(item["operationId"] for item in OPERATIONS.values())
    assert set(ids.values()) == {1}
    assert all(re.fullmatch("[a-zA-Z][a-zA-Z0-9_]*", each) for each in ids)
    # API Gateway would answer 401 to every opaque token.
    assert not any("security" in item for item in (RAW, *OPERATIONS.values()))


def test_the_card_and_the_keys_alone_go_past_the_gate_and_are_only_read() -> None:
    past = {key for key, item in OPERATIONS.items() if item["x-google-backend"] == "agent_card"}
    assert past == {key for key in OPERATIONS if key[1].startswith("/.well-known/")}
    assert {method for method, _ in past} == {"get", "head"}


@pytest.mark.parametrize("name", ["agent_card", "gate", "gate_agents"])
def test_a_backend_is_called_with_the_gateways_own_identity_and_a_deadline(name: str) -> None:
    backend = RAW["x-google-api-management"]["backends"][name]
    assert backend["jwtAudience"] == backend["address"]
    assert re.fullmatch(r"\$\{[A-Z_]+_URL\}", backend["address"])
    assert "disableAuth" not in backend
    # Without one it would be 15 s, for streams too.
    assert 0 < backend["deadline"] <= 3600
    assert any(item["x-google-backend"] == name for item in OPERATIONS.values())


def test_operations_that_wait_for_an_agent_have_the_long_deadline() -> None:
    long = {each.path.rpartition("/")[2] for each in operations(TEXT) if each.deadline_seconds > 600}
    assert long == {"", "doctor", "query", "message:send", "message:stream", "{id}:subscribe"}
