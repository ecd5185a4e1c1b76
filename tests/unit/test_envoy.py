"""The gateway's routes as an Envoy configuration."""

import json
import subprocess
from pathlib import Path
from typing import Any

from local.envoy import Operation, bootstrap, command, local_routes, path_pattern, routes_of


def test_literal_segments_win_over_variables_and_a_verb_over_none() -> None:
    paths = ("/{tenant}/tasks", "/tasks/{id}", "/tasks/{id}:cancel", "/tasks/all")
    routes = routes_of([Operation("GET", path, "gate", 1.0) for path in paths])
    assert [route["match"]["safe_regex"]["regex"] for route in routes if "route" in route] == [
        path_pattern(path) for path in ("/tasks/all", "/tasks/{id}:cancel", "/tasks/{id}", "/{tenant}/tasks")
    ]


def test_another_method_and_another_path_are_refused_by_the_gateway_itself() -> None:
    *_, method, path = routes_of([Operation("GET", "/a", "gate", 1.0), Operation("HEAD", "/a", "gate", 1.0)])
    assert method == {
        "match": {"safe_regex": {"regex": "/a/?"}},
        "direct_response": {"status": 405},
        "response_headers_to_add": [{"header": {"key": "allow", "value": "GET, HEAD"}}],
    }
    assert path == {"match": {"prefix": "/"}, "direct_response": {"status": 404}}


def test_the_gateway_reaches_the_gate_and_the_card_and_nothing_else() -> None:
    assert {route["route"]["cluster"] for route in _forwarding()} == {"gate", "agent_card"}


def test_a_request_is_sent_again_only_where_nobody_can_have_seen_it() -> None:
    (host,) = _connection_manager()["route_config"]["virtual_hosts"]
    assert set(host["retry_policy"]["retry_on"].split(",")) == {"connect-failure", "reset-before-request"}


def test_a_stream_may_last_longer_than_gemini_enterprise_waits() -> None:
    (stream,) = (
        route["route"] for route in _forwarding() if route["match"]["safe_regex"]["regex"] == "/message:stream/?"
    )
    assert float(stream["timeout"].rstrip("s")) >= 1700
    assert int(_connection_manager()["stream_idle_timeout"].rstrip("s")) >= 300


def test_only_this_machine_is_listened_on_and_called() -> None:
    text = json.dumps(bootstrap(port=1, routes=local_routes(), upstream_ports={"gate": 2, "agent_card": 3}))
    assert text.count('"address": "127.0.0.1"') == 3
    assert "0.0.0.0" not in text
    assert "admin" not in text


def test_envoy_accepts_the_configuration(tmp_path: Path) -> None:
    config = tmp_path / "envoy.json"
    ports = {"gate": 2, "agent_card": 3}
    config.write_text(json.dumps(bootstrap(port=1, routes=local_routes(), upstream_ports=ports)))
    verdict = subprocess.run([*command(config), "--mode", "validate"], capture_output=True, text=True)
    assert (verdict.returncode, verdict.stderr) == (0, "")


def _forwarding() -> list[dict[str, Any]]:
    return [route for route in local_routes() if "route" in route]


def _connection_manager() -> dict[str, Any]:
    config = bootstrap(port=1, routes=local_routes(), upstream_ports={})
    manager: dict[str, Any] = config["static_resources"]["listeners"][0]["filter_chains"][0]["filters"][0]
    return dict(manager["typed_config"])
