"""Documents that name who may read them: through the hub, which signs who asks, and at docqa itself."""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.identity.authentication import PRINCIPAL_HEADER
from a2a_hub.identity.principal import Principal
from a2a_hub.identity.signed_principal import PrincipalSigner
from local.settings import key_pair, key_settings
from tests.fakes.chat_completions import ChatCompletions
from tests.fakes.hub import Hub, route, streamed_text, text_of
from tests.fakes.signatures import KEYS, signed
from tests.integration.gates import Gate, function

_QUESTION = "What does the director of docqa Depot earn?"
_KEYS_QUESTION = "Within how many days are keys returned?"
_PAY = "# Pay\n\nThe director of the docqa Depot earns 9,000 euros.\n"
_PUBLIC = "# Keys\n\nKeys are returned within 3 days.\n"
_HANAKO = Principal(subject="google:1", email="hanako@example.com", hosted_domain="example.com")
_TARO = Principal(subject="google:2", email="taro@gmail.com")
_SECRET = ("9,000", "pay.md", "Pay")


@dataclass(frozen=True)
class Documents:
    """A hub in front of a docqa with one restricted document. `prompts` are what its model was shown."""

    hub: Hub
    docqa: Gate
    prompts: list[str]
    composes: bool

    def query(self, asker: Principal | None, text: str = _QUESTION, **more: object) -> dict[str, Any]:
        """The answer of /tools/query."""
        body = json.dumps({"query": text, **more}).encode()
        headers = signed(asker, "POST", "/tools/query", body) if asker else {}
        response = self.hub.request("POST", "/tools/query", body, token=None, headers=headers)
        assert isinstance(response.body, bytes)
        assert response.status == 200, response.body
        found: dict[str, Any] = json.loads(response.body)
        return found

    def ask(self, headers: Mapping[str, str], text: str = _QUESTION, *modes: str) -> tuple[int, str]:
        """The status and the body of docqa's own answer."""
        answer = self.docqa.ask(body=_message(text, *modes), headers={"content-type": "application/json", **headers})
        return answer.status, answer.body.decode()


def _message(text: str, *modes: str, method: str = "message/send") -> bytes:
    message = {"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": text}]}
    params: dict[str, Any] = {"message": message, "configuration": {"acceptedOutputModes": list(modes)}}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


@pytest.fixture(scope="module", params=["quotes", "a model"])
def documents(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Documents]:
    folder, corpus = tmp_path_factory.mktemp("readers"), tmp_path_factory.mktemp("corpus")
    (corpus / "hr").mkdir()
    (corpus / "hr/access.toml").write_text('allow_domains = ["example.com"]')
    (corpus / "hr/pay.md").write_text(_PAY)
    (corpus / "keys.md").write_text(_PUBLIC)
    settings = {"CORPUS_DIR": str(corpus), "CORPUS_LINK": "https://intranet.example/{path}"}
    prompts: list[str] = []

    def reply(body: dict[str, Any], _: object) -> list[str]:
        prompt = body["messages"][1]["content"]
        prompts.append(prompt)
        asked = "returned" if _KEYS_QUESTION in prompt else "earns"
        shown = [each for each in map(json.loads, prompt.splitlines()) if asked in each.get("text", "")]
        sentences = [{"text": each["text"], "cites": [each["id"]]} for each in shown]
        return [json.dumps({"answerable": bool(sentences), "missing": "", "sentences": sentences})]

    with ExitStack() as stack:
        if request.param == "a model":
            model = stack.enter_context(ChatCompletions(reply))
            settings |= {"ANSWER_MODEL": "scripted", "ANSWER_MODEL_URL": f"{model.url}/v1", "ANSWER_CHECK": "none"}
        keys = key_settings("docqa", trusts=("hub",), keys=KEYS)
        docqa = stack.enter_context(function("docqa", folder, **settings, **keys))
        agent = route("docqa", f"http://127.0.0.1:{docqa.port}", signs_caller_for="docqa")
        yield Documents(Hub(agent, behind_gate=True, anonymous=True), docqa, prompts, request.param == "a model")


def _shows(text: str) -> bool:
    return any(each in text for each in _SECRET)


@pytest.mark.parametrize("asker", [_TARO, None], ids=["somebody else", "anonymous"])
def test_who_may_not_read_a_document_finds_no_trace_of_it(documents: Documents, asker: Principal | None) -> None:
    documents.prompts.clear()
    found = documents.query(asker)
    assert found["data"]["grounded"] is False
    assert not _shows(json.dumps(found, ensure_ascii=False))
    assert not _shows("".join(documents.prompts))


def test_who_may_read_a_document_gets_what_it_says(documents: Documents) -> None:
    documents.prompts.clear()
    found = documents.query(_HANAKO)
    (citation,) = found["citations"]
    assert citation["quote"] == "The director of the docqa Depot earns 9,000 euros."
    assert citation["link"] == "https://intranet.example/hr/pay.md"
    assert ("composed" in found["data"]) is documents.composes
    assert [_shows(prompt) for prompt in documents.prompts] == [True] * documents.composes


def test_a_document_is_shown_around_its_quote_to_who_may_read_it(documents: Documents) -> None:
    (citation,) = documents.query(_HANAKO)["citations"]
    place = {"uri": citation["uri"], "start": citation["position"]["start"]}

    def shown(asker: Principal | None, asked: str, **changes: object) -> Any:
        return documents.query(asker, asked, route="docqa", document=place | changes)["data"]

    found = shown(_HANAKO, citation["quote"])["document"]
    assert found["before"] + found["quote"] + found["after"] == _PAY.strip()
    assert (found["title"], found["quote"]) == ("Pay", citation["quote"])
    assert found["link"] == citation["link"]
    assert shown(_HANAKO, citation["quote"], start=7)["document"] == found
    assert shown(_HANAKO, "Show this document.", quote=citation["quote"])["document"] == found
    changed = shown(_HANAKO, "It earns nothing.")["document"]
    assert (changed["before"], changed["quote"], changed["after"]) == ("", "", _PAY.strip())
    for data in (shown(_TARO, citation["quote"]), shown(None, "x"), shown(_HANAKO, "x", uri="corpus:hr/none.md")):
        assert data == {"declines": "nothing_known"}
    assert documents.query(_HANAKO, "x", route="docqa", document={"uri": 7})["error"]["kind"] == "not_accepted"


@pytest.mark.parametrize("method", ["message/send", "message/stream"])
def test_a2a_callers_see_what_they_may_read(documents: Documents, method: str) -> None:
    def said(asker: Principal) -> str:
        body = _message(_QUESTION, method=method)
        headers = signed(asker, "POST", "/", body)
        response = documents.hub.request("POST", "/", body, token=None, headers=headers)
        assert response.status == 200
        if isinstance(response.body, bytes):
            return text_of(json.loads(response.body)["result"])
        assert isinstance(response.body, Iterator)
        events = [chunk.removeprefix(b"data: ") for chunk in response.body if not chunk.startswith(b":")]
        return streamed_text([json.loads(event)["result"] for event in events])

    assert "9,000 euros" in said(_HANAKO)
    assert not _shows(said(_TARO))


def _signed_for_docqa(asker: Principal, body: bytes, function: str = "hub", audience: str = "docqa") -> dict[str, str]:
    return signed(asker, "POST", "/", body, function=function, audience=audience)


def test_a_header_is_good_for_the_hubs_own_request_alone(documents: Documents) -> None:
    body = _message(_QUESTION)
    stranger = PrincipalSigner(key_pair().private, now=lambda: 1_900_000_000.0, audience="docqa")
    forged = {
        "another's key": {PRINCIPAL_HEADER: stranger.sign(_HANAKO, method="POST", path="/", body=body)},
        "the gate's key": _signed_for_docqa(_HANAKO, body, function="gate"),
        "another audience": _signed_for_docqa(_HANAKO, body, audience="tasks"),
        "another body": _signed_for_docqa(_HANAKO, _message("What else?")),
        "no signature": {PRINCIPAL_HEADER: "hanako@example.com"},
    }
    assert "9,000" in documents.ask(_signed_for_docqa(_HANAKO, body))[1]
    for why, headers in forged.items():
        status, answer = documents.ask(headers)
        # A body is read after its headers, when JSON-RPC reports errors in its own way.
        assert status == 401 or "error" in json.loads(answer), why
        assert not _shows(answer)


def test_a_header_that_has_expired_is_refused(documents: Documents) -> None:
    body = _message(_QUESTION)
    signer = PrincipalSigner(KEYS["hub"].private, now=lambda: 1_700_000_000.0, audience="docqa")
    status, answer = documents.ask({PRINCIPAL_HEADER: signer.sign(_HANAKO, method="POST", path="/", body=body)})
    assert status == 503
    assert not _shows(answer)


def test_called_directly_docqa_lists_its_sources_for_who_takes_text_alone(documents: Documents) -> None:
    line = "Sources:\\n[1] Keys (https://intranet.example/keys.md)"
    assert line in documents.ask({}, _KEYS_QUESTION)[1]
    assert "Sources:" not in documents.ask({}, _KEYS_QUESTION, "text/plain", "application/json")[1]


def test_the_doctor_says_that_docqa_does_not_know_who_asks(documents: Documents, tmp_path: Path) -> None:
    (tmp_path / "access.toml").write_text('allow_emails = ["a@example.com"]')
    (tmp_path / "pay.md").write_text(_PAY)
    with function("docqa", tmp_path, CORPUS_DIR=str(tmp_path)) as docqa:
        without = docqa.ask("GET", "/doctor", None, {}).body.decode()
    assert "docqa is not told who asks" in without
    assert "HUB_PUBLIC_KEYS" in without
    known = documents.docqa.ask("GET", "/doctor", None, {}).body.decode()
    assert "1 documents name who may read them" in known
    assert "not told" not in known
