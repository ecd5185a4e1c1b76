"""The gateway's routes as an Envoy configuration."""

import json
import subprocess
from pathlib import Path
from typing import Any

from local.envoy import bootstrap, command, forward, local_routes, refuse, route_configuration


def test_routes_keep_their_order_and_say_who_takes_what() -> None:
    routes = [
        forward("one", "/a", methods=("GET", "HEAD")),
        forward("two", "/a"),
        forward("three"),
    ]
    configured = _routes(route_configuration(routes))
    assert [route["route"]["cluster"] for route in configured] == ["one", "two", "three"]
    assert [route["match"] for route in configured] == [
        {
            "safe_regex": {"regex": "/a"},
            "headers": [{"name": ":method", "string_match": {"safe_regex": {"regex": "GET|HEAD"}}}],
        },
        {"safe_regex": {"regex": "/a"}},
        {"prefix": "/"},
    ]


def test_a_refusal_is_answered_by_the_gateway_itself() -> None:
    (refusal,) = _routes(route_configuration([refuse(404, "/a")]))
    assert refusal == {"match": {"safe_regex": {"regex": "/a"}}, "direct_response": {"status": 404}}


def test_what_no_local_route_takes_is_404() -> None:
    assert local_routes()[-1] == refuse(404)


def test_the_gateway_reaches_the_gate_and_the_card_and_nothing_else() -> None:
    assert {route["route"]["cluster"] for route in _forwarding()} == {"gate", "agent_card"}


def test_a_request_is_sent_again_only_where_nobody_can_have_seen_it() -> None:
    for route in _forwarding():
        assert set(route["route"]["retry_policy"]["retry_on"].split(",")) == {
            "connect-failure",
            "reset-before-request",
        }


def test_a_stream_may_last_longer_than_gemini_enterprise_waits() -> None:
    (stream,) = (
        route["route"] for route in _forwarding() if route["match"]["safe_regex"]["regex"] == "/message:stream/?"
    )
    assert float(stream["timeout"].rstrip("s")) >= 1700
    assert int(stream["idle_timeout"].rstrip("s")) >= 300


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
    return [route for route in _routes(route_configuration(local_routes())) if "route" in route]


def _routes(configuration: dict[str, Any]) -> list[dict[str, Any]]:
    (host,) = configuration["virtual_hosts"]
    routes: list[dict[str, Any]] = host["routes"]
    return routes
