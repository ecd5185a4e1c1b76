"""The gate's own call of a function behind it: what is late, gone, or closed to the gate is a plain refusal to the caller."""

from collections.abc import Callable

import pytest

from a2a_hub.a2a.errors import A2AError
from a2a_hub.http.client import HttpClient
from a2a_hub.identity.service_tokens import TokenUnavailable
from a2a_hub.runtime.upstream import AnsweredByPlatform, Upstream
from tests.fakes.http_server import Exchange, HttpServer


class _NoTokens:
    def id_token(self, _: str) -> str:
        raise TokenUnavailable

    def access_token(self) -> str:
        raise TokenUnavailable


def refused(upstream: Upstream) -> A2AError:
    """Return how the call ends."""
    with pytest.raises(A2AError) as error:
        upstream.send("POST", "/", headers={}, body=b"{}")
    return error.value


def test_a_function_that_does_not_answer_in_time_is_a_504() -> None:
    with HttpServer(lambda exchange: exchange.wait_until_left()) as server:
        error = refused(Upstream(server.url, http=HttpClient(), tokens=None, idle_seconds=0.1))
    assert (error.kind.http_status, error.kind.status) == (504, "DEADLINE_EXCEEDED")
    assert str(server.port) not in error.message


@pytest.mark.parametrize(
    "behave",
    [lambda exchange: exchange.reset(), lambda exchange: exchange.send(b"not HTTP\r\n\r\n")],
    ids=["reset", "no HTTP"],
)
def test_a_function_that_breaks_off_is_a_503_that_says_when_to_come_back(
    behave: Callable[[Exchange], None],
) -> None:
    with HttpServer(behave) as server:
        error = refused(Upstream(server.url, http=HttpClient(), tokens=None))
    assert (error.kind.http_status, error.headers) == (503, {"retry-after": "5"})


def test_an_answer_without_its_body_says_how_long_that_would_have_been() -> None:
    def head_only(exchange: Exchange) -> None:
        exchange.head(content_type="application/json", content_length="1234")

    with HttpServer(head_only) as server:
        upstream = Upstream(server.url, http=HttpClient(), tokens=None)
        answer = upstream.send("HEAD", "/routes", headers={}, body=b"")
    assert answer.headers == {"content-type": "application/json", "content-length": "1234"}
    assert answer.body == b""


@pytest.mark.parametrize("status", [401, 403])
def test_a_platform_that_does_not_let_the_gate_in_is_not_the_callers_fault(status: int) -> None:
    """Cloud Run answers with a page of its own; passed on, it would look like a bad token of the caller's."""
    with HttpServer(
        lambda exchange: exchange.answer(status, b"<html>", content_type="text/html; charset=UTF-8")
    ) as server:
        error = refused(Upstream(server.url, http=HttpClient(), tokens=None))
    assert error.kind.http_status == 503
    assert "www-authenticate" not in error.headers


@pytest.mark.parametrize(
    ("status", "told"), [(400, 503), (404, 503), (431, 503), (500, 503), (502, 503), (503, 503), (504, 504)]
)
@pytest.mark.parametrize("content_type", ["text/html; charset=UTF-8", "text/plain", ""])
def test_an_error_that_the_platform_answers_instead_of_the_function_is_not_passed_on(
    status: int, told: int, content_type: str
) -> None:
    """As Cloud Run does when an instance ends in the middle, or where nothing is at an address."""
    with HttpServer(
        lambda exchange: exchange.answer(status, b"The request failed: /srv", content_type=content_type)
    ) as server:
        error = refused(Upstream(server.url, http=HttpClient(), tokens=None))
    assert (error.kind.http_status, error.headers) == (told, {"retry-after": "5"})
    assert isinstance(error, AnsweredByPlatform)
    assert error.status == status


@pytest.mark.parametrize("content_type", ["application/json", "application/problem+json"])
def test_an_error_of_the_function_itself_is_passed_on(content_type: str) -> None:
    with HttpServer(lambda exchange: exchange.answer(404, b"{}", content_type=content_type)) as server:
        answer = Upstream(server.url, http=HttpClient(), tokens=None).send("POST", "/", headers={}, body=b"{}")
    assert (answer.status, answer.body) == (404, b"{}")


def test_without_a_token_of_its_own_the_gate_calls_nobody() -> None:
    with HttpServer(lambda exchange: exchange.answer(200)) as server:
        error = refused(Upstream(server.url, http=HttpClient(), tokens=_NoTokens()))
    assert error.kind.http_status == 503
    assert server.connections == 0
