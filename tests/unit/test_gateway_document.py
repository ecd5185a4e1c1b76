"""gateway/openapi.yaml is one that API Gateway takes, and the check says so when it no longer is."""

import pytest

from gateway.check import problems
from gateway.document import FILE, read
from gateway.generate import rendered

TEXT = FILE.read_text(encoding="utf-8")
_TASK_PATH = "  /tasks/{id}:\n"


def test_nothing_is_wrong_with_the_file_and_it_is_what_the_code_makes() -> None:
    assert problems(TEXT) == []
    assert rendered() == TEXT


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "deadline: 1800.0",
            "deadline: 3601.0",
            "backend gate_agents has a deadline that is not within 3600 s",
        ),
        ("      deadline: 1800.0\n", "", "backend gate_agents has no deadline"),
        ("      pathTranslation: APPEND_PATH_TO_ADDRESS\n", "", "must say pathTranslation"),
        (
            "pathTranslation: APPEND_PATH_TO_ADDRESS",
            "pathTranslation: CONSTANT_ADDRESS",
            "must say pathTrans",
        ),
        ("      protocol: http/1.1\n", "", "must name a protocol"),
        (
            "jwtAudience: ${GATE_URL}",
            "jwtAudience: ${AGENT_CARD_URL}",
            "must name its address as jwtAudience",
        ),
        ("jwtAudience: ${GATE_URL}", "disableAuth: true", "has disableAuth"),
        ("address: ${GATE_URL}", "address: http://gate.example", "has no address of the form"),
        ("x-google-backend: gate_agents", "x-google-backend: hub", "names no backend"),
        ("      x-google-backend: gate_agents\n", "", "names no backend"),
        ("operationId: query", "operationId: getRoot", "operationId getRoot is given 2 times"),
        ("      operationId: query\n", "", "POST /tools/query has no operationId"),
        ("operationId: query", "operationId: query-it", "POST /tools/query has no operationId"),
        (
            "operationId: query\n",
            "operationId: query\n      security: [{google: []}]\n",
            "security requirement",
        ),
        ("paths:", "security: [{google: []}]\npaths:", "GET /health has a security requirement"),
        ("paths:", "x-google-allow: all\npaths:", "x-google-allow is no extension"),
        (_TASK_PATH, "  /tasks/task-{id}:\n", "GET /tasks/task-{id} has a path template"),
        (_TASK_PATH, "  /tasks/{id}{tenant}:\n", "has a path template that API Gateway refuses"),
        (_TASK_PATH, "  /tasks/{id=**}:\n", "has a path template that API Gateway refuses"),
        ("  /routes:", "  /.well-known/routes:", "may not lead to gate"),
        (
            "operationId: listRoutes\n      x-google-backend: gate",
            "operationId: listRoutes\n      x-google-backend: agent_card",
            "GET /routes may not lead to agent_card",
        ),
        (
            "    head:\n      operationId: getAgentCardHead",
            "    put:\n      operationId: putCard",
            "may not be public",
        ),
        ("openapi: 3.0.4", "openapi: 2.9.0", "OpenAPI:"),
        ("          $ref:", "          ref:", "OpenAPI:"),
    ],
)
def test_the_check_finds(old: str, new: str, problem: str) -> None:
    assert old in TEXT
    assert any(problem in found for found in problems(TEXT.replace(old, new, 1)))


def test_operations_that_wait_for_an_agent_have_the_long_deadline() -> None:
    document = read(TEXT)
    long = {
        operation.path.rpartition("/")[2]
        for operation in document.operations
        if (document.backends[operation.backend or ""].deadline_seconds or 0) > 600
    }
    assert long == {"", "doctor", "query", "message:send", "message:stream", "{id}:subscribe"}
