"""The contract follows the caller: by what is known of it, by its version and binding, by what it accepts and activates."""

import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.a2a.admission import contract_of
from a2a_hub.a2a.model import Binding, Version
from a2a_hub.identity.principal import Contract, Principal
from functions.hub.config import read
from tests.fakes.agent_server import AgentServer
from tests.fakes.agent_wire import status, task
from tests.fakes.hub import TOKEN, Hub, route, text_of
from tests.integration.tasks.life import ask_back

UI, PROGRAM = Contract.UI, Contract.PROGRAM
_GOOGLE = "123.apps.googleusercontent.com"
_JSON, _TEXT = ("application/json",), ("text/plain",)
_ids = itertools.count(1)


@pytest.mark.parametrize(
    ("known", "version", "binding", "modes", "extensions", "contract"),
    [
        (None, "0.3", "JSONRPC", None, (), UI),
        (None, "0.3", "JSONRPC", (), (), UI),
        (None, "0.3", "JSONRPC", _TEXT, (), UI),
        (None, "0.3", "JSONRPC", _JSON, (), UI),
        (None, "0.3", "JSONRPC", _JSON, ("urn:x",), PROGRAM),
        (None, "0.3", "JSONRPC", (), ("urn:x",), UI),
        (None, "0.3", "HTTP+JSON", None, (), PROGRAM),
        (None, "0.3", "HTTP+JSON", (), (), UI),
        (None, "1.0", "JSONRPC", None, (), PROGRAM),
        (None, "1.0", "JSONRPC", (), (), UI),
        (None, "1.0", "JSONRPC", _TEXT, (), PROGRAM),
        (None, "1.0", "HTTP+JSON", None, (), PROGRAM),
        (UI, "1.0", "JSONRPC", None, (), UI),
        (UI, "1.0", "HTTP+JSON", _JSON, ("urn:x",), UI),
        (PROGRAM, "0.3", "JSONRPC", None, (), PROGRAM),
        (PROGRAM, "0.3", "JSONRPC", (), (), PROGRAM),
    ],
)
def test_the_contract_follows_the_caller(
    known: Contract | None,
    version: str,
    binding: str,
    modes: tuple[str, ...] | None,
    extensions: tuple[str, ...],
    contract: Contract,
) -> None:
    principal = Principal(subject="client:x", contract=known)
    spoken: dict[str, Any] = {"version": Version(version), "binding": Binding(binding)}
    assert contract_of(principal, **spoken, modes=modes, extensions=extensions) is contract
    if known is None:
        assert contract_of(None, **spoken, modes=modes, extensions=extensions) is contract


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, str]:
    """Three named clients, and a store."""
    rows = [
        f'[[clients]]\nname = "{name}"\ntoken_sha256 = "{hashlib.sha256(name.encode()).hexdigest()}"\n{more}'
        for name, more in (("portal", 'contract = "ui"\n'), ("nightly", 'contract = "program"\n'))
    ]
    (tmp_path / "clients.toml").write_text("".join(rows))
    return {"CLIENTS_FILE": str(tmp_path / "clients.toml"), "TASK_STORE": f"sqlite:{tmp_path}/tasks.db"}


@pytest.fixture
def asking() -> Iterator[AgentServer]:
    """An agent that asks back once."""
    with AgentServer(ask_back) as agent:
        yield agent


@pytest.mark.parametrize("stored", [True, False], ids=["stored", "unstored"])
def test_a_1_0_program_without_modes_gets_a_failed_task_with_its_reason(settings: dict[str, str], stored: bool) -> None:
    dead = route("alpha", "http://127.0.0.1:9")
    hub = Hub(dead, settings=settings if stored else None)
    result = _send(hub)
    status = result["task"]["status"]
    assert status["state"] == "TASK_STATE_FAILED"
    assert status["message"]["metadata"] == {"error": {"reason": "DOWN", "retryable": True}}
    assert "cannot be reached" in status["message"]["parts"][0]["text"]
    if stored:
        kept = _call(hub, "GetTask", {"id": result["task"]["id"]})
        assert kept["status"]["message"]["metadata"]["error"]["reason"] == "DOWN"


def test_what_cannot_succeed_later_is_not_retryable() -> None:
    hub = Hub(route("alpha", "http://127.0.0.1:9", allow_emails=("boss@example.com",)))
    error = _send(hub)["task"]["status"]["message"]["metadata"]["error"]
    assert error == {"reason": "NOT_PERMITTED", "retryable": False}


def test_a_0_3_program_gets_a_failed_task_in_answer_to_message_send(settings: dict[str, str]) -> None:
    hub = Hub(route("alpha", "http://127.0.0.1:9"), settings=settings)
    task = _send(hub, version="0.3", token="nightly")
    assert (task["kind"], task["status"]["state"]) == ("task", "failed")
    assert task["status"]["message"]["metadata"]["error"]["reason"] == "DOWN"
    message = {"messageId": "m-1", "role": "ROLE_USER", "content": [{"text": "hello"}]}
    status, answer = hub.post("/v1/message:send", {"message": message, "configuration": {"blocking": True}})
    assert (status, answer["task"]["status"]["state"]) == (200, "TASK_STATE_FAILED")


@pytest.mark.parametrize("stored", [True, False], ids=["stored", "unstored"])
def test_a_program_gets_a_rejected_task_and_a_person_the_reason(settings: dict[str, str], stored: bool) -> None:
    with AgentServer(lambda _: [task("working"), status("rejected", "Ask HR instead.")]) as agent:
        hub = Hub(route("alpha", agent.url), settings=settings if stored else None)
        sent = _send(hub)["task"]
        *_, last = hub.stream("hello", version="1.0", modes=["text/plain"])
        said = _send(hub, version="0.3")
    assert sent["status"]["state"] == last["statusUpdate"]["status"]["state"] == "TASK_STATE_REJECTED"
    assert sent["artifacts"][0]["parts"] == [{"text": "Ask HR instead."}]
    assert text_of(said) == "Ask HR instead."


@pytest.mark.parametrize("stored", [True, False], ids=["stored", "unstored"])
@pytest.mark.parametrize("state", ["rejected", "canceled"])
def test_a_task_that_its_agent_ends_without_a_word_has_that_end_alone(
    settings: dict[str, str], state: str, stored: bool
) -> None:
    with AgentServer(lambda _: [task("working"), status(state)]) as agent:
        hub = Hub(route("alpha", agent.url, passes_tasks=True), settings=settings if stored else None)
        sent = _send(hub)["task"]
        heard = hub.stream("hello", version="1.0", modes=["text/plain"])
    end = f"TASK_STATE_{state.upper()}"
    states = [each["statusUpdate"]["status"]["state"] for each in heard if "statusUpdate" in each]
    assert (sent["status"]["state"], states[-1], states.count("TASK_STATE_FAILED")) == (end, end, 0)


@pytest.mark.parametrize(("version", "token"), [("1.0", TOKEN), ("0.3", "nightly")])
def test_a_program_is_asked_by_a_task_that_waits_for_its_answer(
    asking: AgentServer, settings: dict[str, str], version: str, token: str
) -> None:
    hub = Hub(route("alpha", asking.url), settings=settings)
    asked = _send(hub, version=version, token=token)
    task = asked.get("task", asked)
    assert task["status"]["state"] in ("TASK_STATE_INPUT_REQUIRED", "input-required")
    assert task["status"]["message"]["parts"][0]["text"] == "Which colour?"
    answered = _send(hub, "red", version=version, token=token, taskId=task["id"], contextId=task["contextId"])
    done = answered.get("task", answered)
    assert (done["id"], done["contextId"]) == (task["id"], task["contextId"])
    assert done["status"]["state"] in ("TASK_STATE_COMPLETED", "completed")


def test_a_known_user_interface_reads_text_in_every_version(settings: dict[str, str]) -> None:
    hub = Hub(route("alpha", "http://127.0.0.1:9"), settings=settings)
    for version in ("0.3", "1.0"):
        answer = _send(hub, version=version, token="portal")
        assert "cannot be reached" in text_of(answer.get("message", answer))


def test_the_contract_of_an_oauth_client_is_a_setting() -> None:
    config = read(_environment(GOOGLE_TOKEN_AUDIENCES=_GOOGLE, CALLER_CONTRACTS=f"{_GOOGLE}=program"))
    assert config.identity.contracts == {_GOOGLE: PROGRAM}


@pytest.mark.parametrize("value", ["nobody=program", f"{_GOOGLE}=robot", _GOOGLE, "anonymous=program"])
def test_a_contract_that_fits_no_caller_stops_the_start(value: str) -> None:
    with pytest.raises(SystemExit, match="CALLER_CONTRACTS"):
        read(_environment(GOOGLE_TOKEN_AUDIENCES=_GOOGLE, CALLER_CONTRACTS=value))


def test_the_former_switch_makes_programs_of_all_and_warns(capsys: pytest.CaptureFixture[str]) -> None:
    dead = route("alpha", "http://127.0.0.1:9")
    assert _send(Hub(dead, settings={"UI_CONTRACT": "off"}), version="0.3")["status"]["state"] == "failed"
    assert "CALLER_CONTRACTS" in capsys.readouterr().err
    assert _send(Hub(dead), version="0.3")["kind"] == "message"


def _environment(**more: str) -> Mapping[str, str]:
    return {"HUB_DEV_TOKEN": TOKEN, "IAM_CREDENTIALS": "none"} | more


def _send(hub: Hub, text: str = "hello", *, version: str = "1.0", token: str = TOKEN, **members: str) -> Any:
    message: dict[str, Any] = {"messageId": f"m-{next(_ids)}", **members}
    if version == "1.0":
        return _call(hub, "SendMessage", {"message": message | {"role": "ROLE_USER", "parts": [{"text": text}]}}, token)
    message |= {"kind": "message", "role": "user", "parts": [{"kind": "text", "text": text}]}
    return _call(hub, "message/send", {"message": message}, token)


def _call(hub: Hub, method: str, params: Any, token: str = TOKEN) -> Any:
    _, answer = hub.post("/", {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, token=token)
    assert "result" in answer, json.dumps(answer)
    return answer["result"]
