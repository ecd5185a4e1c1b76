"""In which media type an answer over HTTP+JSON comes (A2A 1.0.1 §11.1, 0.3.0 §3.2.3)."""

import pytest

from a2a_hub.a2a.model import Version
from tests.contract.a2a.served import Way, answer_of, served


def test_0_3_has_one_media_type_whatever_the_client_takes() -> None:
    way, other = Way(Version.V0_3, rest=True), "application/a2a+json"
    for params in (way.params(), {}):
        sent = served().send("POST", way.path, params, accept=other, content_type=other)
        assert sent.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("accept", "content_type", "expected"),
    [
        ("application/a2a+json", "application/json", "application/a2a+json"),
        ("application/json", "application/json", "application/json"),
        ("*/*", "application/a2a+json", "application/a2a+json"),
        ("", "application/json", "application/json"),
    ],
)
def test_the_media_type_of_a_rest_answer_follows_what_the_client_takes(
    accept: str, content_type: str, expected: str
) -> None:
    way = Way(Version.V1_0, rest=True)
    for params in (way.params(), {}):
        sent = served().send("POST", way.path, params, accept=accept, content_type=content_type)
        assert sent.headers["content-type"] == expected
        assert answer_of(sent)
