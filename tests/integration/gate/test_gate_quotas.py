"""The quota of requests at gates as real processes: shared through a store, told to people, and the page for everybody."""

import json
from pathlib import Path

from tests.fakes.http_server import HttpServer
from tests.integration.gates import BEARER, OTHER_TOKEN, gate

_QUESTION = {
    "kind": "message",
    "messageId": "m",
    "role": "user",
    "parts": [{"kind": "text", "text": "期限はいつですか"}],
}


def test_two_gates_with_one_store_keep_one_quota(hub: HttpServer, tmp_path: Path) -> None:
    settings = {"TASK_STORE": f"sqlite:{tmp_path}/tasks.db", "RATE_LIMIT_PER_MINUTE": "40"}
    with gate(hub.url, tmp_path, **settings) as first, gate(hub.url, tmp_path, **settings) as second:
        statuses = [one.ask().status for _ in range(40) for one in (first, second)]
        another = first.ask(headers={"Authorization": f"Bearer {OTHER_TOKEN}"}).status
    assert set(statuses) == {200, 429}
    # A window may end meanwhile.
    passed = statuses.count(200)
    assert 32 <= passed <= 42 or 64 <= passed <= 80
    assert another == 200


def test_a_gate_whose_store_is_away_has_a_quota_of_its_own(hub: HttpServer, tmp_path: Path) -> None:
    settings = {"TASK_STORE": f"sqlite:{tmp_path}/missing/tasks.db", "RATE_LIMIT_PER_MINUTE": "5"}
    with gate(hub.url, tmp_path, **settings) as alone:
        assert [alone.ask().status for _ in range(6)] == [200] * 5 + [429]


def test_a_person_reads_in_the_language_of_the_question_when_to_ask_again(hub: HttpServer, tmp_path: Path) -> None:
    body = {"jsonrpc": "2.0", "id": "7", "method": "message/send", "params": {"message": _QUESTION}}
    with gate(hub.url, tmp_path, RATE_LIMIT_PER_MINUTE="1") as limited:
        answers = [limited.ask(body=json.dumps(body).encode()) for _ in range(2)]
    result = json.loads(answers[1].body)
    assert (answers[1].status, result["id"]) == (200, "7")
    assert result["result"]["parts"][0]["text"].startswith("リクエストが多すぎます。")
    assert len(hub.received) == 1


def test_the_page_for_everybody_is_read_within_the_quota_of_anonymous_callers(hub: HttpServer, tmp_path: Path) -> None:
    with gate(hub.url, tmp_path, QUOTA_ANONYMOUS_PER_MINUTE="2") as one:
        assert [one.ask("GET", "/openapi.yaml", None, {}).status for _ in range(3)] == [200, 200, 429]
        assert one.ask("GET", "/.well-known/agent-card.json", None, {}).status == 200
        assert one.ask(headers=BEARER).status == 200
