"""What is deployed is known by its content: equal contents have one name, others another."""

import re
from pathlib import Path

import pytest

from deploy.shell import UnknownAddress, config_id, fingerprint, render
from tests.deploy.tools import ROOT

OPENAPI = (ROOT / "gateway" / "openapi.yaml").read_text()
ADDRESSES = {"GATE_URL": "https://gate.example.com", "AGENT_CARD_URL": "https://card.example.com"}
FLAGS = ["gcloud", "run", "deploy", "--memory=512Mi"]


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    (tmp_path / "shared").mkdir()
    (tmp_path / "main.py").write_text("main")
    (tmp_path / "shared" / "http.py").write_text("http")
    return tmp_path


def test_a_function_is_its_files_its_settings_and_its_flags(bundle: Path) -> None:
    seen = [fingerprint(bundle, environment={"A": "1"}, flags=FLAGS)]
    seen.append(fingerprint(bundle, environment={"A": "2"}, flags=FLAGS))
    seen.append(fingerprint(bundle, environment={"A": "1"}, flags=[*FLAGS, "--cpu=2"]))
    (bundle / "main.py").write_text("other")
    seen.append(fingerprint(bundle, environment={"A": "1"}, flags=FLAGS))
    (bundle / "main.py").rename(bundle / "moved.py")
    seen.append(fingerprint(bundle, environment={"A": "1"}, flags=FLAGS))
    assert len(set(seen)) == len(seen)
    # What a label may hold.
    assert all(re.fullmatch("[0-9a-f]{32}", text) for text in seen)


def test_a_commit_and_byte_code_change_no_function(bundle: Path) -> None:
    before = fingerprint(bundle, environment={"COMMIT_SHA": "1"}, flags=FLAGS)
    (bundle / "main.cpython-311.pyc").write_bytes(b"code")
    assert fingerprint(bundle, environment={"COMMIT_SHA": "2"}, flags=FLAGS) == before


def test_a_config_is_its_content_and_its_account() -> None:
    text = render(OPENAPI, addresses=ADDRESSES, streaming=True)
    one = config_id(text, service_account="a")
    assert config_id(render(OPENAPI, addresses=ADDRESSES, streaming=True), service_account="a") == one
    assert config_id(text, service_account="b") != one
    moved = render(OPENAPI, addresses={**ADDRESSES, "GATE_URL": "https://other.example.com"}, streaming=True)
    assert config_id(moved, service_account="a") != one
    # API Gateway's ids: lower-case letters, digits, hyphens, at most 49.
    assert re.fullmatch("[a-z][a-z0-9-]{0,48}", one)


def test_a_gateway_without_streams_gets_no_deadline_that_it_would_refuse() -> None:
    def deadlines(text: str) -> set[float]:
        return {float(found) for found in re.findall(r"deadline: ([0-9.]+)", text)}

    assert deadlines(render(OPENAPI, addresses=ADDRESSES, streaming=True)) == {15.0, 30.0, 1800.0}
    assert deadlines(render(OPENAPI, addresses=ADDRESSES, streaming=False)) == {15.0, 30.0, 600.0}


def test_an_address_that_the_deployment_does_not_have_is_told() -> None:
    with pytest.raises(UnknownAddress, match="asks for OTHER_URL; known: AGENT_CARD_URL, GATE_URL"):
        render(OPENAPI + "# ${OTHER_URL}\n", addresses=ADDRESSES, streaming=True)
