"""What an agent's JSON is taken for, where the agent cut a text in the middle of a character."""

import json

import pytest

from a2a_hub.a2a.client import decode_json
from a2a_hub.a2a.client_errors import ClientError


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r"\ud83c", "\ufffd"),
        (r"\udf63 すし", "\ufffd すし"),
        (r"すし \uD83C", "すし \ufffd"),
        (r"\ud83c\ud83c\udf63\udf63", "\ufffd🍣\ufffd"),
        (r"\ud83cx\udf63", "\ufffdx\ufffd"),
        (r"\ud83c \\ud83c", "\ufffd \\ud83c"),
        (r"\\\ud83c\n\"", '\\\ufffd\n"'),
    ],
)
def test_half_a_character_is_a_replacement_character_and_the_rest_is_as_it_was(written: str, read: str) -> None:
    assert decode_json(f'{{"text":"{written}"}}'.encode()) == {"text": read}


@pytest.mark.parametrize("text", ["🍣", r"\ud83c", "\\", "𠮷\u0000"])
def test_whole_characters_are_as_they_were(text: str) -> None:
    assert decode_json(json.dumps({"text": text}).encode()) == {"text": text}


@pytest.mark.parametrize("broken", [rb'"\ud83c', rb'"\ud8', rb'"\ud83c\u"', rb'{"a":"\udf63",}', b"\\", b""])
def test_what_is_otherwise_broken_stays_broken(broken: bytes) -> None:
    with pytest.raises(ClientError):
        decode_json(broken)
