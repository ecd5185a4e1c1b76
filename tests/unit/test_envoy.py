"""The gateway's routes as an Envoy configuration."""

import json
import subprocess
from pathlib import Path
from typing import Any

from local.envoy import bootstrap, command, route_configuration
from local.gateway import LOCAL_ROUTES, GatewayRoute


def test_routes_keep_their_order_and_say_who_takes_what() -> None:
    routes = [
        GatewayRoute(to="one", path="/a", methods=("GET", "HEAD")),
        GatewayRoute(to="two", path="/a"),
        GatewayRoute(to="three"),
    ]
    configured = _routes(route_configuration(routes))
    assert [route["route"]["cluster"] for route in configured] == ["one", "two", "three"]
    assert [route["match"] for route in configured] == [
        {
            "path": "/a",
            "headers": [{"name": ":method", "string_match": {"safe_regex": {"regex": "GET|HEAD"}}}],
        },
        {"path": "/a"},
        {"prefix": "/"},
    ]


def test_the_last_local_route_takes_everything() -> None:
    assert LOCAL_ROUTES[-1] == GatewayRoute(to="hub")


def test_a_request_is_sent_again_only_where_nobody_can_have_seen_it() -> None:
    for route in _routes(route_configuration(LOCAL_ROUTES)):
        assert set(route["route"]["retry_policy"]["retry_on"].split(",")) == {
            "connect-failure",
            "reset-before-request",
        }


def test_a_stream_may_last_as_long_as_a_request_on_cloud_run() -> None:
    for route in _routes(route_configuration(LOCAL_ROUTES)):
        assert route["route"]["timeout"] == "3600s"
        assert int(route["route"]["idle_timeout"].rstrip("s")) >= 300


def test_only_this_machine_is_listened_on_and_called() -> None:
    text = json.dumps(bootstrap(port=1, routes=LOCAL_ROUTES, upstream_ports={"hub": 2, "agent_card": 3}))
    assert text.count('"address": "127.0.0.1"') == 3
    assert "0.0.0.0" not in text
    assert "admin" not in text


def test_envoy_accepts_the_configuration(tmp_path: Path) -> None:
    config = tmp_path / "envoy.json"
    ports = {"hub": 2, "agent_card": 3}
    config.write_text(json.dumps(bootstrap(port=1, routes=LOCAL_ROUTES, upstream_ports=ports)))
    verdict = subprocess.run([*command(config), "--mode", "validate"], capture_output=True, text=True)
    assert (verdict.returncode, verdict.stderr) == (0, "")


def _routes(configuration: dict[str, Any]) -> list[dict[str, Any]]:
    (host,) = configuration["virtual_hosts"]
    routes: list[dict[str, Any]] = host["routes"]
    return routes
