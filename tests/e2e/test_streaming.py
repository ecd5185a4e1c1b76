"""Streams through the hub and the gateway: event by event, as the agent writes them."""

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.callers import Caller, events_in
from tests.e2e.paced_agent import FIRST, SECOND
from tests.e2e.request_forms import FORMS, Form
from tests.e2e.routed_hub import RoutedHub

STREAMS = [form for form in FORMS if form.streams]
streams = pytest.mark.parametrize("form", STREAMS, ids=lambda form: form.name)


@contextlib.contextmanager
def stream(caller: Caller, form: Form, params: dict[str, Any]) -> Iterator[Iterator[Any]]:
    """The events of an answer that has begun, as they arrive."""
    with caller.opened("POST", form.path, body=form.body(params), headers=form.headers) as response:
        assert response.status == 200
        yield events_in(response)


def read_until(events: Iterator[Any], text: str) -> None:
    """Returns as soon as an event holds `text`."""
    assert any(text in str(event) for event in events), f"the stream ended without {text!r}"


@streams
def test_what_an_agent_has_written_arrives_before_it_goes_on(routed: RoutedHub, form: Form) -> None:
    params = form.params("go")
    with stream(routed.hub.caller(), form, params) as events:
        read_until(events, FIRST)
        routed.paced.let_go_on(params["message"]["messageId"])
        read_until(events, SECOND)
        last = list(events)[-1]
    assert "completed" in str(last).lower()


@streams
def test_while_the_agent_is_silent_the_stream_is_not(routed: RoutedHub, form: Form) -> None:
    params = form.params("silence")
    with routed.hub.caller().opened("POST", form.path, body=form.body(params), headers=form.headers) as response:
        events = events_in(response)
        read_until(events, FIRST)
        comments = (line for line in response if line.startswith(b":"))
        assert len([next(comments), next(comments)]) == 2
        routed.paced.let_go_on(params["message"]["messageId"])
        read_until(events, SECOND)


@streams
def test_the_same_request_sent_again_while_it_is_answered_joins_the_first(routed: RoutedHub, form: Form) -> None:
    params = form.params("the same")
    message_id = params["message"]["messageId"]
    with contextlib.ExitStack() as stack:
        both = [stack.enter_context(stream(routed.hub.caller(), form, params)) for _ in range(2)]
        for events in both:
            read_until(events, FIRST)
        routed.paced.let_go_on(message_id)
        for events in both:
            read_until(events, SECOND)
    assert routed.paced.calls_with(message_id) == 1


@streams
def test_the_same_request_of_another_caller_is_another_one(routed: RoutedHub, form: Form) -> None:
    params = form.params("the same of another")
    message_id = params["message"]["messageId"]
    with contextlib.ExitStack() as stack:
        both = [stack.enter_context(stream(routed.hub.caller(number), form, params)) for number in range(2)]
        for events in both:
            read_until(events, FIRST)
        routed.paced.let_go_on(message_id)
        for events in both:
            read_until(events, SECOND)
    assert routed.paced.calls_with(message_id) == 2


@streams
def test_a_user_interface_that_repeats_an_answered_request_reads_the_same_answer(routed: RoutedHub, form: Form) -> None:
    assert _calls_for_two_requests(routed, form, form.params("again")) == 1


@pytest.mark.parametrize("form", [form for form in STREAMS if form.version == "1.0"], ids=lambda form: form.name)
def test_a_request_of_a_program_that_has_been_answered_is_a_new_one_when_it_comes_back(
    routed: RoutedHub, form: Form
) -> None:
    assert _calls_for_two_requests(routed, form, form.params("again", output_modes=["text/plain"])) == 2


def _calls_for_two_requests(routed: RoutedHub, form: Form, params: dict[str, Any]) -> int:
    message_id = params["message"]["messageId"]
    routed.paced.let_go_on(message_id)
    for _ in range(2):
        told = form.told(routed.hub.caller().post(form.path, form.body(params), form.headers))
        assert told.text == FIRST + SECOND
    return routed.paced.calls_with(message_id)


def test_a_stream_is_marked_so_that_nobody_on_the_way_holds_it_back(routed: RoutedHub) -> None:
    params = STREAMS[0].params("marks")
    routed.paced.let_go_on(params["message"]["messageId"])
    answer = routed.hub.caller().post(STREAMS[0].path, STREAMS[0].body(params))
    assert answer.headers["cache-control"] == "no-store, no-transform"
    assert answer.headers["x-accel-buffering"] == "no"
