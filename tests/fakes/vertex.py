"""The local Vertex AI for tests, a client of it, and what an agent that uses it says."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from google.oauth2.credentials import Credentials

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.model import Binding, Message, Part, Role, SendMessageRequest, Version
from a2a_hub.a2a.reply import Data, Failure, Piece, Progress, Question, Text
from a2a_hub.gemini.client import Gemini
from a2a_hub.gemini.settings import GeminiSettings
from a2a_hub.http.client import HttpClient
from a2a_hub.http.messages import Cancellation
from local.cloud.accounts import Accounts
from local.cloud.policies import MODEL_USER
from local.cloud.program import Server, recorded
from local.cloud.vertex_ai import VertexAi
from tests.fakes.local_cloud import call as control
from tests.fakes.local_cloud import inject
from tests.unit.agent_answers import Answer

PROJECT, MODEL = "my-hub-project", "gemini-2.5-flash"
ACCOUNT = f"general@{PROJECT}.iam.gserviceaccount.com"
TOKEN = "ya29.general"
OWNER, OWNERS_TOKEN = "owner@example.com", "ya29.owner"
_TOKENS = {TOKEN: ACCOUNT, "ya29.stranger": f"stranger@{PROJECT}.iam.gserviceaccount.com", OWNERS_TOKEN: OWNER}


@dataclass(frozen=True)
class Vertex:
    """A Vertex AI at `url`."""

    url: str

    def inject(self, fault: str, **parameters: Any) -> None:
        """Switches a fault on."""
        inject(self.url, fault, **parameters)

    def faults(self) -> dict[str, Any]:
        """The faults that are on."""
        on: dict[str, Any] = control(f"{self.url}/__faults")["on"]
        return on

    def grant(self, email: str) -> None:
        """Gives the model's role to a service account, as gcloud does."""
        project, owner = f"{self.url}/v1/projects/{PROJECT}", {"authorization": f"Bearer {OWNERS_TOKEN}"}
        policy = control(f"{project}:getIamPolicy", "POST", {}, owner)
        policy["bindings"].append({"role": MODEL_USER, "members": [f"serviceAccount:{email}"]})
        control(f"{project}:setIamPolicy", "POST", {"policy": policy}, owner)

    def received(self) -> list[dict[str, Any]]:
        """The requests that came in."""
        received: list[dict[str, Any]] = control(f"{self.url}/__received")
        return received


@contextlib.contextmanager
def vertex(accounts: Accounts | None = None) -> Iterator[Vertex]:
    """A Vertex AI that `ACCOUNT` may use, by `TOKEN` or with a token that `accounts` know."""
    accounts = accounts or Accounts(_TOKENS, operators=[OWNER])
    service = VertexAi(project=PROJECT, model=MODEL, users=[ACCOUNT], accounts=accounts)
    with Server(recorded(service.handle)) as server:
        yield Vertex(server.url)
        service.faults.switch_off("stall")


def gemini(url: str, *, token: str = TOKEN, first_wait_seconds: float = 0.01, **settings: Any) -> Gemini:
    """A client that asks at `url`."""
    known: dict[str, Any] = {
        "variable": "ANSWER_MODEL",
        "project": PROJECT,
        "location": "asia-northeast1",
        "model": MODEL,
        "endpoint": url,
        "timeout_seconds": 20.0,
        "idle_seconds": 10.0,
        "max_output_tokens": 500,
        "calls_per_day": 0,
    }
    return Gemini(
        GeminiSettings(**(known | settings)),
        http=HttpClient(),
        credentials=lambda: Credentials(token),  # type: ignore[no-untyped-call]
        first_wait_seconds=first_wait_seconds,
    )


@dataclass
class AgentReply:
    """What an agent said, by kind; `record` is for the log."""

    text: str = ""
    stretches: list[str] = field(default_factory=list)
    progress: list[str] = field(default_factory=list)
    failure: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    record: dict[str, Any] = field(default_factory=dict)


def new_call(cancellation: Cancellation | None = None) -> Call:
    """A call of a client that takes JSON."""
    return Call(
        request_id="r",
        principal=None,
        version=Version.V1_0,
        binding=Binding.JSONRPC,
        streaming=True,
        accepted_modes=("text/plain", "application/json"),
        cancellation=cancellation or Cancellation(),
    )


def request(question: str) -> SendMessageRequest:
    """A request that asks this."""
    return SendMessageRequest(message=Message(message_id="m", role=Role.USER, parts=(Part(text=question),)))


def said(answer: Answer, question: str, cancellation: Cancellation | None = None) -> AgentReply:
    """Everything that the agent says to a question."""
    call = new_call(cancellation)
    return collected(answer(request(question), call), call)


def collected(pieces: Iterator[Piece], call: Call) -> AgentReply:
    """The pieces by kind."""
    heard = AgentReply(record=call.record)
    for piece in pieces:
        match piece:
            case Text(text) | Question(text):
                heard.stretches.append(text)
                heard.text += text
            case Progress(text):
                heard.progress.append(text)
            case Failure(text):
                heard.failure += text
            case Data(value):
                heard.data = value
    return heard
