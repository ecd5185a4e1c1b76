"""What passes the gate: paths that mean one thing, headers that HTTP allows, and of both only what is on the lists."""

import posixpath
from urllib.parse import parse_qs, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2a_hub.a2a.errors import A2AError
from a2a_hub.a2a.operations import OPERATIONS
from a2a_hub.a2a.version_table import CODECS
from a2a_hub.runtime.upstream import REQUEST_HEADERS, allowed_headers
from functions.gate.header_allowlist import (
    PARAMETERS,
    allowed_query,
    check_headers,
    check_target,
)

_PATHS = sorted(
    {
        rest.path.format(id="0b1c-2", task_id="t_1", tenant="acme")
        for operation in OPERATIONS
        for codec in CODECS.values()
        for rest in codec.paths(operation)
    }
)


def is_let_in(path: str, target: str | None = None) -> bool:
    """Return True if the gate goes on with this path."""
    try:
        check_target(path if target is None else target, path)
    except A2AError:
        return False
    return True


@pytest.mark.parametrize(
    "path", ["/", "/routes", "/routes/", "/.well-known/agent-card.json", "/acme/tasks/a.b~c:cancel", *_PATHS]
)
def test_every_path_of_the_protocol_is_let_in(path: str) -> None:
    assert is_let_in(path)
    assert is_let_in(path, f"{path}?A2A-Version=1.0&x=%2e%2e")


@given(st.text(alphabet=st.sampled_from("/.;%\\:~aA2e~-_ ?#é\x00"), max_size=12))
def test_a_path_that_is_let_in_means_the_same_to_everybody(path: str) -> None:
    if is_let_in(path):
        assert path.startswith("/")
        assert unquote(path) == path
        assert posixpath.normpath(path) == (path.rstrip("/") or "/")
        assert not set(path) & set(";\\ ?#%\x00")


@pytest.mark.parametrize(
    "target", ["/doctor", "//routes", "/x/../routes", "/%72outes", "/routes/", "http://hub/routes"]
)
def test_a_path_that_the_server_reads_differently_is_not_let_in(target: str) -> None:
    assert not is_let_in("/routes", target)


@given(st.text(max_size=20), st.text(max_size=20))
def test_what_was_asked_for_and_what_was_understood_are_the_same_or_nothing(said: str, path: str) -> None:
    if is_let_in(path, said):
        assert said.partition("?")[0] == path


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, None),
        ({"transfer-encoding": "Chunked"}, None),
        ({"user-agent": "é\ta"}, None),
        ({"transfer-encoding": "gzip, chunked"}, 400),
        ({"transfer-encoding": "\x0bchunked"}, 400),
        ({"x-a": "a\x07b"}, 400),
        ({"x-a": "a\x7f"}, 400),
        ({"x-a": "a" * 32 * 1024}, 431),
    ],
)
def test_headers_that_proxies_read_in_different_ways_are_refused(headers: dict[str, str], status: int | None) -> None:
    if status is None:
        check_headers(headers)
        return
    with pytest.raises(A2AError) as refused:
        check_headers(headers)
    assert refused.value.kind.http_status == status


@given(st.dictionaries(st.sampled_from((*REQUEST_HEADERS, "cookie", "x-hub-principal")), st.text(max_size=5)))
def test_of_the_headers_those_on_the_list_pass_if_they_can_be_written(headers: dict[str, str]) -> None:
    passed = allowed_headers(headers, REQUEST_HEADERS)
    assert passed.keys() <= set(REQUEST_HEADERS)
    assert all(headers[name] == value and value.isprintable() for name, value in passed.items())


@given(st.dictionaries(st.text(max_size=5) | st.sampled_from(sorted(PARAMETERS)), st.lists(st.text(max_size=5))))
def test_of_the_query_what_operations_take_passes_as_it_was(query: dict[str, list[str]]) -> None:
    passed = parse_qs(allowed_query(query).removeprefix("?"), keep_blank_values=True)
    assert passed == {name: values for name, values in query.items() if name in PARAMETERS and values}
