"""The local Vertex AI as its REST reference describes it, and the whole general function over it."""

import contextlib
import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.local_cloud import account, accounts_at, call, inject
from tests.fakes.vertex import ACCOUNT, MODEL, PROJECT, TOKEN, Vertex, vertex
from tests.integration.gates import Gate, function

ASKED = {"contents": [{"role": "user", "parts": [{"text": "Snow is white. Coal is black. Is coal black?"}]}]}
PLACE = f"projects/{PROJECT}/locations/global/publishers/google/models/{MODEL}"


def post(service: Vertex, path: str, body: Any = ASKED, *, token: str | None = TOKEN) -> tuple[int, str, bytes]:
    connection = http.client.HTTPConnection(service.url.removeprefix("http://"), timeout=10)
    headers = {"authorization": f"Bearer {token}"} if token else {}
    connection.request("POST", path, body=json.dumps(body), headers=headers)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, answer.headers["content-type"], content


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_one_answer_comes_whole(version: str) -> None:
    with vertex() as service:
        status, media_type, body = post(service, f"/{version}/{PLACE}:generateContent")

    answer = json.loads(body)
    assert (status, media_type) == (200, "application/json")
    assert answer["candidates"] == [
        {"content": {"role": "model", "parts": [{"text": "Coal is black."}]}, "finishReason": "STOP"}
    ]
    assert answer["usageMetadata"] == {
        "promptTokenCount": 12,
        "candidatesTokenCount": 4,
        "totalTokenCount": 16,
    }


def test_a_function_that_the_text_spells_out_is_called_and_its_result_is_the_answer() -> None:
    declared = [{"functionDeclarations": [{"name": "find"}, {"name": "find_files"}]}]
    asked = {"role": "user", "parts": [{"text": 'Please find_files {"words": "a"}'}]}
    called = {"name": "find_files", "args": {"words": "a"}}
    result = {"functionResponse": {"name": "find_files", "response": {"files": ["a.txt"]}}}
    with vertex() as service:
        first = post(service, f"/v1/{PLACE}:generateContent", {"contents": [asked], "tools": declared})
        contents = [asked, {"role": "model", "parts": [{"functionCall": called}]}, {"role": "user", "parts": [result]}]
        second = post(service, f"/v1/{PLACE}:generateContent", {"contents": contents, "tools": declared})
    parts = [json.loads(body)["candidates"][0]["content"]["parts"] for _, _, body in (first, second)]
    assert parts == [[{"text": "Next: find_files"}, {"functionCall": called}], [{"text": '{"files": ["a.txt"]}'}]]


@pytest.mark.parametrize(
    ("path", "body", "token", "status", "word"),
    [
        (f"/v1/{PLACE}:generateContent", ASKED, None, 401, "UNAUTHENTICATED"),
        (f"/v1/{PLACE}:generateContent", ASKED, "ya29.forged", 401, "UNAUTHENTICATED"),
        (f"/v1/{PLACE}:generateContent", ASKED, "ya29.stranger", 403, "PERMISSION_DENIED"),
        (f"/v1/{PLACE}-x:generateContent", ASKED, TOKEN, 404, "NOT_FOUND"),
        (f"/v1/{PLACE}:countTokens", ASKED, TOKEN, 404, "NOT_FOUND"),
        (f"/v1/{PLACE}:generateContent", {}, TOKEN, 400, "INVALID_ARGUMENT"),
        (f"/v1/{PLACE}:generateContent", {"contents": [{"parts": [{}]}]}, TOKEN, 400, "INVALID_ARGUMENT"),
        (f"/v1/{PLACE}:generateContent", [], TOKEN, 400, "INVALID_ARGUMENT"),
    ],
)
def test_what_is_refused_is_refused_as_google_does(
    path: str, body: Any, token: str | None, status: int, word: str
) -> None:
    with vertex() as service:
        answered, _, content = post(service, path, body, token=token)
    error = json.loads(content)["error"]
    assert (answered, error["code"], error["status"]) == (status, status, word)


QUESTION = "Our tower has 12 floors. How many floors has our tower?"


@contextlib.contextmanager
def general(metadata: str, service: Vertex, folder: Path) -> Iterator[Gate]:
    """The function as the account at `metadata`, over `service`."""
    host = metadata.removeprefix("http://")
    settings = {
        "ANSWER_MODEL": MODEL,
        "GOOGLE_CLOUD_PROJECT": PROJECT,
        "VERTEX_AI_ENDPOINT": service.url,
        "GCE_METADATA_HOST": host,
        "GCE_METADATA_IP": host,
        "HOME": str(folder),
    }
    with function("general", folder, **settings) as running:
        yield running


@contextlib.contextmanager
def sent(port: int, method: str) -> Iterator[http.client.HTTPResponse]:
    """The answer to the question of a client that takes JSON."""
    params = {
        "message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": QUESTION}]},
        "configuration": {"acceptedOutputModes": ["text/plain", "application/json"]},
    }
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    headers = {"content-type": "application/json", "a2a-version": "1.0"}
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request("POST", "/", body=body, headers=headers)
        with connection.getresponse() as answer:
            yield answer


def ask(port: int) -> list[dict[str, Any]]:
    """The parts of the whole answer: a message's, or those of a failed task."""
    with sent(port, "SendMessage") as answer:
        result: dict[str, Any] = json.loads(answer.read())["result"]
    if "message" in result:
        return list(result["message"]["parts"])
    task = result["task"]
    assert task["status"]["state"] == "TASK_STATE_FAILED"
    return [*task["status"]["message"]["parts"], *(part for each in task["artifacts"] for part in each["parts"])]


def test_the_function_asks_as_its_own_account_and_says_what_mends_a_refusal(tmp_path: Path) -> None:
    with (
        account(ACCOUNT, PROJECT) as metadata,
        vertex(accounts_at[metadata]) as service,
        general(metadata, service, tmp_path) as running,
    ):
        answered = ask(running.port)
        inject(service.url, "deny-predict")
        refused = ask(running.port)
        log = running.log.read_text()

    assert [part.get("text") for part in answered] == ["Our tower has 12 floors.", None]
    assert answered[1]["data"]["tokens"]["answer"] == 6
    mends = refused[1]["data"]["hints"][0]["remedy"]
    assert f"--member=serviceAccount:{ACCOUNT} --role=roles/aiplatform.user" in mends
    assert "The language model is not set up for me as it should be." in refused[0]["text"]
    assert '"cause":"denied"' in log
    assert "ya29" not in log
    assert "tower" not in log


def test_every_token_is_an_artifact_update_of_its_own_as_it_comes(tmp_path: Path) -> None:
    with (
        account(ACCOUNT, PROJECT) as metadata,
        vertex(accounts_at[metadata]) as service,
        general(metadata, service, tmp_path) as running,
    ):
        inject(service.url, "stall", tokens=3)
        told: list[tuple[str, bool]] = []
        with sent(running.port, "SendStreamingMessage") as answer:
            # The model says nothing more: what arrives has waited for nothing.
            while len(told) < 3:
                line = answer.readline()
                assert line
                if line.startswith(b"data:") and (update := json.loads(line[5:])["result"].get("artifactUpdate")):
                    told.append((update["artifact"]["parts"][0]["text"], update.get("append", False)))

    assert told == [("Our", False), (" tower", True), (" has", True)]


def test_an_account_that_had_no_token_is_answered_once_it_has_one(tmp_path: Path) -> None:
    with account(ACCOUNT, PROJECT) as metadata, vertex(accounts_at[metadata]) as service:
        inject(metadata, "metadata-down")
        with general(metadata, service, tmp_path) as running:
            without = ask(running.port)
            call(f"{metadata}/__faults", "DELETE")
            with_one = ask(running.port)

    assert without[1]["data"]["failure"]["cause"] == "no_credentials"
    assert with_one[0]["text"] == "Our tower has 12 floors."
