"""POST /tools/query: the route, the reason and the evidence behind an answer."""

import uuid

import pytest

from tests.e2e.hubs import Hub
from tests.e2e.questions import QUESTIONS, Question
from tests.e2e.request_forms import JSONRPC
from tests.e2e.sources import assert_stands_in_its_source

_MEMBERS = {
    *("route", "reason", "agent", "boundary", "answer", "data"),
    *("citations", "timings", "error", "contextId", "requestId"),
}


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda each: f"{each.route}-{each.language}")
def test_each_question_goes_to_its_route_and_gets_its_answer(hub: Hub, question: Question) -> None:
    for wording in question.wordings:
        answer = hub.caller().post("/tools/query", {"query": wording})
        assert (answer.status, answer.media_type) == (200, "application/json")
        told = answer.json
        assert told.keys() == _MEMBERS
        assert (told["route"], told["error"]) == (question.route, None)
        assert f'"{question.route}"' in told["reason"]
        question.is_answered_by(told["answer"])
        assert uuid.UUID(told["contextId"])
        assert min(told["timings"]["routingMs"], told["timings"]["downstreamMs"]) > 0
        for citation in told["citations"]:
            assert_stands_in_its_source(citation)
            assert citation["title"]
        assert bool(told["citations"]) == (question.route == "docqa")


@pytest.mark.parametrize(
    ("query", "path", "words"),
    [
        ("How long are access logs retained?", "policies/data-retention-schedule.html", "13 months"),
        (
            "What does the travel policy say about hotel limits?",
            "policies/business-travel-policy.pdf",
            "14,000 yen",
        ),
        ("How often are backups tested?", "it/backup-standard.md", "every quarter"),
        (
            "What is the deadline for notifying the infrastructure team for a P-2 incident?",
            "policies/incident-response-policy.md",
            "within 60 minutes",
        ),
    ],
    ids=["html", "pdf", "markdown", "another severity"],
)
def test_a_citation_leads_to_the_place_in_a_file_of_any_format(hub: Hub, query: str, path: str, words: str) -> None:
    told = hub.caller().post("/tools/query", {"query": query}).json
    assert words in told["answer"]
    assert told["citations"][0]["uri"] == f"corpus:{path}"
    for citation in told["citations"]:
        assert_stands_in_its_source(citation)


def test_without_evidence_there_is_no_answer_and_no_citation(hub: Hub) -> None:
    told = hub.caller().post("/tools/query", {"query": "火星支社のP-1インシデントの保険料は", "route": "docqa"}).json
    assert (told["route"], told["data"]["grounded"], told["citations"]) == ("docqa", False, [])
    assert "回答を控えます" in told["answer"]


def test_the_words_that_decided_are_named_as_they_stand_in_the_table(hub: Hub) -> None:
    told = hub.caller().post("/tools/query", {"query": "ﾚｼｰﾄをなくしました"}).json
    assert told["reason"] == 'keyword: "レシート" belongs to "expense"'


def test_a_route_named_is_taken_and_the_reason_says_so(hub: Hub) -> None:
    told = hub.caller().post("/tools/query", {"query": "富士山の高さは", "route": "pm"}).json
    assert told["route"] == "pm"
    assert "skill" in told["reason"]


def test_both_paths_give_the_same_answer(hub: Hub) -> None:
    query = "List three tasks for creating a project WBS."
    told = hub.caller().post("/tools/query", {"query": query}).json
    assert told["answer"] == JSONRPC[0].ask(hub.caller(), query).text


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "query"),
        ({"query": "  "}, "query"),
        ({"query": 5}, "query"),
        ({"query": "x", "route": "nobody"}, "route"),
        ({"query": "x", "contextId": ["a"]}, "contextId"),
        ({"query": "x", "quarry": "y"}, "quarry"),
        (["query"], "body"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_mistake_is_a_problem_that_names_the_field(hub: Hub, body: object, field: str) -> None:
    answer = hub.caller().post("/tools/query", body)
    assert (answer.status, answer.media_type) == (400, "application/problem+json")
    assert answer.json["status"] == 400
    assert [error["field"] for error in answer.json["errors"]] == [field]


@pytest.mark.parametrize("body", [b"", b"{", b'{"query": "\xff"}', b'{"query": "\\ud800"}', b"[" * 20_000])
def test_a_body_that_is_no_json_is_a_problem_too(hub: Hub, body: bytes) -> None:
    answer = hub.caller().post("/tools/query", body)
    assert (answer.status, answer.media_type) == (400, "application/problem+json")
    assert "Traceback" not in answer.body.decode()
