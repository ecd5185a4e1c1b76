"""HTTP dispatch: the table says which handler answers, who must be identified first, and which methods a path has."""

import pytest

from a2a_hub.http.dispatch import (
    ANY,
    GET_ONLY,
    POST,
    Dispatcher,
    Identified,
    MethodNotAllowed,
    NotFound,
    Public,
    Record,
)
from a2a_hub.http.messages import Request, Response


class NoToken(Exception):
    """The caller is not known."""


def _identify(request: Request, record: Record) -> str:
    if "token" not in request.headers:
        raise NoToken
    record["caller"] = request.headers["token"]
    return request.headers["token"]


def _says(word: str) -> Response:
    return Response(body=word.encode())


DISPATCHER: Dispatcher[str] = Dispatcher(
    (
        Public("/", lambda _: _says("front")),
        Identified("/", lambda _, caller, __: _says(f"posted by {caller}"), POST),
        Public("/open", lambda _: _says("open"), exact=True),
        Identified("/closed", lambda _, caller, __: _says(f"closed to all but {caller}")),
        Identified("/once", lambda *_: _says("once"), GET_ONLY),
        Identified("/hidden", lambda *_: None, ANY),
        Identified("/split", lambda *_: _says("read"), GET_ONLY),
        Identified("/split", lambda *_: _says("anything else"), ANY),
    ),
    identify=_identify,
    fallback=lambda request, caller, _: _says(f"{caller} at {request.path}") if "rest" in request.path else None,
)


def _answer(method: str, path: str, token: str | None = "ann") -> str:
    headers = {} if token is None else {"token": token}
    body = DISPATCHER.handle(Request(method=method, path=path, headers=headers), {}).body
    assert isinstance(body, bytes)
    return body.decode()


@pytest.mark.parametrize(
    ("method", "path", "answer"),
    [
        ("GET", "/", "front"),
        ("HEAD", "/", "front"),
        ("GET", "", "front"),
        ("POST", "/", "posted by ann"),
        ("GET", "/open", "open"),
        ("GET", "/closed", "closed to all but ann"),
        ("HEAD", "/closed/", "closed to all but ann"),
        ("GET", "/once", "once"),
        ("GET", "/split", "read"),
        ("DELETE", "/split", "anything else"),
        ("PATCH", "/rest", "ann at /rest"),
    ],
)
def test_the_first_endpoint_of_the_path_with_the_method_answers(method: str, path: str, answer: str) -> None:
    assert _answer(method, path) == answer


@pytest.mark.parametrize("path", ["/nowhere", "/open/", "/hidden"])
def test_a_path_with_nothing_at_it_is_not_found(path: str) -> None:
    with pytest.raises(NotFound):
        _answer("GET", path)


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("POST", "/open", ("GET", "HEAD")),
        ("PUT", "/", ("GET", "HEAD", "POST")),
        ("HEAD", "/once", ("GET",)),
        ("DELETE", "/closed/", ("GET", "HEAD")),
    ],
)
def test_a_method_that_the_path_does_not_have_is_refused_with_those_that_it_has(
    method: str, path: str, allow: tuple[str, ...]
) -> None:
    with pytest.raises(MethodNotAllowed) as refused:
        _answer(method, path)
    assert refused.value.allow == allow


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/"), ("PUT", "/"), ("GET", "/closed"), ("POST", "/closed"), ("GET", "/nowhere")],
)
def test_a_caller_is_identified_before_anything_but_public_endpoints(method: str, path: str) -> None:
    with pytest.raises(NoToken):
        _answer(method, path, token=None)


def test_public_endpoints_identify_nobody() -> None:
    assert _answer("GET", "/open", token=None) == "open"
    with pytest.raises(MethodNotAllowed):
        _answer("POST", "/open", token=None)
