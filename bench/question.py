"""The question for every contestant, in either protocol version, and the text of a right answer."""

from collections.abc import Mapping
from dataclasses import dataclass

TOKEN = "bench"
ANSWER = b"hello world"


@dataclass(frozen=True, slots=True)
class Question:
    """A JSON-RPC request; `head` and `tail` are the body around the number that makes its messageId."""

    headers: Mapping[str, str]
    head: str
    tail: str

    def body(self, number: int | str) -> bytes:
        """Return the body of one request."""
        return f"{self.head}{number}{self.tail}".encode()


def _question(body: str, **headers: str) -> Question:
    head, tail = body.split("#")
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Question({"content-type": "application/json", "authorization": f"Bearer {TOKEN}"} | named, head, tail)


# As Gemini Enterprise sends it: 0.3, and no output modes.
SEND_0_3 = _question(
    '{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","role":"user",'
    '"messageId":"m-#","parts":[{"kind":"text","text":"What is the height of Mount Fuji?"}]},'
    '"configuration":{"acceptedOutputModes":[]}}}'
)
STREAM_0_3 = _question(
    '{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"message":{"kind":"message","role":"user",'
    '"messageId":"m-#","parts":[{"kind":"text","text":"What is the height of Mount Fuji?"}]},'
    '"configuration":{"acceptedOutputModes":[]}}}',
    accept="text/event-stream",
)
SEND_1_0 = _question(
    '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"role":"ROLE_USER","messageId":"m-#",'
    '"parts":[{"text":"What is the height of Mount Fuji?"}]},"configuration":{"acceptedOutputModes":[]}}}',
    a2a_version="1.0",
)
