"""The client of a Gemini model: what it asks for, and what it makes of every end."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from google.auth.exceptions import DefaultCredentialsError

from a2a_hub.gemini.client import Gemini
from a2a_hub.gemini.failure import Cause, Tokens
from a2a_hub.gemini.prompt import Ended, Prompt
from a2a_hub.http.messages import Cancellation
from tests.fakes.http_server import Exchange, HttpServer
from tests.fakes.model_answers import ANSWER, PROMPT, QUESTION, ask, failure, text_of
from tests.fakes.vertex import ACCOUNT, MODEL, PROJECT, Vertex, gemini, vertex


@pytest.fixture
def service() -> Iterator[Vertex]:
    with vertex() as service:
        yield service


def test_an_answer_comes_in_stretches_and_ends_with_what_it_cost(service: Vertex) -> None:
    *stretches, ended = ask(gemini(service.url))

    assert len(stretches) > 3
    assert "".join(stretches) == ANSWER
    assert ended == Ended(finish="STOP", tokens=Tokens(prompt=15, answer=6, total=21), is_cut_short=False)


def test_the_real_path_of_the_model_is_asked_with_the_accounts_token(service: Vertex) -> None:
    ask(gemini(service.url))

    (received,) = service.received()
    model = f"projects/{PROJECT}/locations/asia-northeast1/publishers/google/models/{MODEL}"
    assert received["target"] == f"/v1/{model}:streamGenerateContent?alt=sse"
    assert received["headers"]["authorization"] == "Bearer ya29.general"
    assert "google-genai-sdk/" in received["headers"]["user-agent"]


def test_instruction_text_and_limits_are_sent_apart() -> None:
    def answer(exchange: Exchange) -> None:
        exchange.json({}, status=400)

    with HttpServer(answer) as server:
        failure(gemini(server.url, max_output_tokens=77))

    body = server.received[0].json
    assert body["contents"] == [{"role": "user", "parts": [{"text": QUESTION}]}]
    assert body["systemInstruction"]["parts"] == [{"text": "Answer briefly."}]
    assert body["generationConfig"]["maxOutputTokens"] == 77


def test_a_stretch_is_told_before_the_next_one_comes(service: Vertex) -> None:
    service.inject("stall", tokens=2)
    pieces = gemini(service.url).stream(PROMPT, cancellation=Cancellation())

    # Nothing more comes: what arrives has not waited for the rest.
    assert [next(pieces), next(pieces)] == ["Water", " boils"]
    pieces.close()  # type: ignore[attr-defined]


def test_the_connection_is_used_again(service: Vertex) -> None:
    def answer(exchange: Exchange) -> None:
        body = b'data: {"candidates": [{"content": {"parts": [{"text": "Yes."}]}, "finishReason": "STOP"}]}\n\n'
        exchange.answer(200, body, content_type="text/event-stream")

    with HttpServer(answer) as server:
        model = gemini(server.url)
        assert [text_of(ask(model)), text_of(ask(model))] == ["Yes.", "Yes."]
        assert server.connections == 1


@pytest.mark.parametrize(
    ("fault", "parameters", "cause", "told", "detail"),
    [
        ("deny-predict", {}, Cause.DENIED, "", "HTTP 403, IAM_PERMISSION_DENIED"),
        ("disable-api", {}, Cause.API_DISABLED, "", "HTTP 403, SERVICE_DISABLED"),
        ("block-question", {}, Cause.QUESTION_BLOCKED, "", "PROHIBITED_CONTENT"),
        ("block-question", {"reason": "JAILBREAK"}, Cause.QUESTION_BLOCKED, "", "JAILBREAK"),
        ("finish", {"tokens": 2}, Cause.ANSWER_BLOCKED, "Water boils", "SAFETY"),
        ("finish", {"tokens": 0}, Cause.ANSWER_BLOCKED, "", "SAFETY"),
        ("finish", {"reason": "SPII"}, Cause.ANSWER_BLOCKED, "Water boils at", "SPII"),
        ("finish", {"reason": "RECITATION"}, Cause.RECITATION, "Water boils at", "RECITATION"),
        ("finish", {"reason": "OTHER"}, Cause.BROKEN, "Water boils at", "OTHER"),
        ("finish", {"reason": "MAX_TOKENS", "tokens": 0}, Cause.EMPTY, "", "MAX_TOKENS"),
        ("empty", {}, Cause.EMPTY, "", "STOP"),
        ("cut", {"tokens": 1}, Cause.CUT, "Water", "before the answer did"),
    ],
)
def test_every_end_has_its_cause(
    service: Vertex, fault: str, parameters: dict[str, Any], cause: Cause, told: str, detail: str
) -> None:
    service.inject(fault, **parameters)
    pieces, why = failure(gemini(service.url))

    assert (text_of(pieces), why.cause) == (told, cause)
    assert detail in why.detail


def test_an_answer_at_the_longest_length_is_one_that_was_cut_short(service: Vertex) -> None:
    *stretches, ended = ask(gemini(service.url, max_output_tokens=3))

    assert "".join(stretches) == "Water boils at"
    assert (ended.finish, ended.is_cut_short, ended.tokens.answer) == ("MAX_TOKENS", True, 3)


def test_a_silence_ends_the_question_and_what_was_told_stays_told(service: Vertex) -> None:
    service.inject("stall", tokens=1)
    pieces, why = failure(gemini(service.url, idle_seconds=1.5))
    assert (pieces, why.cause) == (["Water"], Cause.STALLED)


def test_a_silence_before_the_first_word_is_a_stall_too(service: Vertex) -> None:
    service.inject("stall", tokens=0)
    pieces, why = failure(gemini(service.url, idle_seconds=0.2))
    assert (pieces, why.cause) == ([], Cause.STALLED)


def test_the_whole_time_holds_however_often_something_comes() -> None:
    def drip(exchange: Exchange) -> None:
        exchange.start_stream()
        exchange.send(b"data: {")
        while True:
            exchange.send(b" ")
            exchange.pause(0.02)

    with HttpServer(drip) as server:
        _, why = failure(gemini(server.url, timeout_seconds=0.3))
    assert why.cause is Cause.TIMEOUT


def test_what_the_model_thinks_is_no_part_of_the_answer() -> None:
    parts = [{"text": "Let me see…", "thought": True}, {"text": "Yes."}]
    usage = {"promptTokenCount": 3, "candidatesTokenCount": 2, "thoughtsTokenCount": 9, "totalTokenCount": 14}

    def think(exchange: Exchange) -> None:
        exchange.start_stream()
        exchange.event({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}], "usageMetadata": usage})

    with HttpServer(think) as server:
        text, ended = ask(gemini(server.url))
    assert (text, ended.tokens) == ("Yes.", Tokens(prompt=3, answer=2, thoughts=9, total=14))


@pytest.mark.parametrize(
    ("behave", "cause"),
    [
        (lambda exchange: exchange.answer(404, b"<html>", content_type="text/html"), Cause.NOT_FOUND),
        (lambda exchange: exchange.json({"error": {"code": 401}}, status=401), Cause.NO_CREDENTIALS),
        (lambda exchange: exchange.json([1], status=400), Cause.REJECTED),
        (lambda exchange: exchange.answer(302, location="https://elsewhere.example/"), Cause.BROKEN),
        (lambda exchange: exchange.answer(200, b"data: {broken\n\n"), Cause.BROKEN),
        (lambda exchange: exchange.answer(200, b"data: [1, 2]\n\n"), Cause.CUT),
        (lambda exchange: exchange.answer(200, b""), Cause.CUT),
        (lambda exchange: exchange.answer(200, b"x" * (9 << 20)), Cause.BROKEN),
    ],
    ids=["html", "token", "list", "redirect", "json", "array", "nothing", "huge"],
)
def test_whatever_comes_back_has_a_cause(behave: Callable[[Exchange], None], cause: Cause) -> None:
    with HttpServer(behave) as server:
        # A failure that passes is tried again while there is time; here there is none.
        told, why = failure(gemini(server.url, first_wait_seconds=60.0))
    assert (told, why.cause) == ([], cause)
    assert "elsewhere" not in json.dumps(why.detail)


def test_a_service_that_is_not_there_cannot_be_reached() -> None:
    with HttpServer(Exchange.close, listens=False) as server:
        assert failure(gemini(server.url, first_wait_seconds=60.0))[1].cause is Cause.UNREACHABLE


def test_a_model_that_does_not_exist_is_not_found(service: Vertex) -> None:
    assert failure(gemini(service.url, model="gemini-0.1"))[1].cause is Cause.NOT_FOUND


def test_an_account_without_the_role_is_denied_until_it_is_granted(service: Vertex) -> None:
    model = gemini(service.url, token="ya29.stranger")
    assert failure(model)[1].cause is Cause.DENIED

    service.grant(f"stranger@{PROJECT}.iam.gserviceaccount.com")
    assert text_of(ask(model)) == ANSWER


def test_the_grant_mends_the_fault(service: Vertex) -> None:
    service.inject("deny-predict")
    service.grant(ACCOUNT)

    assert text_of(ask(gemini(service.url))) == ANSWER
    assert service.faults() == {}


def test_a_token_that_nobody_gave_out_is_no_credential(service: Vertex) -> None:
    assert failure(gemini(service.url, token="ya29.forged"))[1].cause is Cause.NO_CREDENTIALS


def test_credentials_that_cannot_be_found_are_said_to_be_missing(service: Vertex) -> None:
    def none() -> Any:
        raise DefaultCredentialsError("no credentials")  # type: ignore[no-untyped-call]

    model = gemini(service.url)
    broken = Gemini(model.settings, http=model._http, credentials=none)
    _, why = failure(broken)
    assert (why.cause, why.detail) == (Cause.NO_CREDENTIALS, "DefaultCredentialsError")
    assert service.received() == []


def test_many_questions_at_once_each_get_their_own_answer(service: Vertex) -> None:
    model = gemini(service.url)
    prompts = [Prompt(instruction="", text=f"Item {n} weighs {n} grams.\nItem {n}?") for n in range(24)]
    with ThreadPoolExecutor(8) as pool:
        answers = [text_of(pieces) for pieces in pool.map(lambda prompt: ask(model, prompt), prompts)]
    assert answers == [f"Item {n} weighs {n} grams." for n in range(24)]
