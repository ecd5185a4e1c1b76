"""The local Vertex AI for tests, a client of it, and what an agent that uses it says."""

import contextlib
import threading
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
from local.cloud.program import Server, recorded
from local.cloud.vertex_ai import VertexAi
from tests.fakes.local_cloud import call as control
from tests.fakes.local_cloud import inject
from tests.unit.agent_answers import Answer

PROJECT, MODEL = "my-hub-project", "gemini-2.5-flash"
ACCOUNT = f"general@{PROJECT}.iam.gserviceaccount.com"
TOKEN = "ya29.general"


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

    def change(self, **changes: Any) -> Any:
        """Changes the project as gcloud does."""
        return control(f"{self.url}/__project", "POST", changes)

    def received(self) -> list[dict[str, Any]]:
        """The requests that came in."""
        received: list[dict[str, Any]] = control(f"{self.url}/__received")
        return received


@contextlib.contextmanager
def vertex(*issuers: str) -> Iterator[Vertex]:
    """A Vertex AI that `ACCOUNT` may use, by `TOKEN` or with a token from one of `issuers`."""
    ended = threading.Event()
    service = VertexAi(
        project=PROJECT,
        models=[MODEL],
        users=[ACCOUNT],
        issuers=issuers,
        tokens_of={TOKEN: ACCOUNT, "ya29.stranger": f"stranger@{PROJECT}.iam.gserviceaccount.com"},
        sleep=ended.wait,
    )
    with Server(recorded(service.handle)) as server:
        yield Vertex(server.url)
        ended.set()


def gemini(url: str, *, token: str = TOKEN, first_wait_seconds: float = 0.01, **settings: Any) -> Gemini:
    """A client that asks at `url`."""
    known: dict[str, Any] = {
        "variable": "GENERAL_MODEL",
        "project": PROJECT,
        "location": "asia-northeast1",
        "model": MODEL,
        "endpoint": url,
        "timeout_seconds": 20.0,
        "idle_seconds": 10.0,
        "max_output_tokens": 500,
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


def said(answer: Answer, question: str) -> AgentReply:
    """Everything that the agent says to a question."""
    call = new_call()
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
