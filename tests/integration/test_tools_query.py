"""The REST tool API: what it takes, what it answers, and that its OpenAPI document says so."""

import json
from typing import Any, cast

import jsonschema
import openapi_spec_validator
import pytest
import yaml

from a2a_hub.boundaries.kinds import KINDS
from a2a_hub.http.messages import Response
from a2a_hub.identity.principal import Principal
from local.docs.openapi import rendered
from tests.fakes.agent_server import AgentServer
from tests.fakes.agent_wire import data, message, text
from tests.fakes.hub import TOKEN, Hub, route
from tests.fakes.signatures import signed

KEY = "a-signing-key-of-thirty-two-characters"
_CITATION = {
    "uri": "gs://docs/p.md",
    "title": "P",
    "quote": "15 minutes",
    "position": {"start": 0, "end": 10, "line": 1},
}
_ANSWER = [message(text("Within 15 minutes."), data({"citations": [_CITATION], "minutes": 15}))]

# Body, status, the field that is named.
_BAD_BODIES = [
    (b"", 400, None),
    (b"{", 400, None),
    (b"\xff", 400, None),
    (b"[" * 2000, 400, None),
    (b'{"query": "a"} x', 400, None),
    (b"[]", 400, "body"),
    (b'"query"', 400, "body"),
    (b"null", 400, "body"),
    (b"{}", 400, "query"),
    (b'{"query": null}', 400, "query"),
    (b'{"query": ""}', 400, "query"),
    (b'{"query": " \\n"}', 400, "query"),
    (b'{"query": 7}', 400, "query"),
    (b'{"query": ["a"]}', 400, "query"),
    (b'{"query": {"text": "a"}}', 400, "query"),
    (b'{"query": "a", "contextId": 7}', 400, "contextId"),
    (b'{"query": "a", "contextId": {}}', 400, "contextId"),
    (b'{"query": "a", "route": 7}', 400, "route"),
    (b'{"query": "a", "route": ""}', 400, "route"),
    (b'{"query": "a", "route": "nobody"}', 400, "route"),
    (b'{"query": "a", "document": "a.md"}', 400, "document"),
    (b'{"query": "a", "Route": "alpha"}', 400, "Route"),
    (b'{"query": "a", "context_id": "c"}', 400, "context_id"),
    (b'{"query": "' + b"a" * 3000 + b'"}', 413, None),
]


@pytest.mark.parametrize(("body", "status", "field"), _BAD_BODIES, ids=lambda value: repr(value)[:40])
def test_a_wrong_body_is_a_problem_that_names_the_field(body: bytes, status: int, field: str | None) -> None:
    hub = Hub(route("alpha", "http://127.0.0.1:9"), max_body_bytes=2048)
    response = hub.request("POST", "/tools/query", body)
    problem = _problem(response, status)
    assert [error["field"] for error in problem.get("errors", [])] == ([field] if field else [])
    assert problem["requestId"] == hub.log[-1]["requestId"]


def test_an_unknown_route_is_told_the_known_ones() -> None:
    hub = Hub(route("alpha", "http://127.0.0.1:9"), route("beta", "http://127.0.0.1:9"))
    problem = _problem(hub.request("POST", "/tools/query", b'{"query": "a", "route": "gamma"}'), 400)
    assert problem["errors"] == [{"field": "route", "detail": "must be one of alpha, beta"}]


@pytest.mark.parametrize("content_type", ["text/plain", "application/xml", "application/x-www-form-urlencoded"])
def test_another_content_type_is_refused(content_type: str) -> None:
    hub = Hub(route("alpha", "http://127.0.0.1:9"))
    response = hub.request("POST", "/tools/query", b'{"query": "a"}', headers={"content-type": content_type})
    _problem(response, 415)


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_another_method_is_told_the_right_one(method: str) -> None:
    response = Hub(route("alpha", "http://127.0.0.1:9")).request(method, "/tools/query")
    _problem(response, 405)
    assert response.headers["allow"] == "POST"


def test_an_answer_has_everything_that_the_ui_path_leaves_out() -> None:
    with AgentServer(lambda _: _ANSWER) as agent:
        hub = Hub(route("alpha", agent.url), route("beta", "http://127.0.0.1:9"))
        record = hub.query("What does ALPHA say?")
    assert record["timings"].keys() == {"routingMs", "downstreamMs"}
    assert record["requestId"] == hub.log[-1]["requestId"]
    assert record["contextId"]
    assert {name: record[name] for name in record.keys() - {"timings", "requestId", "contextId"}} == {
        "route": "alpha",
        "reason": 'keyword: "alpha" belongs to "alpha"',
        "agent": "Agent alpha",
        "boundary": "public",
        "answer": "Within 15 minutes.",
        "data": {"citations": [_CITATION], "minutes": 15},
        "citations": [_CITATION],
        "error": None,
    }


@pytest.mark.parametrize(
    ("principal", "is_operator"),
    [
        (Principal(subject="client:ci", client="ci", operator=True), True),
        (Principal(subject="client:ci", client="ci"), False),
        (
            Principal(subject="client:ci", client="ci", operator=True, operations=frozenset({"tools/query", "doctor"})),
            True,
        ),
        (Principal(subject="client:ci", client="ci", operator=True, operations=frozenset({"tools/query"})), False),
        (Principal(subject="google:1", email="operator@example.com", hosted_domain="example.com"), True),
        (Principal(subject="google:2", email="somebody@example.com", hosted_domain="example.com"), False),
    ],
    ids=["client", "ordinary client", "client that may", "client that may not", "operator", "somebody"],
)
def test_what_mends_a_failure_is_told_to_operators_alone(principal: Principal, is_operator: bool) -> None:
    hub = Hub(route("alpha", "http://127.0.0.1:9"), behind_gate=True, settings={"OPERATORS": "operator@example.com"})
    record = _asked_as(hub, principal)
    assert ("cause" in record["error"], "ALPHA_URL" in json.dumps(record)) == (is_operator, is_operator)
    assert {name: record["error"][name] for name in ("kind", "fault")} == {
        "kind": "down",
        "fault": "unreachable",
    }
    assert "Agent alpha" in record["answer"]
    _conforms(record, "Answer")


def test_what_an_agent_tells_the_operator_is_not_in_anybody_elses_record() -> None:
    told = [message(text("Yes."), data({"days": 30, "hints": [{"remedy": "gcloud services enable"}]}))]
    with AgentServer(lambda _: told) as agent:
        hub = Hub(route("alpha", agent.url), behind_gate=True)
        assert _asked_as(hub, Principal(subject="google:2"))["data"] == {"days": 30}
        assert "gcloud" in json.dumps(_asked_as(hub, Principal(subject="client:ci", client="ci", operator=True)))


def test_a_route_that_is_named_wins_over_the_rules() -> None:
    with AgentServer(lambda _: _ANSWER) as agent:
        hub = Hub(route("alpha", agent.url), route("beta", "http://127.0.0.1:9"))
        record = hub.query("What does beta say?", route="alpha")
    assert (record["route"], record["reason"]) == ("alpha", 'skill: the caller asked for "alpha"')


def test_what_a_text_is_about_stands_at_its_beginning() -> None:
    hub = Hub(route("alpha", "http://127.0.0.1:9"), route("beta", "http://127.0.0.1:9"))
    pasted = "word " * 5000
    assert hub.query(f"alpha {pasted}")["route"] == "alpha"
    assert hub.query(f"{pasted} alpha")["route"] == "beta"


def test_a_query_of_control_characters_is_no_question() -> None:
    record = Hub(route("alpha", "http://127.0.0.1:9")).query("\x00\x01")
    assert (record["route"], record["agent"], record["error"]) == (None, None, None)
    assert "ご質問を入力してください" in record["answer"]
    _conforms(record, "Answer")


def test_the_document_is_valid_and_public() -> None:
    openapi_spec_validator.validate(_document())


def test_the_document_is_the_one_that_the_code_makes() -> None:
    response = Hub(route("alpha", "http://127.0.0.1:9")).request("GET", "/openapi.yaml", token=None)
    assert cast("bytes", response.body).decode() == rendered()


def test_every_answer_conforms_to_the_document() -> None:
    with AgentServer(lambda _: _ANSWER) as agent:
        hub = Hub(route("alpha", agent.url), route("beta", "http://127.0.0.1:9"))
        for fields in ({}, {"route": "beta"}, {"contextId": "c"}):
            _conforms(hub.query("Hello alpha", **fields), "Answer")
    for path in ("/routes", "/debug-version", "/health"):
        response = hub.request("GET", path)
        schema = _document()["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        assert response.status == 200
        _validate(json.loads(cast("bytes", response.body)), schema)


@pytest.mark.parametrize(
    "wrong",
    [{"title": 7}, {"quote": ["x"]}, {"position": 3}, {"title": None}, {"passageId": 7}, {"position": {"line": "x"}}],
)
def test_a_citation_of_another_form_does_not_break_the_documents_promise(wrong: dict[str, Any]) -> None:
    citation = {"uri": "gs://docs/p.md"}
    with AgentServer(lambda _: [message(text("Yes."), data({"citations": [citation | wrong]}))]) as agent:
        record = Hub(route("alpha", agent.url)).query("Really?")
    assert record["citations"] == [citation]
    _conforms(record, "Answer")


def test_the_documents_own_examples_are_good_questions() -> None:
    content = _document()["paths"]["/tools/query"]["post"]["requestBody"]["content"]["application/json"]
    for example in content["examples"].values():
        _conforms(example["value"], "Query")
        with AgentServer(lambda _: _ANSWER) as agent:
            assert Hub(route("alpha", agent.url)).query(**{"text": example["value"]["query"]})["error"] is None


def test_a_member_that_is_null_is_as_good_as_left_out_and_the_document_says_so() -> None:
    absent: dict[str, Any] = {"contextId": None, "route": None, "document": None, "dryRun": None}
    _conforms({"query": "Hello alpha"} | absent, "Query")
    with AgentServer(lambda _: _ANSWER) as agent:
        assert Hub(route("alpha", agent.url)).query("Hello alpha", **absent)["error"] is None


def test_the_document_has_the_form_that_it_says_it_has() -> None:
    answers = _document()["paths"]["/openapi.yaml"]["get"]["responses"]["200"]["content"]
    _validate(_document(), answers["application/yaml"]["schema"])


def test_every_status_of_a_problem_is_documented() -> None:
    documented = _document()["paths"]["/tools/query"]["post"]["responses"].keys()
    assert {"200", "400", "401", "403", "405", "413", "415", "503"} <= documented


def test_the_document_has_every_kind_of_boundary() -> None:
    documented = _document()["components"]["schemas"]["Answer"]["properties"]["boundary"]["enum"]
    assert set(documented) == {*KINDS, None}


def test_the_routes_are_told_without_addresses() -> None:
    hub = Hub(route("alpha", "https://secret-address.example"), route("beta", "https://other.example"))
    body = cast("bytes", hub.request("GET", "/routes").body)
    assert [item["id"] for item in json.loads(body)["routes"]] == ["alpha", "beta"]
    assert b"example" not in body.replace(b"examples", b"")


def _asked_as(hub: Hub, principal: Principal) -> dict[str, Any]:
    headers = signed(principal, "POST", "/tools/query", b'{"query": "Hi"}')
    status, value = hub.post("/tools/query", {"query": "Hi"}, token=None, headers=headers)
    assert status == 200
    return cast("dict[str, Any]", value)


def _problem(response: Response, status: int) -> dict[str, Any]:
    assert response.status == status
    assert response.headers["content-type"] == "application/problem+json"
    problem = json.loads(cast("bytes", response.body))
    assert problem["status"] == status
    assert TOKEN not in json.dumps(problem)
    _conforms(problem, "Problem")
    return cast("dict[str, Any]", problem)


def _document() -> dict[str, Any]:
    response = Hub(route("alpha", "http://127.0.0.1:9")).request("GET", "/openapi.yaml", token=None)
    assert response.headers["content-type"] == "application/yaml"
    return cast("dict[str, Any]", yaml.safe_load(cast("bytes", response.body)))


def _conforms(value: Any, name: str) -> None:
    _validate(value, {"$ref": f"#/components/schemas/{name}"})


def _validate(value: Any, schema: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator({**schema, "components": _document()["components"]}).validate(value)
